"""Few nodes for many sizes, against the sums over all sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, psi, zeta

from reid_sql.models.numerics.class_quadrature import class_quadrature
from tests.histograms import huge


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
