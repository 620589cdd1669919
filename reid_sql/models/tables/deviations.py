"""Other tables of people with the same published cells: how far each hidden cell may be from its count.

A deviation is what such a table has more, or less, in each cell: the totals of deviations add up, a shown
cell has none, and a hidden one loses at most all but one person. Two deviations of whole numbers that differ
by a width at a cell prove that an attacker's interval of it is at least as wide: each is a table that fits.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.tables.equations import Equations
from reid_sql.models.tables.programmes import PRIMAL_SIMPLEX, WHOLE, Programme, is_whole
from reid_sql.parameters import Floats, Integers

FREE_COST: Final = 1e-4  # of a person more or less in a cell that is hidden already
MAX_INTEGER_CELLS: Final = 600  # among which an integer programme looks for whole numbers
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sums:
    """Each total as a sum of cells that are no totals, and sums that must be equal besides."""

    finest: Integers  # the variables that are no totals
    totals: Integers
    parts: Any  # (totals, finest)
    equal: Any  # (further equations, finest): differences that are zero


def express_totals(equations: Equations) -> Sums:
    """Express each total by the finest cells: by its first equation, in which its parts are expressed too."""
    from scipy.sparse import csr_array, eye_array, vstack  # noqa: PLC0415 - see numerics/special_functions

    shape = (len(equations.right), equations.variables)
    matrix = csr_array((equations.signs.astype(float), (equations.rows, equations.columns)), shape=shape)
    is_total = equations.signs > 0
    total = np.zeros(shape[0], dtype=np.int64)
    total[equations.rows[is_total]] = equations.columns[is_total]
    totals, first = np.unique(total, return_index=True)
    finest = np.setdiff1d(np.arange(shape[1]), totals)
    own = csr_array(eye_array(shape[1], format="csr")[totals] - matrix[first])
    by_totals, parts = own[:, totals], own[:, finest]
    more = parts
    while (more := by_totals @ more).nnz:
        parts = parts + more
    order = np.empty(shape[1], dtype=np.int64)
    order[np.concatenate([finest, totals])] = np.arange(shape[1])
    whole = vstack([eye_array(len(finest)), parts], format="csr")[order]
    equal = csr_array(matrix @ whole)
    equal.eliminate_zeros()
    return Sums(finest, totals, csr_array(parts), equal[np.flatnonzero(np.diff(equal.indptr))])


class Deviations:
    """The deviations that the shown cells allow, and those that were found; the finest cells come first."""

    def __init__(
        self, sums: Sums, equations: Equations, losses: Floats, costs: Floats, targets: Integers
    ) -> None:
        """`losses` are the most that a cell can have less; `costs` are those of hiding it.

        Both are by variable, the costs NaN where no table shows it. Deviations of the targets are looked for.
        """
        from scipy.sparse import csr_array, eye_array, hstack, vstack  # noqa: PLC0415

        self.sums, self.order = sums, np.concatenate([sums.finest, sums.totals])
        self.finest, self.size = len(sums.finest), len(self.order)
        self.losses, self.costs = losses[self.order], costs[self.order]
        self.place = place = np.empty(self.size, dtype=np.int64)
        place[self.order] = np.arange(self.size)
        terms = (np.ones(len(equations.rows)), (equations.rows, place[equations.columns]))
        self.members = csr_array(terms, shape=(len(equations.right), self.size))
        self.is_open = np.isnan(self.costs)
        self.restore(np.zeros((1, self.size)))
        rows, equal = len(sums.totals), sums.equal.shape[0]
        low, high = np.zeros(self.size + equal), np.zeros(self.size + equal)
        low[: self.size][self.is_open], high[: self.size][self.is_open] = -np.inf, np.inf
        self.attacker = Programme(
            vstack([sums.parts, sums.equal]),
            (low[: self.finest], high[: self.finest]),
            (low[self.finest :], high[self.finest :]),
            np.zeros(self.finest),
            strategy=PRIMAL_SIMPLEX,
        )
        cells = hstack([sums.parts, -eye_array(rows)])
        none = csr_array((equal, rows))
        matrix = vstack([cells, hstack([sums.equal, none])]) if equal else cells
        zero = np.zeros(rows + equal)
        self.cheapest = Programme(
            hstack([matrix, -matrix]),
            (np.zeros(2 * self.size), np.concatenate([np.full(self.size, np.inf), self.losses])),
            (zero, zero),
            np.tile(np.where(self.is_open, 0.0, self.costs), 2),
        )
        self.is_hidden = self.is_open.copy()
        self.is_target = np.zeros(self.size, dtype=bool)
        self.is_target[place[targets]] = True
        self.programmes = 0

    @property
    def widths(self) -> Floats:
        """How far apart two deviations that were found are at each cell."""
        return np.asarray(self.high - self.low)

    @property
    def found(self) -> Floats:
        """The deviations of whole numbers that were found, (deviations, cells)."""
        return self._store[: self._number]

    def restore(self, found: Floats) -> None:
        """Replace the deviations that were found."""
        self._store, self._number = found, len(found)
        self.high, self.low = found.max(axis=0), found.min(axis=0)

    def _keep(self, deviation: Floats) -> None:
        """Add a deviation to those that were found, in space that doubles where it is full."""
        if self._number == len(self._store):
            self._store = np.concatenate([self._store, np.zeros_like(self._store)])
        self._store[self._number] = deviation
        self._number += 1
        np.maximum(self.high, deviation, out=self.high)
        np.minimum(self.low, deviation, out=self.low)

    def hide(self, cells: Integers) -> None:
        """Hide cells: all deviations that were found are still possible."""
        new = cells[~self.is_hidden[cells]]
        self.is_hidden[new] = True
        for cell in new.tolist():
            self._bound(cell, -self.losses[cell], np.inf)
        self.cheapest.cost_columns(np.concatenate([new, self.size + new]), FREE_COST)

    def show(self, cells: Integers) -> None:
        """Show cells: deviations at them are no longer possible."""
        self.is_hidden[cells] = False
        for cell in cells.tolist():
            self._bound(cell, 0.0, 0.0)
        self.cheapest.cost_columns(np.concatenate([cells, self.size + cells]), np.tile(self.costs[cells], 2))
        self.restore(self.found[~self.found[:, cells].any(axis=1)])

    def _bound(self, cell: int, low: float, high: float) -> None:
        if cell < self.finest:
            self.attacker.bound_columns([cell], low, high)
        else:
            self.attacker.bound_row(cell - self.finest, low, high)

    def widen(self, cells: Integers, sign: int, limits: Floats) -> Floats | None:
        """Find a deviation that is as large as possible at some cells together, each up to its limit."""
        for cell, limit in zip(cells.tolist(), limits.tolist(), strict=True):
            self._bound(cell, -min(self.losses[cell], limit), limit)
        self.attacker.cost_columns(np.arange(self.finest), -sign * self._sum_of(cells))
        self.programmes += 1
        values = self.attacker.solve()
        for cell in cells.tolist():
            self._bound(cell, -self.losses[cell], np.inf)
        if values is None:
            return None
        deviation = np.concatenate([values, self.sums.parts @ values])
        if not self._note(deviation) and len(cells) == 1:
            self._note(self._connected_with(int(cells[0]), deviation))
        return deviation

    def _sum_of(self, cells: Integers) -> Floats:
        inner, totals = cells[cells < self.finest], cells[cells >= self.finest] - self.finest
        wanted = np.bincount(inner, minlength=self.finest).astype(float)
        return np.asarray(wanted + np.asarray(self.sums.parts[totals].sum(axis=0)).ravel())

    def find_cheapest(self, cell: int, amount: float) -> Floats | None:
        """Find the deviation of this amount at a cell that hides the least besides what is hidden."""
        self.programmes += 1
        ends = [cell, self.size + cell]
        most = np.array([np.inf, self.losses[cell]])
        amounts = np.array([max(amount, 0.0), max(-amount, 0.0)])
        self.cheapest.bound_columns(ends, amounts, amounts)
        values = self.cheapest.solve()
        self.cheapest.bound_columns(ends, np.zeros(2), most)
        return None if values is None else np.asarray(values[: self.size] - values[self.size :])

    def prove(self, cell: int, amount: float, support: Floats) -> bool:
        """Find a deviation of whole numbers that is an amount at a cell, and say whether there is one.

        The cheapest is often whole, as it changes few cells; else an integer programme asks among the cells
        that change in `support`.
        """
        cheapest = self.find_cheapest(cell, amount)
        if cheapest is not None and self._note(cheapest):
            return True
        changed = np.flatnonzero(np.abs(support) > WHOLE)
        inner = changed[changed < self.finest]
        if cell not in changed or not 0 < len(inner) <= MAX_INTEGER_CELLS:
            return False
        low, high = np.zeros(self.size), np.zeros(self.size)
        low[changed], high[changed] = -self.losses[changed], np.inf
        low[cell] = high[cell] = amount
        self.programmes += 5
        rows = np.zeros(self.sums.equal.shape[0])
        from scipy.sparse import vstack  # noqa: PLC0415

        solved = Programme(
            vstack([self.sums.parts, self.sums.equal], format="csc")[:, inner],
            (low[inner], high[inner]),
            (np.append(low[self.finest :], rows), np.append(high[self.finest :], rows)),
            np.zeros(len(inner)),
            is_whole=True,
        ).solve()
        if solved is None:
            return False
        values = np.zeros(self.finest)
        values[inner] = np.round(solved)
        return self._note(np.concatenate([values, self.sums.parts @ values]))

    def _note(self, deviation: Floats) -> bool:
        """Note a deviation of whole numbers that is possible, and its opposite; say whether it is one."""
        whole = np.round(deviation)
        if (
            not is_whole(deviation)
            or whole[~self.is_hidden].any()
            or (self.sums.equal @ whole[: self.finest]).any()
        ):
            return False
        if (whole < -self.losses).any() or not np.array_equal(
            self.sums.parts @ whole[: self.finest], whole[self.finest :]
        ):
            return False
        for each in [whole, -whole] if (whole <= self.losses).all() else [whole]:
            if (each > self.high)[self.is_target].any() or (each < self.low)[self.is_target].any():
                self._keep(each)
        return True

    def _connected_with(self, cell: int, deviation: Floats) -> Floats:
        """The part of a deviation that equations connect with a cell: a deviation by itself."""
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        changed = np.flatnonzero(np.abs(deviation) > WHOLE)
        among = self.members[:, changed]
        _, labels = connected_components(among.T @ among, directed=False)
        own = changed[labels == labels[changed == cell][0]] if cell in changed else changed[:0]
        part = np.zeros(self.size)
        part[own] = deviation[own]
        return part
