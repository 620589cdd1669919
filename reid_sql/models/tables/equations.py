"""Equations between the cells of published tables: where they come from, and the bounds that each gives.

Every equation is a total less its parts: its coefficients are 1 and -1. A published cell is a constant, a
cell that is not published is a variable, a whole number between two bounds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.interruption import checkpoint
from reid_sql.models.tables.published_tables import NULL, Cell, Cells, Key
from reid_sql.parameters import Floats, Integers

MAX_ROUNDS: Final = 200  # of bounds from bounds, which may approach a limit in ever smaller steps
REFUSAL_CONTRADICTION: Final = (
    "tables must be of counts that some table of people has, got totals that no such table has; check that "
    "they count the same people, pass base := 5 if they are rounded to fives, or lowest := 0"
)


class ContradictionError(OutOfDomainError):
    """The published figures contradict each other."""


@dataclass(frozen=True)
class Equations:
    """Sums of variables that are known: for each equation i, the sum of sign x variable is right[i].

    `low` and `high` are the bounds of the variables, `high` infinite where there is none.
    """

    rows: Integers  # (terms,): the equation of each term
    columns: Integers  # (terms,): its variable
    signs: Integers  # (terms,): 1 or -1
    right: Floats  # (equations,)
    low: Floats  # (variables,)
    high: Floats  # (variables,)

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return len(self.low)

    def matrix(self) -> Any:  # noqa: ANN401 - a sparse matrix of scipy
        """The coefficients as a sparse matrix of scipy, (equations, variables)."""
        from scipy.sparse import coo_array  # noqa: PLC0415 - see numerics/special_functions

        terms = (self.signs.astype(float), (self.rows, self.columns))
        return coo_array(terms, shape=(len(self.right), self.variables)).tocsc()

    def with_bounds(self, low: Floats, high: Floats) -> "Equations":
        """The same equations with other bounds."""
        return replace(self, low=low, high=high)

    def among(self, chosen: Integers) -> "Equations":
        """The equations of some variables; the others must be fixed, as low equals high, and go to the right.

        Equations without any of the variables are left out.
        """
        number = np.full(self.variables, -1)
        number[chosen] = np.arange(len(chosen))
        is_chosen = number[self.columns] >= 0
        used, rows = np.unique(self.rows[is_chosen], return_inverse=True)
        constants = np.zeros(len(self.right))
        fixed = ~is_chosen & (self.low == self.high)[self.columns]
        np.add.at(constants, self.rows[fixed], (self.signs * self.low[self.columns])[fixed])
        return Equations(
            rows,
            number[self.columns[is_chosen]],
            self.signs[is_chosen],
            (self.right - constants)[used],
            self.low[chosen],
            self.high[chosen],
        )


def propagate_bounds(equations: Equations) -> Equations:
    """Narrow the bounds of each variable by those of the others in each equation, until nothing changes.

    In an equation, x = right - rest for the sign 1, so x lies between right - max(rest) and
    right - min(rest). With signs of 1 and -1 and whole numbers, the bounds stay whole. Refuses equations
    that no variables within the bounds solve, where this shows it.

    >>> one, none = np.array([1, 1]), np.array([0.0, 0.0])
    >>> pair = Equations(0 * one, np.array([0, 1]), one, np.array([3.0]), none, np.array([2.0, np.inf]))
    >>> bounded = propagate_bounds(pair)
    >>> bounded.low.tolist(), bounded.high.tolist()
    ([0.0, 1.0], [2.0, 3.0])
    """
    low, high = equations.low.copy(), equations.high.copy()
    for _ in range(MAX_ROUNDS):
        checkpoint()
        before = low.copy(), high.copy()
        rows, columns, is_added = equations.rows, equations.columns, equations.signs > 0
        smallest = np.where(is_added, low[columns], -high[columns])  # (terms,)
        largest = np.where(is_added, high[columns], -low[columns])
        # the ends of sign x variable
        least = equations.right[rows] - _rest(rows, largest, len(equations.right))
        most = equations.right[rows] - _rest(rows, smallest, len(equations.right))
        np.maximum.at(low, columns, np.where(is_added, least, -most))
        np.minimum.at(high, columns, np.where(is_added, most, -least))
        if (low > high).any():
            raise ContradictionError(REFUSAL_CONTRADICTION)
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            break
    # Refuse equations whose terms are all known and add up to something else.
    is_fixed = (low == high)[equations.columns]
    variables = np.bincount(equations.rows, ~is_fixed, len(equations.right))
    terms = np.where(is_fixed, equations.signs * low[equations.columns], 0.0)
    sums = np.bincount(equations.rows, terms, len(equations.right))
    if ((variables == 0) & (sums != equations.right)).any():
        raise ContradictionError(REFUSAL_CONTRADICTION)
    return equations.with_bounds(low, high)


def _rest(rows: Integers, terms: Floats, equations: int) -> Floats:
    """Sum the other terms of the equation of each term, any of which may be infinite."""
    is_finite = np.isfinite(terms)
    finite = np.where(is_finite, terms, 0.0)
    sums = np.bincount(rows, finite, equations)[rows] - finite
    infinite_terms = np.bincount(rows, ~is_finite, equations)[rows] - ~is_finite
    infinite = terms[~is_finite][0] if not is_finite.all() else 0.0
    return np.where(infinite_terms > 0, infinite, sums)


def find_connected_variables(equations: Equations) -> list[Integers]:
    """The variables that are not known yet, in parts that no equation connects."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - see numerics/special_functions
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    unknown = np.flatnonzero(equations.low < equations.high)
    open_ones = equations.among(unknown)
    size = len(unknown) + len(open_ones.right)
    ends = (open_ones.columns, len(unknown) + open_ones.rows)
    links = coo_array((np.ones(len(open_ones.rows)), ends), shape=(size, size))
    _, parts = connected_components(links, directed=False)
    labels = parts[: len(unknown)]
    order = np.argsort(labels, kind="stable")
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(unknown[order], cuts) if len(unknown) else []


# The equations of published cells: each total is the sum of its parts, within a table and between tables.
#
# A layout is a set of columns whose categories are shown while all others are totalled. The parts of a
# cell of one layout are the cells of a finer one. Two tables that share some columns have their common
# totals in both, shown or not: layouts are closed under intersection, and totals that no table shows are
# variables. If the parts that are listed cannot add up to a total, some categories are not listed, and
# the rest is a variable too.


Layout = frozenset[int]
Pair = tuple[Layout, Layout]  # of totals and parts
Parts = dict[Key, list[Key]]  # of each total


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
    # the variable of each cell that is hidden
    numbers: dict[Key | Rest, int] = field(default_factory=dict)
    bounds: list[tuple[float, float]] = field(default_factory=list)
    terms: list[tuple[int, int, int]] = field(default_factory=list)  # equation, variable, sign
    # the published terms of each
    constants: list[list[tuple[Key, int]]] = field(default_factory=list)

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
        right = [
            -sum(sign * self.cells[key].bounds[0] for key, sign in each) for each in self.constants
        ]
        low, high = np.array(self.bounds, dtype=float).reshape(-1, 2).T.copy()
        return Equations(rows, columns, signs, np.array(right, dtype=float), low, high)


def link_cells(
    cells: Cells,
    columns: list[str],
    *,
    with_labels: bool = False,
    tolerance: float = 0.0,
    whole: Sequence[frozenset[str]] | None = None,
) -> LinkedCells:
    """Write the equations between the cells; keys have the categories of the columns, then the steps.

    A column with one category may be a label of the people of its table. It is taken for all of its
    categories, which tells an attacker more, unless that contradicts a total, or `with_labels`. Sums may
    differ from their parts by a share of `tolerance`, as computers round them. Tables with more columns than
    each of the `whole` ones list some of their cells, whatever these add up to.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> shown, hidden = Cell(1.0, inf, 7.0, [1]), Cell(1.0, inf, None, [], [1])
    >>> linked = link_cells({(None,): shown, ("F",): hidden, ("M",): Cell(1.0, inf, 3.0, [1])}, ["sex"])
    >>> linked.equations().right.tolist()
    [-4.0]
    """
    linked = LinkedCells(cells, columns)
    layouts = _list_layouts(linked)
    parts = {
        (coarse, fine): _parts_of(layouts, coarse, fine)
        for coarse in layouts
        for fine in _covers(coarse, layouts)
    }
    short = _find_short(linked, parts, tolerance)
    labels = _labels(cells)
    is_label = with_labels or any(labels & (fine - coarse) for coarse, fine in short)
    partial = (labels if is_label else set()) | set(
        range(len(columns), max(map(len, cells), default=0))
    )
    for (coarse, fine), totals in parts.items():
        is_partial = (coarse, fine) in short or not partial.isdisjoint(fine - coarse)
        is_partial |= not _is_whole(linked, fine, whole)
        for total, listed in totals.items():
            rest = [Rest(total, fine - coarse)] if is_partial else []
            _add_equation(linked, total, [*listed, *rest])
    return linked


def _find_short(linked: LinkedCells, parts: Mapping[Pair, Parts], tolerance: float) -> set[Pair]:
    """The pairs of which a total is more than its parts can be; if rounded, all pairs of such columns."""
    short = {pair for pair, of_pair in parts.items() if _is_short(linked, of_pair, tolerance)}
    if any(cell.published and cell.value is None for cell in linked.cells.values()):
        over = {fine - coarse for coarse, fine in short}
        return {(coarse, fine) for coarse, fine in parts if fine - coarse in over}
    return short


def _is_whole(linked: LinkedCells, layout: Layout, whole: Sequence[frozenset[str]] | None) -> bool:
    """Whether all cells of the columns are listed, as in each of the whole tables."""
    named = {linked.columns[place] for place in layout if place < len(linked.columns)}
    return whole is None or any(named <= each for each in whole)


def _labels(cells: Cells) -> set[int]:
    """The columns that may be labels: of one category in all tables, without a total where they have it.

    Such a column may say of which people a table is, as in a table of women next to one of everybody.
    """
    categories: dict[int, dict[int, set[str | None]]] = {}  # of each column, in each table
    for key, cell in cells.items():
        for number in cell.tables:
            for place, category in enumerate(key):
                categories.setdefault(place, {}).setdefault(number, set()).add(category)
    labels = set()
    for place, by_table in categories.items():
        named = [each for each in by_table.values() if each != {None}]
        if 0 < len(named) < len(by_table) and len(set().union(*named)) == 1:
            labels.add(place)
    return labels


def _project(key: Key, layout: Layout) -> Key:
    return tuple(category if place in layout else None for place, category in enumerate(key))


def _list_layouts(linked: LinkedCells) -> dict[Layout, set[Key]]:
    """The keys of each layout and of their intersections, with the totals of all cells of finer ones."""
    layouts: dict[Layout, set[Key]] = {}
    for key, cell in linked.cells.items():
        layout = frozenset(place for place, category in enumerate(key) if category is not None)
        layouts.setdefault(layout, set()).add(key)
        if cell.value is None:
            linked.number(key, *cell.bounds)
    shown = list(layouts)
    closed = set(shown)
    for one in shown:
        closed |= {one & other for other in list(closed)}
    for layout in sorted(closed, key=len, reverse=True):
        keys = layouts.setdefault(layout, set())
        for finer in shown:
            if layout < finer:
                keys |= {_project(key, layout) for key in layouts[finer]}
    return layouts


def _covers(coarse: Layout, layouts: Iterable[Layout]) -> list[Layout]:
    """The finer layouts between which and this one there is no other."""
    finer = [layout for layout in layouts if coarse < layout]
    return [layout for layout in finer if not any(other < layout for other in finer)]


def _parts_of(layouts: dict[Layout, set[Key]], coarse: Layout, fine: Layout) -> Parts:
    """The parts of each total of one layout among the cells of a finer one."""
    parts: Parts = {}
    for key in sorted(layouts[fine], key=repr):
        parts.setdefault(_project(key, coarse), []).append(key)
    return {total: parts[total] for total in sorted(layouts[coarse] & parts.keys(), key=repr)}


def _is_short(linked: LinkedCells, parts: Parts, tolerance: float) -> bool:
    """Whether some total is more than its parts can be; refuses one that is less."""
    bounds = [
        (_bounds_of(linked, total), [_bounds_of(linked, key) for key in parts[total]])
        for total in parts
    ]
    if any(
        total[1] < sum(low for low, _ in each) - tolerance * abs(total[1]) for total, each in bounds
    ):
        raise ContradictionError(REFUSAL_CONTRADICTION)
    return any(
        total[0] > sum(high for _, high in each) + tolerance * abs(total[0])
        for total, each in bounds
    )


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


def link_codes(codes: Integers, least: float) -> LinkedCells:
    """Write the equations between hidden cells by the codes of their categories, 0 for a total."""
    cells: Cells = {
        tuple(str(code) if code else None for code in row): Cell(least, inf, None, [], [1])
        for row in codes.tolist()
    }
    return link_cells(cells, [str(place) for place in range(codes.shape[1])])


# The sum of published cells that reveals a hidden one: the shortest proof of its bound.
#
# By the duality of linear programmes (von Neumann 1947), x_j <= u follows from equations A x = b and
# bounds l <= x <= h exactly if there are factors y of the equations and p, q >= 0 of the bounds with A^T
# y + p - q = e_j and b.y + h.p - l.q <= u. The factors with the least sum are a short proof; b.y is a sum
# of published cells, and where p = q = 0 it is the count itself.


MAX_TERMS: Final = 12  # of a sum that is shown
TOLERANCE: Final = 1e-6
# just above that of an equation: a proof by equations alone comes first
WEIGHT_OF_BOUNDS: Final = 1.01
# A whole number below high + 1 is at most high. A proof that ends close to high + 1 may have factors near 0,
# so that one that ends lower comes first.
ENDS_OF_PROOFS: Final = (0.0, 0.5, 1 - TOLERANCE * 10)


def find_sum(
    linked: LinkedCells, equations: Equations, part: Integers, variable: int, high: float
) -> str:
    """Describe the published cells that show that a variable is at most `high`.

    `part` are the variables that equations connect with it. A count that is only a bound is marked by "at
    most": the other hidden counts are then at least their lower bounds.
    """
    proofs = (_find_factors(equations, part, variable, high + end) for end in ENDS_OF_PROOFS)
    factors, is_identity = next((each for each in proofs if each[0] is not None), (None, False))
    if factors is None:
        return ""
    coefficients: dict[Key, float] = {}
    for equation in np.flatnonzero(np.abs(factors) > TOLERANCE):
        for key, sign in linked.constants[equation]:
            coefficients[key] = coefficients.get(key, 0.0) - sign * float(factors[equation])
    terms = [
        f"{'+' if value > 0 else '-'} {_times(value)}[{describe(linked, key)}]"
        for key, value in sorted(coefficients.items(), key=lambda each: (-each[1], repr(each[0])))
        if abs(value) > TOLERANCE
    ]
    more = f" and {len(terms) - MAX_TERMS} more cells" if len(terms) > MAX_TERMS else ""
    text = " ".join(terms[:MAX_TERMS]).removeprefix("+ ") + more
    if not text:  # of rounded counts alone, which are bounds
        return ""
    return text if is_identity else f"at most {text}, as all other counts are within their bounds"


def _times(value: float) -> str:
    size = abs(value)
    return "" if abs(size - 1) < TOLERANCE else f"{size:.3g} x "


def _find_factors(
    equations: Equations, part: Integers, variable: int, end: float
) -> tuple[Floats | None, bool]:
    """The factors of all equations that prove a variable to be at most `end`, and no need of bounds.

    They are zero outside the part.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - see numerics/special_functions
    from scipy.sparse import eye_array, hstack  # noqa: PLC0415

    checkpoint()
    used = np.unique(equations.rows[np.isin(equations.columns, part)])
    transposed = equations.matrix()[used][:, part].T
    identity = eye_array(len(part))
    low, top, right = equations.low[part], equations.high[part], equations.right[used]
    cost = np.concatenate([right, -right, np.where(np.isfinite(top), top, 0.0), -low])
    upper = np.concatenate(
        [np.full(2 * len(used), np.inf), np.where(np.isfinite(top), np.inf, 0.0)]
    )
    solved = linprog(
        np.concatenate([np.ones(2 * len(used)), np.full(2 * len(part), WEIGHT_OF_BOUNDS)]),
        A_eq=hstack([transposed, -transposed, identity, -identity]).tocsr(),
        b_eq=(part == variable).astype(float),
        A_ub=cost[None, :],
        b_ub=[end],
        bounds=np.stack(
            [np.zeros(len(cost)), np.concatenate([upper, np.full(len(part), np.inf)])], axis=1
        ),
        method="highs",
    )
    if solved.x is None:  # a bound that only whole numbers have, which no factors prove
        return None, False
    factors = np.zeros(len(equations.right))
    factors[used] = solved.x[: len(used)] - solved.x[len(used) : 2 * len(used)]
    return factors, bool((solved.x[2 * len(used) :] < TOLERANCE).all())


def describe(linked: LinkedCells, cell: Key | Rest) -> str:
    """The cell by its categories; a total is named by the columns that it is not a total of."""
    if isinstance(cell, Rest):
        columns = len(linked.columns)
        steps = [place - columns + 2 for place in cell.over if place >= columns]
        if steps:
            return f"{_words(linked, cell.total)}, in table {min(steps) - 1} and not in table {min(steps)}"
        over = ", ".join(linked.columns[place] for place in sorted(cell.over))
        return f"{_words(linked, cell.total)}, {over} not listed"
    step = 1 + sum(category is not None for category in cell[len(linked.columns) :])
    return _words(linked, cell) + (f", in table {step}" if step > 1 else "")


def _words(linked: LinkedCells, key: Key) -> str:
    named = zip(linked.columns, key, strict=False)
    listed = [f"{name} = {shown(category)}" for name, category in named if category is not None]
    return ", ".join(listed) or "total"


def shown(category: str) -> str:
    """The category as it is shown."""
    return "NULL" if category == NULL else category
