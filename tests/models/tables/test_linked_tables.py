"""Hierarchies, tables that share a margin, and earlier tables, against programmes over the finest cells."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from reid_sql.models.tables import suppression
from reid_sql.models.tables.suppression import PRIMARY, PUBLISHED, UNPROTECTED, suppress_cells
from tests.cells import each_cell

Array = np.ndarray[Any, Any]
Layouts = Sequence[tuple[bool, ...]]  # the columns that each set of cells shows
WIDTH = 5
TOWNS: Layouts = [(a, a and b, c) for a, b, c in product((True, False), repeat=3)]
STREETS: Layouts = [
    (level > 0, level > 1, level > 2, sex) for level in range(4) for sex in (True, False)
]
SHARED: Layouts = [(True, True, False), (False, True, True)]
WITH_TOTALS: Layouts = [*SHARED, (True, False, False), (False, True, False), (False, False, False)]
STAR: Layouts = [(True, True, False, False), (True, False, True, False), (True, False, False, True)]


def draw_atoms(seed: int, width: int, *, nested: int = 0) -> tuple[Array, Array]:
    """Every combination of categories, and its people; the first columns are levels if `nested`."""
    rng = np.random.default_rng(seed)
    atoms = np.array(list(product((1, 2, 3), *[(1, 2)] * (width - 1))))
    for level in range(1, nested):  # a category has one category of the level above
        atoms[:, level] += 2 * (atoms[:, level - 1] - 1)
    return atoms, rng.poisson(
        (7 if nested else 3) if width < 4 else (4 if nested else 2), len(atoms)
    )


def count(atoms: Array, people: Array, layouts: Layouts) -> tuple[Array, Array]:
    """The codes and counts of all cells that have somebody."""
    codes, counts = [], []
    for layout in dict.fromkeys(layouts):
        shown = atoms * np.array(layout)
        for code in np.unique(shown, axis=0):
            codes.append(code)
            counts.append(people[(shown == code).all(axis=1)].sum())
    is_listed = np.array(counts) > 0
    return np.array(codes)[is_listed], np.array(counts)[is_listed]


def width_of(atoms: Array, people: Array, layouts: Layouts, hidden: Array, cell: int) -> float:
    """How far apart two whole tables of people that fit all cells may be at one."""
    codes, counts = count(atoms, people, layouts)
    sums = ((codes[:, None, :] == atoms) | (codes[:, None, :] == 0)).all(axis=2).astype(float)
    low, high = np.where(hidden, 1.0, counts), np.where(hidden, counts.sum() + 100.0, counts)
    is_nobody = [
        not all((codes == atom * np.array(layout)).all(axis=1).any() for layout in layouts)
        for atom in atoms
    ]
    bounds = (0, np.where(is_nobody, 0.0, np.inf))
    ends = [
        milp(
            sign * sums[cell],
            constraints=LinearConstraint(sums, low, high),
            integrality=1,
            bounds=bounds,
        )
        for sign in (1, -1)
    ]
    return float(np.round(-ends[1].fun - ends[0].fun))


CASES: dict[str, tuple[Layouts, int, int, Sequence[Sequence[int]]]] = {
    "towns": (TOWNS, 3, 2, [(0, 1)]),
    "streets": (STREETS, 4, 3, [(0, 1, 2)]),
    "two tables": (SHARED, 3, 0, []),
    "two tables with totals": (WITH_TOTALS, 3, 0, []),
    "three tables of one margin": (STAR, 4, 0, []),
}


@each_cell("has_programmes", [True, False])
@each_cell("case", CASES)
def test_each_unsafe_cell_is_protected(
    case: str, monkeypatch: pytest.MonkeyPatch, *, has_programmes: bool
) -> None:
    if not has_programmes:
        monkeypatch.setattr(suppression, "MAX_WORK", -1)
    layouts, width, nested, hierarchies = CASES[case]
    unsafe = 0
    for seed in range(3):
        atoms, people = draw_atoms(seed, width, nested=nested)
        codes, counts = count(atoms, people, layouts)
        is_primary = counts < WIDTH
        found = suppress_cells(codes, counts, is_primary, WIDTH, hierarchies=hierarchies)
        assert (found.statuses[is_primary] == PRIMARY).all()
        hidden = found.statuses != PUBLISHED
        for cell in np.flatnonzero(is_primary):
            unsafe += 1
            assert width_of(atoms, people, layouts, hidden, int(cell)) >= WIDTH
    assert unsafe


@pytest.mark.parametrize("seed", range(6))
def test_what_was_published_before_is_known(seed: int) -> None:
    """Hidden cells stay hidden, shown ones known; who follows from them is said to be unprotected."""
    rng = np.random.default_rng(seed)
    atoms, people = draw_atoms(seed, 3)
    codes, counts = count(atoms, people, WITH_TOTALS)
    before = np.where((codes > 0).sum(axis=1) < 2, rng.choice(3, len(codes), p=[0.4, 0.4, 0.2]), 0)
    is_primary = counts < 8
    found = suppress_cells(codes, counts, is_primary, WIDTH, before=before)
    hidden = (found.statuses != PUBLISHED) & (before != 1)
    assert hidden[before == 2].all()
    assert (found.statuses[(before == 1) & ~is_primary] == PUBLISHED).all()
    assert (found.statuses[(before == 1) & is_primary] == UNPROTECTED).all()
    for cell in np.flatnonzero(is_primary & (before != 1)):
        every = before != 1  # hiding all that can be hidden
        is_wide = width_of(atoms, people, WITH_TOTALS, every, int(cell)) >= WIDTH
        assert (found.statuses[cell] == UNPROTECTED) == (not is_wide)
        if is_wide:
            assert width_of(atoms, people, WITH_TOTALS, hidden, int(cell)) >= WIDTH
