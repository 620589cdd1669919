import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, psi, zeta

from reid_sql.models.numerics.quadrature import (
    class_quadrature,
    expected_inverse_negative_binomial,
    expected_inverse_poisson,
)
from tests.histograms import huge

# Few nodes for many sizes, against the sums over all sizes.


@pytest.mark.parametrize("shift", [-0.999, -0.5, 0.0, 3.0, 1e4])
def test_sums_over_a_huge_histogram_are_those_of_its_nodes(shift: float) -> None:
    whole = huge()
    nodes, weights = class_quadrature(whole.class_size, whole.classes)
    assert len(nodes) < 250
    assert whole.records.sum() > 9e8
    at, exactly = nodes + shift, whole.class_size + shift
    for few, all_sizes in (
        (gammaln(at), gammaln(exactly)),
        (psi(at), psi(exactly)),
        (zeta(2.0, at), zeta(2.0, exactly)),
    ):
        assert weights @ few == pytest.approx(whole.classes @ all_sizes, rel=1e-11)


@given(st.dictionaries(st.integers(1, 10**8), st.integers(1, 10**6), max_size=300))
def test_any_histogram_keeps_its_classes_and_records(classes: dict[int, int]) -> None:
    sizes = np.array(sorted(classes), dtype=np.int64)
    counts = np.array([classes[size] for size in sizes.tolist()], dtype=np.int64)
    nodes, weights = class_quadrature(sizes, counts)
    assert weights.sum() == pytest.approx(counts.sum(), rel=1e-12)
    assert weights @ nodes == pytest.approx(float(sizes.astype(float) @ counts), rel=1e-12)
    assert (weights > 0).all()
    small = sizes <= 32
    assert nodes[: small.sum()].tolist() == sizes[small].tolist()


# Means of 1/F against hypergeometric functions in many digits, and against plain sums.


@pytest.mark.parametrize("seen", [1, 2, 3, 17, 400, 10**8])
def test_poisson_is_kummers_function(seen: int) -> None:
    for mean in (0.0, 1e-9, 0.1, 1.0, 39.0, 1e4):
        with mpmath.workdps(30):
            exact = float(mpmath.hyp1f1(1, seen + 1, -mpmath.mpf(mean)) / seen)
        assert expected_inverse_poisson(seen, mean) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("seen", [1, 2, 3, 17, 400])
def test_negative_binomial_is_gauss_function(seen: int) -> None:
    for more in (0.0, 1e-6, 0.3, 1.0, 40.0):
        for chance in (1e-4, 0.01, 0.5, 0.9, 1 - 1e-9, 1.0):
            with mpmath.workdps(30):
                p = mpmath.mpf(chance)
                exact = float(p / seen * mpmath.hyp2f1(1, 1 - mpmath.mpf(more), seen + 1, 1 - p))
            assert expected_inverse_negative_binomial(seen, seen + more, chance) == pytest.approx(
                exact, rel=1e-11
            )


@pytest.mark.parametrize(("seen", "shape", "chance"), [(1, 1.0, 0.3), (3, 3.0, 0.2), (2, 2.7, 0.6)])
def test_both_are_sums_over_the_people_there_may_be(seen: int, shape: float, chance: float) -> None:
    others = np.arange(3_000)
    by_sum = float((stats.nbinom.pmf(others, shape, chance) / (seen + others)).sum())
    assert expected_inverse_negative_binomial(seen, shape, chance) == pytest.approx(
        by_sum, rel=1e-9
    )
    assert expected_inverse_poisson(seen, shape) == pytest.approx(
        float((stats.poisson.pmf(others, shape) / (seen + others)).sum()), rel=1e-9
    )


def test_many_classes_are_taken_in_parts() -> None:
    means = np.linspace(0, 5, 140_001)
    assert expected_inverse_poisson(1, means)[[0, 70_000, 140_000]].tolist() == pytest.approx(
        [float(expected_inverse_poisson(1, m)) for m in means[::70_000]]
    )
