"""Other tables of people with the same published cells: how far a hidden cell may be from its count.

A change is what such a table has more, or less, in each cell: the totals of changes add up, a shown cell has
none, and a hidden one loses at most all but one person. If a change of whole numbers can be made up to u
times, and its opposite up to d times, an attacker's interval of a cell that it changes by one is u + d wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from reid_sql.models.tables.hypercubes import Corners, Hypercubes
from reid_sql.models.tables.programmes import WHOLE, Programme, is_whole
from reid_sql.parameters import Floats, Integers

FREE_COST: Final = 1e-4  # of a person more or less in a cell that is hidden already
# of a programme; of a larger table, it has the cells of the cheapest hypercubes
MAX_CELLS: Final = 1000
HYPERCUBES: Final = 150
NEGLIGIBLE: Final = 1e-7  # a change that hides no cell
MAX_WORK: Final = 2_000_000  # cells in all programmes of a table, after which hypercubes are enough
CORNERS_PER_CELL: Final = 1000  # of hypercubes, which take as long as a cell in a programme
MAX_STEPS: Final = 20_000  # of the simplex method in one programme
# people beyond the need that are tried, where whole numbers need more than fractions
MORE: Final = 3
MULTIPLES: Final = (1, 2, 3, 4, 5, 6)  # of a change that may be of whole numbers


@dataclass(frozen=True)
class Change:
    """The cells that change, and by how much, if an unsafe cell has as much more as it needs."""

    cells: Integers
    amounts: Floats


class Changes:
    """The changes of a table: `matrix` has a row for each equation, and a column for each cell.

    `losses` are the most that each cell can have less. `is_whole` asks for changes of whole numbers, up and
    down together; else only for those up.
    """

    def __init__(
        self,
        codes: Integers,
        matrix: Any,  # noqa: ANN401 - a sparse matrix of scipy
        losses: Floats,
        hierarchies: Sequence[Sequence[int]] = (),
        *,
        is_whole: bool,
    ) -> None:
        """`codes` are the categories of each cell, 0 for a total; `hierarchies`, columns that are levels."""
        self.codes, self.matrix, self.losses, self.is_whole = codes, matrix, losses, is_whole
        self.hypercubes = Hypercubes(codes, losses, hierarchies)
        self.work = 0

    def compare_hypercubes(self, cell: int, costs: Floats) -> Corners | None:
        """The hypercubes of a cell, which count as work too."""
        corners = self.hypercubes.of_cell(cell, costs)
        self.work += 0 if corners is None else corners.cells.size // CORNERS_PER_CELL
        return corners

    def find_hypercube(self, cell: int, need: float, corners: Corners | None) -> Change | None:
        """Find the cheapest hypercube that gives a cell what it needs."""
        if corners is None:
            return None
        width = corners.up + corners.down if self.is_whole else corners.up
        costs = np.where(width >= need, corners.costs, np.inf)
        best = int(np.argmin(costs))
        if not np.isfinite(costs[best]):
            return None
        is_cell = corners.cells[:, best] < len(self.losses)
        hypercube = Change(corners.cells[is_cell, best], corners.signs[is_cell, best].astype(float))
        return hypercube if self._is_possible(hypercube, cell, need) else None

    def find_cheapest(
        self, cell: int, need: float, cells: Integers, costs: Floats
    ) -> Change | None:
        """Find the change among some cells that costs the least, by a linear programme.

        If its numbers are not whole, an integer programme asks for whole ones in the cells that it changes.
        """
        if not self.is_whole:
            change = self._solve(cell, need, cells, costs)
            return change if change is not None and self._is_possible(change, cell, need) else None
        support = np.array([cell])
        # First as if the cell could have less too, then as if it could not, and with some people more.
        for amount in sorted(
            {max(1.0, need - self.losses[cell]), *(need + more for more in range(MORE))}
        ):
            change = self._solve(cell, amount, cells, costs)
            if change is None:  # nor is there one of a larger amount
                break
            support = np.union1d(support, change.cells)
            whole = self._find_whole(cell, amount, support, change, costs)
            if whole is not None and self._is_possible(whole, cell, need):
                return whole
        return None

    def _solve(
        self, cell: int, amount: float, cells: Integers, costs: Floats, *, is_whole: bool = False
    ) -> Change | None:
        from scipy.sparse import hstack  # noqa: PLC0415 - see numerics/special_functions

        self.work += len(cells)
        inside = self.matrix[:, cells].tocsr()
        inside = inside[np.flatnonzero(np.diff(inside.indptr))]
        place, size = int(np.flatnonzero(cells == cell)[0]), len(cells)
        low, high = np.zeros(2 * size), np.concatenate([np.full(size, np.inf), self.losses[cells]])
        low[place] = high[place] = amount
        high[size + place] = 0.0
        rows = np.zeros(inside.shape[0])
        values = Programme(
            hstack([inside, -inside]),
            (low, high),
            (rows, rows),
            np.tile(costs[cells], 2),
            whole=is_whole,
            steps=MAX_STEPS,
        ).solve()
        if values is None:
            return None
        change = values[:size] - values[size:]
        is_changed = np.abs(change) > NEGLIGIBLE
        return Change(cells[is_changed], change[is_changed])

    def _find_whole(
        self, cell: int, amount: float, support: Integers, change: Change, costs: Floats
    ) -> Change | None:
        """Whole numbers: a multiple of the change, else those that an integer programme finds."""
        multiples = [
            times * change.amounts for times in MULTIPLES if is_whole(times * change.amounts)
        ]
        if multiples:
            whole = Change(change.cells, np.round(multiples[0]))
            if len(multiples) == len(MULTIPLES) or self._is_possible(whole, cell, amount):
                return whole
        solved = self._solve(cell, amount, support, costs, is_whole=True)
        return None if solved is None else Change(solved.cells, np.round(solved.amounts))

    def _is_possible(self, change: Change, cell: int, need: float) -> bool:
        """Whether tables of people have this change, and it gives the cell what it needs.

        No programme and no hypercube is believed: the totals of the change must add up.
        """
        amount = change.amounts[change.cells == cell]
        if not len(amount) or not self._adds_up(change):
            return False
        losses = self.losses[change.cells]
        if not self.is_whole:
            return bool(amount[0] > 0 and (_times(losses, -change.amounts) * amount[0] >= need))
        unit = change.amounts / np.gcd.reduce(change.amounts.astype(np.int64))
        up, down = (np.floor(_times(losses, sign * unit)) for sign in (-1, 1))
        return bool(abs(unit[change.cells == cell][0]) * (up + down) >= need)

    def _adds_up(self, change: Change) -> bool:
        sums = self.matrix[:, change.cells] @ change.amounts
        return bool((np.abs(sums) <= (0.0 if self.is_whole else WHOLE)).all())

    def add_people(self, cell: int, costs: Floats) -> Change | None:
        """Add people to one of the finest parts of a cell, and so to all of its totals.

        Tables that share a margin each get them: of the cells that agree, those with most columns in common.
        It is always possible, unless an earlier table shows one of the totals.
        """
        part = self.codes[cell]
        while (part == 0).any():
            agrees = ((self.codes == part) | (self.codes == 0) | (part == 0)).all(axis=1)
            finer = np.flatnonzero(agrees & ((self.codes > 0) & (part == 0)).any(axis=1))
            if not len(finer):
                return None
            is_shown = self.codes[finer] > 0
            shared = (is_shown & (part > 0)).sum(axis=1)
            best = finer[np.lexsort((costs[finer], -is_shown.sum(axis=1), -shared))[0]]
            part = np.where(part > 0, part, self.codes[best])
        changed = np.flatnonzero(((self.codes == part) | (self.codes == 0)).all(axis=1))
        change = Change(changed, np.ones(len(changed)))
        return change if np.isfinite(costs[changed]).all() and self._adds_up(change) else None


def _times(losses: Floats, lost: Floats) -> float:
    """How many times a change can be made."""
    is_lost = lost > 0
    return float((losses[is_lost] / lost[is_lost]).min(initial=np.inf))
