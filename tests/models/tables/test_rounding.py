"""Controlled rounding against every table of multiples near a small table, by enumeration."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from reid_sql.models.tables.rounding import round_cells

Cells = np.ndarray[Any, Any]


def with_totals(shape: tuple[int, ...]) -> tuple[Cells, Cells]:
    """The codes of all cells and totals, 0 for a total, and which finest cells each is the sum of."""
    codes = np.array(list(product(*(range(size + 1) for size in shape))))
    finest = codes[(codes > 0).all(axis=1)]
    members = ((codes[:, None, :] == 0) | (codes[:, None, :] == finest[None, :, :])).all(axis=2)
    return codes, members.astype(int)


def least_distance(counts: Cells, members: Cells, base: int, bases: int) -> float:
    """The least sum of distances of all tables of multiples nearer than so many bases; inf without one.

    Nearer than one base, a multiple stays.
    """
    finest = counts[(members.sum(axis=1) == 1).nonzero()[0]]
    choices = []
    for count in finest.tolist():
        near = [base * step for step in range(count // base + bases + 1)]
        choices.append([each for each in near if abs(each - count) < bases * base])
    tables = np.array(list(product(*choices))) @ members.T
    distance = np.abs(tables - counts)
    fits = (distance < bases * base).all(axis=1)
    if bases == 1:
        fits &= ((counts % base > 0) | (distance == 0)).all(axis=1)
    return float(distance[fits].sum(axis=1).min()) if fits.any() else np.inf


@pytest.mark.parametrize(("shape", "base"), [((2, 3), 5), ((3, 3), 3), ((4,), 10), ((2, 2, 2), 3)])
def test_small_tables_are_rounded_at_the_least_distance(shape: tuple[int, ...], base: int) -> None:
    codes, members = with_totals(shape)
    for seed in range(12):
        inner = np.random.default_rng(seed).integers(0, 12, np.prod(shape))
        counts = members @ inner
        rounded = round_cells(codes, counts, base)
        finest = rounded[(codes > 0).all(axis=1)]
        assert (rounded == members @ finest).all()
        assert (rounded % base == 0).all()
        one = least_distance(counts, members, base, 1)
        least = one if np.isfinite(one) else least_distance(counts, members, base, 2)
        assert np.abs(rounded - counts).sum() == least
        assert np.isfinite(one) == (np.abs(rounded - counts) < base).all()


def test_a_table_without_a_rounding_within_the_base_is_rounded_within_two() -> None:
    """Found among random cubes: no zero-restricted rounding exists, as enumeration confirms."""
    codes, members = with_totals((2, 2, 2))
    without = 0
    for seed in range(300):
        counts = members @ np.random.default_rng(seed).integers(0, 4, 8)
        if np.isfinite(least_distance(counts, members, 2, 1)):
            continue
        without += 1
        distance = np.abs(round_cells(codes, counts, 2) - counts)
        assert 2 <= distance.max() < 4
        assert distance.sum() == least_distance(counts, members, 2, 2)
        if without == 5:
            return
    pytest.fail("no table without a zero-restricted rounding was drawn")


def test_zeros_and_the_order_of_cells_are_of_no_effect() -> None:
    codes, members = with_totals((3, 4))
    counts = members @ np.random.default_rng(2).integers(0, 9, 12)
    order = np.random.default_rng(3).permutation(len(counts))
    rounded = round_cells(codes, counts, 5)
    assert (round_cells(codes[order], counts[order], 5) == rounded[order]).all()
    assert (rounded[counts == 0] == 0).all()
    assert round_cells(np.array([[1], [2]]), np.array([7, 3]), 5).tolist() == [5, 5]


def test_a_larger_table_of_four_columns_adds_up_and_few_totals_are_beyond_the_base() -> None:
    """No programme finds a table there: the finest cells are nearer than the base all the same."""
    rng = np.random.default_rng(7)
    people = np.stack([rng.integers(1, size + 1, 4000) for size in (8, 6, 5, 4)], axis=1)
    found: dict[tuple[int, ...], int] = {}
    for kept in product((0, 1), repeat=4):
        keys, sizes = np.unique(people * np.array(kept), axis=0, return_counts=True)
        found |= {tuple(key): size for key, size in zip(keys.tolist(), sizes.tolist(), strict=True)}
    codes, counts = np.array(list(found)), np.array(list(found.values()))
    rounded = dict(zip(found, round_cells(codes, counts, 5).tolist(), strict=True))
    is_fine = (codes > 0).all(axis=1)
    distance = np.abs(np.array(list(rounded.values())) - counts)
    assert distance[is_fine].max() < 5
    assert (distance >= 5).mean() < 0.05
    sums: dict[tuple[int, ...], int] = {}
    for key in codes[is_fine].tolist():
        for kept in product((0, 1), repeat=4):
            total = tuple(code * keeps for code, keeps in zip(key, kept, strict=True))
            sums[total] = sums.get(total, 0) + rounded[tuple(key)]
    assert sums == rounded
