import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import NoRecordsError
from reid_sql.models.copula.calibration import (
    ScoredClasses,
    calibrate,
    correct_scores,
    temper_cells,
)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.05, 0.95)), min_size=1, max_size=8),
    st.floats(0.05, 0.95),
)
def test_the_mean_of_what_is_corrected_is_the_uniqueness(
    classes: list[tuple[int, float]], uniqueness: float
) -> None:
    sizes, xi = (np.array(part) for part in zip(*classes, strict=True))
    found = correct_scores(ScoredClasses(sizes, xi), uniqueness)
    assert found.status == "ok"
    assert np.average(xi**found.exponent, weights=sizes) == pytest.approx(uniqueness, abs=1e-9)


def test_what_no_exponent_gives_is_left_as_it_is() -> None:
    found = correct_scores(ScoredClasses(np.array([2, 1]), np.array([0.0, 0.0])), 0.5)
    assert (found.exponent, found.mean_xi, found.status[:11]) == (1, 0, "no exponent")
    with pytest.raises(NoRecordsError, match="got 0"):
        correct_scores(ScoredClasses(np.array([], dtype=np.int64), np.array([])), 0.5)


@given(st.floats(0.3, 3), st.integers(0, 2**31))
def test_the_factor_is_what_cells_were_drawn_with(true: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(2000, 0.5))
    drawn = rng.choice(2000, 3000, p=shares)
    alone = int((np.bincount(drawn) == 1).sum())
    cells = shares[rng.choice(2000, 20_000, p=shares)] / true
    assert calibrate(cells, 3000, alone).factor == pytest.approx(true, rel=0.25)


def test_a_sample_without_repetition_says_nothing() -> None:
    assert calibrate(np.full(10, 1e-3), records=100, alone=100).factor == 1
    assert 0 < calibrate(np.full(10, 1e-3), records=100, alone=0).factor < np.inf


def test_where_hardly_any_record_is_alone_the_sample_says_nothing_of_the_factor() -> None:
    frequent = np.full(1000, 0.1)
    assert calibrate(frequent, records=30_000, alone=0).factor == 1
    assert calibrate(frequent, records=30_000, alone=2).factor < 3


@given(st.floats(0.05, 20), st.integers(100, 10**6))
def test_frequent_cells_keep_their_probability_and_rare_ones_take_the_factor(
    a: float, records: int
) -> None:
    cells = np.array([1e-3, 1.0, 4e3]) / records
    moved = temper_cells(cells, a, records) / cells
    assert moved[0] == pytest.approx(a, rel=1e-6)
    assert moved[1] == pytest.approx(a, rel=0.01)
    assert moved[2] == pytest.approx(1, abs=1e-3)


def test_the_status_says_where_the_factor_met_its_bound_and_where_cells_exceed_one() -> None:
    rare = np.full(1000, 1e-9)
    assert calibrate(rare, records=10_000, alone=9_000).status.startswith(
        "calibration_at_bound: records still repeat more often than in the model, at a factor of e^+4"
    )
    common = np.full(1000, 1e-2)
    assert calibrate(common, records=10_000, alone=9_000).status.startswith(
        "calibration_at_bound: records still repeat less often than in the model, at a factor of e^-4"
    )
    shares = np.full(1000, 1e-4)
    found = calibrate(shares, records=1001, alone=820)
    assert found.status == (
        "sum_not_one: cell probabilities of all combinations would add up to about 1.9, not 1"
    )
    assert calibrate(shares, records=1001, alone=905).status == "ok"
