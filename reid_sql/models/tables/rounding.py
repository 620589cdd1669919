"""Controlled rounding: every count to a multiple of a base, near its true value, so that totals still add up.

Zero-restricted rounding (Cox & Ernst 1982) moves a count to one of its two neighbouring multiples and leaves
multiples, so zeros, as they are. Of all such tables, that of the least sum of distances is chosen: by a
linear programme where its solution is whole, as in two-way tables, and by an integer programme in small ones.
With three columns and more there may be none (Causey, Cox & Ernst 1985); counts may then move by less than
two bases. In larger tables, the finest cells are rounded, and totals are their sums: such a table always
exists. A search then changes one or two cells at a time, until none brings the totals nearer.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.tables.equations import link_codes
from reid_sql.models.tables.programmes import Programme, is_whole
from reid_sql.parameters import Floats, Integers

# the distances, in bases, below which a table is sought, one after the other
MAX_BASES: Final = (1, 2)
MAX_STEPS: Final = 1200  # of a table up to which integer programmes are solved
MAX_SECONDS: Final = 10.0  # of one of them
# of cells that are changed together to leave a table that no single change betters
MAX_PAIRS: Final = 200
MAX_LOOKS: Final = 20_000  # of the search, at all cells
COST_OF_BASE: Final = 20.0  # of a distance beyond the base, in distances


def round_cells(codes: Integers, counts: Integers, base: int) -> Integers:
    """Round the counts of the cells; `codes` are the categories of each, 0 for a total.

    >>> codes = np.array([[1, 1], [1, 2], [2, 1], [2, 2], [1, 0], [2, 0], [0, 1], [0, 2], [0, 0]])
    >>> counts = np.array([2, 9, 8, 31, 11, 39, 10, 40, 50])
    >>> round_cells(codes, counts, 5).tolist()
    [0, 10, 10, 30, 10, 40, 10, 40, 50]
    """
    order = np.lexsort(codes.T[::-1])
    codes, counts = codes[order], counts[order].astype(np.int64)
    totals = _totals(codes)
    table = None
    for bases in MAX_BASES:
        if table is None:
            table = _find_table(totals, counts // base, _steps(counts, base, bases))
    if table is None:
        table = _Search(codes, counts, base).run()
    answer = np.empty(len(counts), dtype=np.int64)
    answer[order] = base * table
    return answer


@dataclass(frozen=True)
class _Steps:
    """What each cell may be: its lower neighbour, with steps of one base up or down from there."""

    cells: Integers  # (steps,)
    signs: Integers  # (steps,): 1 up, -1 down
    # (steps,): what the step adds to the distance; each further step of a cell costs more
    costs: Floats


def _totals(codes: Integers) -> Any:  # noqa: ANN401 - a sparse matrix of scipy
    """The equations of the totals, (equations, cells): each total less its parts is 0."""
    linked = link_codes(codes, 0.0)
    return linked.equations().matrix()[:, [linked.numbers[key] for key in linked.cells]]


def _steps(counts: Integers, base: int, bases: int) -> _Steps:
    """The steps of each cell that keep it nearer than so many bases; a multiple stays if it is one base."""
    cells, rest = np.arange(len(counts)), counts % base
    steps = [(cells[rest > 0], 1, base - 2 * rest[rest > 0])]
    if bases > 1:
        steps += [(cells, 1, np.full(len(cells), base))]
        steps += [(cells[counts >= base], -1, np.full((counts >= base).sum(), base))]
    return _Steps(
        np.concatenate([each for each, _, _ in steps]),
        np.concatenate([np.full(len(each), sign) for each, sign, _ in steps]),
        np.concatenate([costs for _, _, costs in steps]).astype(float),
    )


def _find_table(totals: Any, lower: Integers, steps: _Steps) -> Integers | None:  # noqa: ANN401 - see _totals
    """The table of the least distance, in bases; None if there is none, or none is found."""
    is_small = len(steps.cells) <= MAX_STEPS
    bounds = np.zeros(len(steps.cells)), np.ones(len(steps.cells))
    right = -(totals @ lower).astype(float)
    matrix = totals[:, steps.cells] * steps.signs
    programme = Programme(matrix, bounds, (right, right), steps.costs, whole=is_small)
    programme.solver.setOptionValue("time_limit", MAX_SECONDS)
    values = programme.solve()
    if values is None and is_small:  # the nearest table so far, if there is one
        values = np.array(programme.solver.getSolution().col_value)
    if values is None or len(values) != len(steps.cells) or not is_whole(values):
        return None
    taken = np.round(values).astype(np.int64) * steps.signs
    rounded: Integers = lower + np.bincount(steps.cells, taken, len(lower)).astype(np.int64)
    return rounded if not (totals @ rounded).any() else None


class _Search:
    """Finest cells at one of their two neighbours, and totals that are their sums, as near as possible."""

    def __init__(self, codes: Integers, counts: Integers, base: int) -> None:
        """Begin with the nearest multiple of each finest cell."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - see numerics/special_functions

        place = {tuple(row): number for number, row in enumerate(codes.tolist())}
        self.finest = np.flatnonzero((codes > 0).all(axis=1))
        terms = [
            (cell, place[total])
            for cell, number in enumerate(self.finest.tolist())
            for kept in product((0, 1), repeat=codes.shape[1])
            if (total := tuple((codes[number] * np.array(kept)).tolist())) in place
        ]
        cells, totals = np.array(terms, dtype=np.int64).reshape(-1, 2).T
        shape = (len(self.finest), len(counts))
        # of which total
        self.parts = csr_array((np.ones(len(cells)), (cells, totals)), shape=shape)
        finest = counts[self.finest]
        self.base, self.counts = base, counts
        self.is_free = finest % base > 0
        self.is_up = (finest % base) * 2 > base
        self.rounded = finest // base + self.is_up
        self.errors: Floats = base * (self.parts.T @ self.rounded) - counts
        # distance, without moving a multiple
        self.allowed = np.where(counts % base > 0, base - 1, 0)
        self.looks = 0

    def run(self) -> Integers:
        """All cells, in bases."""
        while self.looks < MAX_LOOKS:
            checkpoint()
            gains = self._gains()
            best = int(gains.argmin())
            if gains[best] < 0:
                self._change(best)
            elif not self._change_two(gains):
                break
        return np.round((self.errors + self.counts) / self.base).astype(np.int64)

    def _cost(self, errors: Floats) -> Floats:
        distance = np.abs(errors)
        cost: Floats = distance + COST_OF_BASE * np.maximum(0, distance - self.allowed)
        return cost

    def _gains(self) -> Floats:
        """What changing each finest cell adds to the costs of all totals that it is a part of."""
        self.looks += 1
        cost = self._cost(self.errors)
        up = self.parts @ (self._cost(self.errors + self.base) - cost)
        down = self.parts @ (self._cost(self.errors - self.base) - cost)
        return np.where(self.is_free, np.where(self.is_up, down, up), np.inf)

    def _change(self, cell: int) -> None:
        places = slice(self.parts.indptr[cell], self.parts.indptr[cell + 1])
        self.errors[self.parts.indices[places]] += self.base * (-1 if self.is_up[cell] else 1)
        self.is_up[cell] = not self.is_up[cell]

    def _change_two(self, gains: Floats) -> bool:
        """Change two cells if that brings the totals nearer."""
        for first in np.argsort(gains, kind="stable")[:MAX_PAIRS].tolist():
            if not np.isfinite(gains[first]):
                return False
            self._change(first)
            further = self._gains()
            further[first] = np.inf
            second = int(further.argmin())
            if gains[first] + further[second] < -0.5:  # noqa: PLR2004 - whole numbers below 0
                self._change(second)
                return True
            self._change(first)
        return False
