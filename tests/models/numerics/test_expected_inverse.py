"""Means of 1/F against hypergeometric functions in many digits, and against plain sums."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from reid_sql.models.numerics.expected_inverse import negative_binomial, poisson


@pytest.mark.parametrize("seen", [1, 2, 3, 17, 400, 10**8])
def test_poisson_is_kummers_function(seen: int) -> None:
    for mean in (0.0, 1e-9, 0.1, 1.0, 39.0, 1e4):
        with mpmath.workdps(30):
            exact = float(mpmath.hyp1f1(1, seen + 1, -mpmath.mpf(mean)) / seen)
        assert poisson(seen, mean) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("seen", [1, 2, 3, 17, 400])
def test_negative_binomial_is_gauss_function(seen: int) -> None:
    for more in (0.0, 1e-6, 0.3, 1.0, 40.0):
        for chance in (1e-4, 0.01, 0.5, 0.9, 1 - 1e-9, 1.0):
            with mpmath.workdps(30):
                p = mpmath.mpf(chance)
                exact = float(p / seen * mpmath.hyp2f1(1, 1 - mpmath.mpf(more), seen + 1, 1 - p))
            assert negative_binomial(seen, seen + more, chance) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("seen", "shape", "chance"), [(1, 1.0, 0.3), (3, 3.0, 0.2), (2, 2.7, 0.6)])
def test_both_are_sums_over_the_people_there_may_be(seen: int, shape: float, chance: float) -> None:
    others = np.arange(3_000)
    by_sum = float((stats.nbinom.pmf(others, shape, chance) / (seen + others)).sum())
    assert negative_binomial(seen, shape, chance) == pytest.approx(by_sum, rel=1e-9)
    assert poisson(seen, shape) == pytest.approx(
        float((stats.poisson.pmf(others, shape) / (seen + others)).sum()), rel=1e-9
    )


def test_many_classes_are_taken_in_parts() -> None:
    means = np.linspace(0, 5, 140_001)
    assert poisson(1, means)[[0, 70_000, 140_000]].tolist() == pytest.approx(
        [float(poisson(1, m)) for m in means[::70_000]]
    )
