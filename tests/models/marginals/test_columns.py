import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.marginals.column import Column, scale_step
from reid_sql.models.marginals.fit_column import (
    BANDWIDTHS,
    SMOOTHED_SHARES,
    fit_nominal,
    fit_ordered,
    spread_laplace,
)


def check(column: Column) -> None:
    assert column.mass.sum() == pytest.approx(1)
    assert (column.mass > 0).all()
    assert (column.multiplicity >= 1).all()
    assert len(column.mass) == len(column.seen) + len(column.unseen_places) + 1
    assert set(column.bins.tolist()) == set(range(len(column.bin_mass)))
    if column.kernel is not None:
        np.testing.assert_allclose(column.kernel.sum(axis=1), 1)


@given(
    st.lists(st.integers(-50, 10**7), min_size=1, max_size=60, unique=True),
    st.integers(8, 64),
    st.integers(0, 2**31),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_column_is_a_distribution(
    numbers: list[int],
    bins: int,
    seed: int,
    ordered: bool,  # noqa: FBT001
) -> None:
    values = [None, "old", *(str(number) for number in numbers)]
    counts = np.random.default_rng(seed).integers(1, 20, len(values)).astype(float)
    check((fit_ordered if ordered else fit_nominal)("x", values, counts, bins))


def test_good_turing_and_chao_by_hand() -> None:
    # s1 = 3, s2 = 1, n = 10: u = 0.3, Chao 3·2/(2·2) = 1.5 values
    counts = np.array([1.0, 1, 1, 2, 5])
    column = fit_nominal("x", list("abcde"), counts, 64)
    assert column.mass[-1] == pytest.approx(0.3)
    assert column.multiplicity[-1] == pytest.approx(0.3 / 0.05)  # 0.3/1.5 = 0.2, but at most 0.5/10
    np.testing.assert_allclose(column.mass[:-1], 0.7 * counts / 10)


def test_smoothing_is_the_best_of_all_left_out() -> None:
    rng = np.random.default_rng(3)
    records = np.clip(np.round(rng.normal(40, 8, 60)), 10, 80).astype(int)
    seen, counts = np.unique(records, return_counts=True)
    column = fit_ordered("age", [str(v) for v in seen], counts.astype(float), 256)
    lattice = np.arange(seen.min() - 1, seen.max() + 2)
    best = -np.inf
    for width in [b for b in BANDWIDTHS if b <= 12]:
        kernel = np.exp(-np.abs(lattice[:, None] - lattice) / width)
        kernel /= kernel.sum(axis=1, keepdims=True)
        for weight in SMOOTHED_SHARES:
            total = 0.0
            for place in range(len(records)):
                rest = np.delete(records, place) - lattice[0]
                plain = (rest == records[place] - lattice[0]).mean()
                smooth = kernel[rest, records[place] - lattice[0]].mean()
                total += np.log((1 - weight) * plain + weight * smooth + 1e-300)
            if total > best:
                best, chosen = total, (kernel, weight)
    kernel, weight = chosen
    plain = np.bincount(records - lattice[0], minlength=len(lattice)) / len(records)
    want = (1 - weight) * plain + weight * kernel[records - lattice[0]].mean(axis=0)
    got = np.zeros(len(lattice))
    got[seen - lattice[0]] = column.mass[: len(seen)]
    got[column.unseen_places.astype(int) - lattice[0]] = column.mass[len(seen) : -1]
    np.testing.assert_allclose(got, want * (1 - column.mass[-1]), rtol=1e-9)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=30), st.sampled_from(BANDWIDTHS))
def test_laplace_is_the_sum_over_distances(masses: list[float], width: float) -> None:
    at = np.arange(len(masses))
    want = np.exp(-np.abs(at[:, None] - at) / width) @ np.array(masses)
    np.testing.assert_allclose(spread_laplace(np.array(masses), width), want, rtol=1e-9, atol=1e-12)


def test_gaps_are_filled_and_other_spellings_known() -> None:
    column = fit_ordered("x", ["10", "20", "40", None, "50"], np.array([5.0, 4, 6, 2, 5]), 64)
    assert column.unseen_places.tolist() == [0.0, 30.0, 60.0]
    codes = column.codes(["20.0", "30", "70", None])  # 70 is one widest gap beyond the greatest
    assert codes.tolist() == [1, 6, 7, 3]
    assert column.codes(["-11", "71", "1000", "many"]).tolist() == [column.other_code + 1] * 4
    assert column.texts(np.array([1, 6, column.other_code])) == ["20", "30", None]


def test_thousands_of_values_are_smoothed() -> None:
    rng = np.random.default_rng(0)
    incomes = np.unique(np.round(np.exp(rng.normal(10, 1, 3000)), 2))
    column = fit_ordered("income", [repr(v) for v in incomes.tolist()], np.ones(len(incomes)), 256)
    check(column)
    # less than the plug-in share
    assert column.log_share[: len(incomes)].max() < np.log(1 / len(incomes))


def test_dates_have_an_order() -> None:
    days = [f"2020-01-{day:02d}" for day in range(1, 29) if day != 14]
    column = fit_ordered("day", days, np.full(27, 4.0), 64)
    assert "2020-01-14" in column.texts(np.arange(len(column.mass)))


@pytest.mark.parametrize(
    ("places", "want"), [([0, 2, 5], 1), ([0.25, 0.5, 1.5], 0.25), ([0, 1e300], 1e300)]
)
def test_step(places: list[float], want: float) -> None:
    assert scale_step(np.array(places, dtype=float)) == want


def test_left_out_shares_fall_with_the_record() -> None:
    column = fit_nominal("x", list("abc"), np.array([1.0, 5, 4]), 64)
    assert (column.left_out < column.mass[:3]).all()
    assert column.left_out[0] > 0
