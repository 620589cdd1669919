"""The equations of published cells: each total is the sum of its parts, within a table and between tables.

A layout is a set of columns whose categories are shown while all others are totalled. The parts of a cell of
one layout are the cells of a finer one. Two tables that share some columns have their common totals in both,
shown or not: layouts are closed under intersection, and totals that no table shows are variables. If the
parts that are listed cannot add up to a total, some categories are not listed, and the rest is a variable
too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

import numpy as np

from reid_sql.models.tables.equations import REFUSAL_CONTRADICTION, ContradictionError, Equations
from reid_sql.models.tables.published_tables import Cells, Key

Layout = frozenset[int]


@dataclass(frozen=True)
class Rest:
    """What a total counts besides the parts that are listed by the columns `over`."""

    total: Key
    over: Layout


@dataclass
class LinkedCells:
    """Equations between cells, with the variable of each hidden cell, and the published terms of each."""

    cells: Cells
    columns: list[str]
    numbers: dict[Key | Rest, int] = field(default_factory=dict)  # the variable of each cell that is hidden
    bounds: list[tuple[float, float]] = field(default_factory=list)
    terms: list[tuple[int, int, int]] = field(default_factory=list)  # equation, variable, sign
    constants: list[list[tuple[Key, int]]] = field(default_factory=list)  # the published terms of each

    def is_published(self, key: Key) -> bool:
        """Whether one of the tables shows the count of a cell."""
        return key in self.cells and self.cells[key].value is not None

    def number(self, cell: Key | Rest, low: float = 0.0, high: float = inf) -> int:
        """The variable of a cell, a new one where it has none yet."""
        if cell not in self.numbers:
            self.numbers[cell] = len(self.bounds)
            self.bounds.append((low, high))
        return self.numbers[cell]

    def equations(self) -> Equations:
        """All equations as arrays."""
        rows, columns, signs = np.array(self.terms, dtype=np.int64).reshape(-1, 3).T
        right = [-sum(sign * self.cells[key].bounds[0] for key, sign in each) for each in self.constants]
        low, high = np.array(self.bounds, dtype=float).reshape(-1, 2).T.copy()
        return Equations(rows, columns, signs, np.array(right, dtype=float), low, high)


def link_cells(cells: Cells, columns: list[str], *, with_labels: bool = False) -> LinkedCells:
    """Write the equations between the cells; keys have the categories of the columns, then the steps.

    A column with one category may be a label of the people of its table. It is taken for all of its
    categories, which tells an attacker more, unless that contradicts a total, or `with_labels`.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> shown, hidden = Cell(1.0, inf, 7.0, [1]), Cell(1.0, inf, None, [], [1])
    >>> linked = link_cells({(None,): shown, ("F",): hidden, ("M",): Cell(1.0, inf, 3.0, [1])}, ["sex"])
    >>> linked.equations().right.tolist()
    [-4.0]
    """
    linked = LinkedCells(cells, columns)
    layouts: dict[Layout, set[Key]] = {}
    for key, cell in cells.items():
        layouts.setdefault(_layout_of(key), set()).add(key)
        if cell.value is None:
            linked.number(key, *cell.bounds)
    _close(layouts)
    pairs = [(coarse, fine) for coarse in layouts for fine in _covers(coarse, layouts)]
    parts = {pair: _parts_of(layouts, *pair) for pair in pairs}
    short = {pair for pair in pairs if _is_short(linked, parts[pair])}
    labels = _labels(cells)
    is_label = with_labels or any(labels & (fine - coarse) for coarse, fine in short)
    partial = (labels if is_label else set()) | set(range(len(columns), max(map(len, cells), default=0)))
    for coarse, fine in pairs:
        is_partial = (coarse, fine) in short or bool(partial & (fine - coarse))
        for total, listed in parts[coarse, fine].items():
            rest = [Rest(total, fine - coarse)] if is_partial else []
            _add_equation(linked, total, [*listed, *rest])
    return linked


def _labels(cells: Cells) -> set[int]:
    """The columns that may be labels: of one category in all tables, without a total where they have it.

    Such a column may say of which people a table is, as in a table of women next to one of everybody.
    """
    found: dict[int, dict[int, set[str | None]]] = {}
    for key, cell in cells.items():
        for number in (*cell.published, *cell.suppressed):
            for place, category in enumerate(key):
                found.setdefault(place, {}).setdefault(number, set()).add(category)
    named = {place: [each for each in of.values() if each != {None}] for place, of in found.items()}
    return {
        place
        for place, of in named.items()
        if 0 < len(of) < len(found[place]) and all(each == of[0] for each in of) and len(of[0]) == 1
    }


def _layout_of(key: Key) -> Layout:
    return frozenset(place for place, category in enumerate(key) if category is not None)


def _project(key: Key, layout: Layout) -> Key:
    return tuple(category if place in layout else None for place, category in enumerate(key))


def _close(layouts: dict[Layout, set[Key]]) -> None:
    """Add the intersections of layouts, and to each layout the totals of all cells of finer ones."""
    shown = list(layouts)
    found = set(shown)
    for own in shown:
        found |= {own & other for other in list(found)}
    for layout in sorted(found, key=len, reverse=True):
        keys = layouts.setdefault(layout, set())
        for finer in shown:
            if layout < finer:
                keys |= {_project(key, layout) for key in layouts[finer]}


def _covers(coarse: Layout, layouts: Iterable[Layout]) -> list[Layout]:
    """The finer layouts between which and this one there is no other."""
    finer = [layout for layout in layouts if coarse < layout]
    return [layout for layout in finer if not any(other < layout for other in finer)]


def _parts_of(layouts: dict[Layout, set[Key]], coarse: Layout, fine: Layout) -> dict[Key, list[Key]]:
    """The parts of each total of one layout among the cells of a finer one."""
    parts: dict[Key, list[Key]] = {}
    for key in sorted(layouts[fine], key=repr):
        parts.setdefault(_project(key, coarse), []).append(key)
    return {total: parts[total] for total in sorted(layouts[coarse] & parts.keys(), key=repr)}


def _is_short(linked: LinkedCells, parts: dict[Key, list[Key]]) -> bool:
    """Whether some total is more than its parts can be; refuses one that is less."""
    bounds = [
        (_bounds_of(linked, total), [_bounds_of(linked, key) for key in parts[total]]) for total in parts
    ]
    if any(total[1] < sum(low for low, _ in each) for total, each in bounds):
        raise ContradictionError(REFUSAL_CONTRADICTION)
    return any(total[0] > sum(high for _, high in each) for total, each in bounds)


def _bounds_of(linked: LinkedCells, key: Key) -> tuple[float, float]:
    cell = linked.cells.get(key)
    return (0.0, inf) if cell is None else cell.bounds


def _add_equation(linked: LinkedCells, total: Key, parts: list[Key | Rest]) -> None:
    equation = len(linked.constants)
    constants: list[tuple[Key, int]] = []
    for each, sign in ((total, 1), *((part, -1) for part in parts)):
        if not isinstance(each, Rest) and linked.is_published(each):
            constants.append((each, sign))
        else:
            linked.terms.append((equation, linked.number(each), sign))
    linked.constants.append(constants)
