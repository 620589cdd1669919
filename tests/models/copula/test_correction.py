import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import NoRecordsError
from reid_sql.models.copula.calibration import factor
from reid_sql.models.copula.correction import ScoredClasses, correct


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.05, 0.95)), min_size=1, max_size=8),
    st.floats(0.05, 0.95),
)
def test_the_mean_of_what_is_corrected_is_the_uniqueness(
    classes: list[tuple[int, float]], uniqueness: float
) -> None:
    sizes, xi = (np.array(part) for part in zip(*classes, strict=True))
    found = correct(ScoredClasses(sizes, xi), uniqueness)
    assert found.status == "ok"
    assert np.average(xi**found.exponent, weights=sizes) == pytest.approx(uniqueness, abs=1e-9)


def test_what_no_exponent_gives_is_left_as_it_is() -> None:
    found = correct(ScoredClasses(np.array([2, 1]), np.array([0.0, 0.0])), 0.5)
    assert (found.exponent, found.mean_xi, found.status[:11]) == (1, 0, "no exponent")
    with pytest.raises(NoRecordsError, match="got 0"):
        correct(ScoredClasses(np.array([], dtype=np.int64), np.array([])), 0.5)


@given(st.floats(0.3, 3), st.integers(0, 2**31))
def test_the_factor_is_what_cells_were_drawn_with(true: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(2000, 0.5))
    drawn = rng.choice(2000, 3000, p=shares)
    alone = int((np.bincount(drawn) == 1).sum())
    cells = shares[rng.choice(2000, 20_000, p=shares)] / true
    assert factor(cells, 3000, alone) == pytest.approx(true, rel=0.25)


def test_a_sample_without_repetition_says_nothing() -> None:
    assert factor(np.full(10, 1e-3), records=100, alone=100) == 1
    assert 0 < factor(np.full(10, 1e-3), records=100, alone=0) < np.inf
