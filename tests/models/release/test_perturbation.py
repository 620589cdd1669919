"""Microaggregation, PRAM and rank swapping by their definitions, step by step."""

from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.release.perturbation import (
    MAX_RECORDS,
    draw_anew,
    mdav_groups,
    microaggregate,
    swap_ranks,
)

Point = tuple[float, ...]


def squared(one: Point, other: Point) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def groups_by_definition(points: list[Point], k: int) -> list[set[int]]:
    """Algorithm 1 of Domingo-Ferrer & Torra 2005, with lists."""
    left, groups = list(range(len(points))), []

    def centroid() -> Point:
        return tuple(
            sum(points[at][axis] for at in left) / len(left) for axis in range(len(points[0]))
        )

    def take(anchor: int) -> None:
        nearest = sorted(left, key=lambda at: squared(points[at], points[anchor]))[:k]
        groups.append(set(nearest))
        for at in nearest:
            left.remove(at)

    while len(left) >= 3 * k:
        middle = centroid()
        first = max(left, key=lambda at: squared(points[at], middle))
        second = max(left, key=lambda at: squared(points[at], points[first]))
        take(first)
        take(second)
    if len(left) >= 2 * k:
        middle = centroid()
        take(max(left, key=lambda at: squared(points[at], middle)))
    groups.append(set(left))
    return groups


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(2, 5), st.integers(2, 60))
def test_groups_are_those_of_the_definition(seed: int, columns: int, k: int, records: int) -> None:
    values = np.random.default_rng(seed).normal(size=(max(records, k), columns))
    group = mdav_groups(values, k)
    found = [
        set(np.flatnonzero(group == number).tolist()) for number in range(int(group.max()) + 1)
    ]
    assert found == groups_by_definition([tuple(row) for row in values.tolist()], k)
    assert all(k <= len(members) <= 2 * k - 1 for members in found)


@given(
    st.integers(0, 10_000), st.integers(2, 5), st.lists(st.integers(0, 3), min_size=5, max_size=50)
)
def test_equal_values_make_groups_of_k_to_2k_less_1(seed: int, k: int, values: list[int]) -> None:
    group = mdav_groups(np.array(values, dtype=np.float64)[:, None], min(k, len(values)))
    sizes = np.bincount(group)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert seed >= 0


def test_each_record_shows_the_mean_of_its_group_and_missing_values_stay() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal([40, 1000], [10, 400], (90, 2))
    values[:20, 1] = np.nan
    values[20:22, 0] = np.nan
    released = microaggregate(values, 4)
    assert np.isnan(released[:20, 1]).all()
    assert np.isnan(released[20:22]).all()  # two records alone
    whole = released[22:]
    assert np.allclose(whole.mean(axis=0), values[22:].mean(axis=0))
    rows, counts = np.unique(whole, axis=0, return_counts=True)
    assert counts.min() >= 4
    for row in rows:
        members = (whole == row).all(axis=1)
        assert np.allclose(values[22:][members].mean(axis=0), row)
    assert np.unique(released[:20, 0], return_counts=True)[1].min() >= 4
    assert microaggregate(np.zeros((0, 2)), 3).shape == (0, 2)


def test_too_few_or_too_many_records_are_refused() -> None:
    with pytest.raises(OutOfDomainError, match="at least 3 records, the size of a group, got 2"):
        mdav_groups(np.zeros((2, 1)), 3)
    with pytest.raises(OutOfDomainError, match="at most 200,000 records"):
        mdav_groups(np.zeros((MAX_RECORDS + 1, 1)), 3)


def test_values_are_drawn_as_the_matrix_says() -> None:
    """Each cell of the table of values before and after is within five standard errors."""
    codes = np.repeat([0, 1, 2], [6000, 3000, 1000])
    shares, retained = np.array([0.6, 0.3, 0.1]), 0.7
    drawn = draw_anew(codes, retained, np.random.default_rng(7))
    expected = retained * np.eye(3) + (1 - retained) * shares
    for value, records in enumerate([6000, 3000, 1000]):
        found = np.bincount(drawn[codes == value], minlength=3) / records
        assert (abs(found - expected[value]) <= 5 * np.sqrt(expected[value] / records)).all()
    assert np.allclose(shares @ expected, shares)
    assert draw_anew(np.zeros(0, dtype=np.int64), 0.5, np.random.default_rng(1)).tolist() == []


@given(st.integers(1, 60), st.floats(0, 1), st.integers(0, 1000))
def test_values_change_places_within_the_share_of_ranks(
    records: int, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ranks = rng.permutation(records)
    source = swap_ranks(ranks, share, rng)
    assert sorted(source.tolist()) == list(range(records))
    assert (source[source] == np.arange(records)).all()
    assert (abs(ranks[source] - ranks) <= floor(share * records + 1e-9)).all()
    alone = np.sort(ranks[source == np.arange(records)])
    width = floor(share * records + 1e-9)
    assert (np.diff(alone) > width).all() or width == 0  # who stays had nobody left to swap with
