"""Which further cells must be hidden so that nobody computes an unsafe one from the totals.

An attacker knows the published cells, that the totals add up, and that a listed cell has at least one person.
A hidden cell is protected if the interval that follows is at least as wide as asked. Greedy: for each cell
that is not protected, the cheapest deviation that makes it so (a linear programme; Kelly, Golden & Assad
1992), of which every cell is hidden. Then each secondary cell, the largest first, is shown again if all stay
protected. Small tables are solved optimally by an integer programme (Fischetti & Salazar 2001). Two tables of
whole numbers that differ by the width prove the protection of a cell, else the audit of `bounds` does.

A rule of dominance, or of p %, asks for an upper protection of a sum: an attacker must find it possible that
the sum is larger by as much (Hundepool et al. 2012, section 4.2). An attacker knows the sums that are shown,
that totals add up, and that no sum is below 0, unless one is.
"""

from dataclasses import dataclass
from math import inf, nan
from typing import Any, Final

import numpy as np

from reid_sql.models.tables.bounds import bound_variables
from reid_sql.models.tables.deviations import Deviations, Flags, Sums, express_totals
from reid_sql.models.tables.equations import Equations, link_cells
from reid_sql.models.tables.programmes import WHOLE
from reid_sql.models.tables.published_tables import Cell, Cells
from reid_sql.parameters import Floats, Integers

PUBLISHED, PRIMARY, SECONDARY, UNPROTECTED = range(4)
LEAST_LISTED: Final = 1.0  # people of a cell that is listed
MAX_OPTIMAL: Final = 600  # cells x unsafe cells up to which the optimum is sought
MAX_NODES: Final = 2000  # of the search for it

MARGIN: Final = 1e-4  # of the protection, by which more is hidden than the rule asks: solutions are not exact
NEGLIGIBLE: Final = 1e-7  # of the largest protection: a change that hides no cell
MAX_LOSS: Final = (
    100.0  # times the largest protection, by which a sum may be lower: larger numbers lose digits
)

MORE: Final = 3  # people beyond the width that are tried, where whole numbers need more than fractions
MAX_PROGRAMMES: Final = 400  # by which cells are found that may be shown again


@dataclass(frozen=True)
class Suppression:
    """What is hidden: the status of each cell, and whether nothing less would do."""

    statuses: Integers  # (cells,)
    is_optimal: bool


@dataclass(frozen=True)
class CellSums:
    """The sum of each cell, and by how much an attacker must find it possible that it is larger."""

    values: Floats  # (cells,)
    protections: Floats  # (cells,): 0 for a safe sum


def suppress_cells(
    codes: Integers, counts: Integers, is_primary: Flags, width: int, sums: CellSums | None = None
) -> Suppression:
    """Choose the cells to hide besides the unsafe ones; `codes` are the categories of each, 0 for a total.

    The counts are protected first, then the sums by hiding more. An unsafe cell that no choice protects is
    UNPROTECTED.

    >>> codes = np.array([[1, 1], [1, 2], [2, 1], [2, 2], [1, 0], [2, 0], [0, 1], [0, 2], [0, 0]])
    >>> counts = np.array([2, 9, 8, 30, 11, 38, 10, 39, 49])
    >>> suppress_cells(codes, counts, counts < 5, 5).statuses.tolist()
    [1, 2, 2, 2, 0, 0, 0, 0, 0]
    """
    order = np.lexsort(codes.T[::-1])
    problem = _Problem(codes[order], counts[order].astype(float), is_primary[order], width)
    hidden, unprotected, is_optimal = problem.solve()
    if sums is not None and problem.is_linked and (sums.protections > 0).any():
        before = hidden
        hidden, missed = problem.hide_for_sums(before, sums.values[order], sums.protections[order])
        unprotected = np.union1d(unprotected, missed)
        is_optimal = is_optimal and np.array_equal(before, hidden)
    statuses = np.where(problem.is_primary, PRIMARY, np.where(hidden, SECONDARY, PUBLISHED))
    statuses[unprotected] = UNPROTECTED
    answer = np.empty(len(counts), dtype=np.int64)
    answer[order] = statuses
    return Suppression(answer, is_optimal)


class _Problem:
    """The cells as variables of the equations of their totals."""

    def __init__(self, codes: Integers, counts: Floats, is_primary: Flags, width: int) -> None:
        cells: Cells = {
            tuple(str(code) if code else None for code in row): Cell(LEAST_LISTED, inf, None, [], [1])
            for row in codes.tolist()
        }
        linked = link_cells(cells, [str(place) for place in range(codes.shape[1])])
        self.equations: Equations = linked.equations()
        self.is_primary, self.width = is_primary, width
        self.cells = np.array([linked.numbers[key] for key in cells], dtype=np.int64)
        self.counts = counts
        self.is_linked = len(self.equations.right) > 0

    def solve(self) -> tuple[Flags, Integers, bool]:
        """The cells to hide, the unsafe ones that stay unprotected, and whether this is the least."""
        if not self.is_linked:
            return self.is_primary.copy(), np.array([], dtype=np.int64), True
        greedy, open_ones = self._hide_greedily()
        unprotected = self._audit(greedy, open_ones)
        is_least = np.array_equal(greedy, self.is_primary)
        if is_least or len(self.counts) * self.is_primary.sum() > MAX_OPTIMAL:
            return greedy, unprotected, is_least
        best = self._hide_optimally()
        if best is not None:
            left = self._audit(best, np.flatnonzero(self.is_primary))
            if len(left) <= len(unprotected):
                return best, left, True
        return greedy, unprotected, False

    def _audit(self, hidden: Flags, asked: Integers) -> Integers:
        """Those of some unsafe cells whose interval is too narrow."""
        if not len(asked):
            return asked
        low, high = self.equations.low.copy(), self.equations.high.copy()
        shown = self.cells[~hidden]
        low[shown] = high[shown] = self.counts[~hidden]
        bounds = bound_variables(self.equations.with_bounds(low, high), self.cells[asked])
        return asked[bounds.high - bounds.low < self.width]

    def _hide_greedily(self) -> tuple[Flags, Integers]:
        """Hide what makes one unsafe cell after another wide enough, then show what is not needed.

        The second answer are the places of the unsafe cells that no two tables prove to be protected.
        """
        losses = np.full(self.equations.variables, inf)
        losses[self.cells] = self.counts - LEAST_LISTED
        unsafe = np.flatnonzero(self.is_primary)
        targets = self.cells[unsafe]
        deviations = Deviations(
            express_totals(self.equations), self.equations, losses, self._costs(), targets
        )
        places = deviations.place[targets]
        greedy = GreedyChoice(deviations, places, self.width)
        greedy.hide_cells()
        greedy.show_again()
        hidden = np.asarray(deviations.is_hidden[deviations.place[self.cells]])
        return hidden, unsafe[deviations.widths[places] < self.width]

    def hide_for_sums(self, hidden: Flags, values: Floats, protections: Floats) -> tuple[Flags, Integers]:
        """Hide more cells until each sum has its protection; the second answer are those that miss it."""
        every = np.full(self.equations.variables, inf), np.zeros(self.equations.variables), self._costs()
        every[0][self.cells], every[1][self.cells] = values, protections
        is_hidden = np.zeros(self.equations.variables, dtype=bool)
        is_hidden[self.cells] = hidden
        chosen, missed = hide_for_sums(express_totals(self.equations), self.equations, *every, is_hidden)
        return chosen[self.cells], np.flatnonzero(np.isin(self.cells, missed))

    def _costs(self) -> Floats:
        """The people of each variable, NaN for a total that no table shows."""
        costs = np.full(self.equations.variables, nan)
        costs[self.cells] = self.counts
        return costs

    def _hide_optimally(self) -> Flags | None:
        """The cells of fewest people that protect all; None where the search is cut off or finds none.

        Two differences for each unsafe cell, in which only hidden cells differ.
        """
        from scipy.optimize import LinearConstraint, milp  # noqa: PLC0415
        from scipy.sparse import block_diag, coo_array, csr_array, hstack, vstack  # noqa: PLC0415

        variables, unsafe = self.equations.variables, np.flatnonzero(self.is_primary)
        tables, cells = 2 * len(unsafe), len(self.counts)
        matrix = _matrix(self.equations)
        totals = hstack([block_diag([matrix] * tables), csr_array((tables * matrix.shape[0], cells))])
        places = np.arange(len(unsafe))
        ends = [2 * places * variables, (2 * places + 1) * variables]
        at = np.concatenate([end + self.cells[unsafe] for end in ends])
        signs = np.repeat([1.0, -1.0], len(unsafe))
        shape = (len(unsafe), tables * variables + cells)
        differs = coo_array((signs, (np.tile(places, 2), at)), shape=shape)
        of_cells = (np.arange(tables)[:, None] * variables + self.cells).ravel()  # (tables * cells,)
        number = np.arange(tables * cells)
        here = coo_array((np.ones(len(number)), (number, of_cells)), shape=(len(number), shape[1]))
        flags = tables * variables + np.tile(np.arange(cells), tables)

        def limit(size: Floats) -> Any:  # noqa: ANN401 - a matrix of scipy
            hides = coo_array((np.tile(size, tables), (number, flags)), shape=(len(number), shape[1]))
            return (here - hides).tocsr()

        most = np.full(cells, 2.0 * self.width)
        least = -np.minimum(self.counts - LEAST_LISTED, 2.0 * self.width)
        solved: Any = milp(
            np.concatenate([np.zeros(tables * variables), self.counts]),
            constraints=[
                LinearConstraint(totals.tocsr(), 0, 0),
                LinearConstraint(vstack([differs]).tocsr(), self.width, np.inf),
                LinearConstraint(limit(most), -np.inf, 0),
                LinearConstraint(limit(least), 0, np.inf),
            ],
            integrality=np.concatenate([np.zeros(tables * variables), np.ones(cells)]),
            bounds=(
                np.concatenate([np.full(tables * variables, -np.inf), self.is_primary]),
                np.concatenate([np.full(tables * variables, np.inf), np.ones(cells)]),
            ),
            options={"node_limit": MAX_NODES},
        )
        return np.asarray(solved.x[-cells:] > 0.5) if solved.status == 0 else None  # noqa: PLR2004


def _matrix(equations: Equations) -> Any:  # noqa: ANN401 - a matrix of scipy
    from scipy.sparse import coo_array  # noqa: PLC0415

    terms = (equations.signs.astype(float), (equations.rows, equations.columns))
    return coo_array(terms, shape=(len(equations.right), equations.variables)).tocsr()


def hide_for_sums(  # noqa: PLR0917 - arrays by variable
    sums: Sums, equations: Equations, values: Floats, protections: Floats, counts: Floats, is_hidden: Flags
) -> tuple[Flags, Integers]:
    """Hide the cells of fewest people, besides those that are hidden, that give each sum its protection.

    All arrays are by variable; `counts` are NaN, and `values` infinite, where no table shows one. The second
    answer are the variables that no choice protects.
    """
    scale = protections.max()
    losses = np.full(len(values), np.inf) if (values < 0).any() else np.minimum(values / scale, MAX_LOSS)
    unsafe = np.flatnonzero(protections > 0)
    deviations = Deviations(sums, equations, losses, counts, unsafe)
    deviations.hide(deviations.place[np.flatnonzero(is_hidden)])
    needs = np.maximum(protections[unsafe] / scale, MARGIN)
    order = np.lexsort((unsafe, -needs))
    asked = list(zip(deviations.place[unsafe[order]].tolist(), needs[order].tolist(), strict=True))
    for cell, need in asked:
        if _rise_of(deviations, cell, need) >= need:
            continue
        cheapest = deviations.find_cheapest(cell, need * (1 + MARGIN))
        if cheapest is not None:
            deviations.hide(np.flatnonzero(np.abs(cheapest) > NEGLIGIBLE))
    missed = [cell for cell, need in asked if _rise_of(deviations, cell, need) < need]
    hidden = (deviations.is_hidden & ~deviations.is_open)[deviations.place]
    return hidden, deviations.order[np.array(missed, dtype=np.int64)]


def _rise_of(deviations: Deviations, cell: int, need: float) -> float:
    """By how much a sum may be larger, as far as it is asked."""
    found = deviations.widen(np.array([cell]), 1, np.array([need * (1 + MARGIN / 2)]))
    return 0.0 if found is None else float(found[cell])


class GreedyChoice:
    """The choice of secondary cells for the unsafe ones, `primary`, each of which needs a width."""

    def __init__(self, deviations: Deviations, primary: Integers, width: float) -> None:
        self.deviations, self.width = deviations, width
        self.members_of_cells = deviations.members.T.tocsr()
        self.primary = primary[np.lexsort((primary, deviations.losses[primary]))]  # the smallest first

    def hide_cells(self) -> None:
        """Hide what makes one unsafe cell after another wide enough."""
        deviations = self.deviations
        deviations.hide(self.primary)
        self._widen_together(self.primary)
        for cell in self.primary.tolist():
            for more in range(MORE):
                if self._is_protected(cell):
                    break
                low = deviations.low[cell]
                found = deviations.find_cheapest(cell, self.width + low + more)
                if found is None:
                    break
                deviations.hide(np.flatnonzero(np.abs(found) > WHOLE))
                deviations.prove(cell, self.width + low + more, found)

    def _open(self, cells: Integers) -> Integers:
        return cells[self.deviations.widths[cells] < self.width]

    def _widen_together(self, cells: Integers) -> None:
        """Widen all open cells at once, which settles most of them by a few programmes."""
        for sign in (1, -1, 1, -1):
            if len(still := self._open(cells)):
                self.deviations.widen(still, sign, np.full(len(still), self.width))

    def _is_protected(self, cell: int) -> bool:
        """Whether two tables of whole numbers differ by the width at a cell."""
        deviations, own = self.deviations, np.array([cell])
        extremes = []
        for sign in (-1, 1):
            if not len(self._open(own)):
                return True
            found = deviations.widen(own, sign, np.array([self.width]))
            if found is None:
                return False
            extremes.append(found)
        if extremes[1][cell] - extremes[0][cell] < self.width - WHOLE:
            return False
        least = np.ceil(extremes[0][cell] - WHOLE)
        if deviations.low[cell] > least:
            deviations.prove(cell, least, extremes[0])
        if len(self._open(own)):
            deviations.prove(cell, self.width + deviations.low[cell], extremes[1])
        return not len(self._open(own))

    def show_again(self) -> None:
        """Show each secondary cell again, the largest first, if all unsafe cells stay as protected."""
        deviations = self.deviations
        protected = self.primary[deviations.widths[self.primary] >= self.width]
        is_primary = np.zeros(deviations.size, dtype=bool)
        is_primary[self.primary] = True
        secondary = np.flatnonzero(deviations.is_hidden & ~is_primary & ~deviations.is_open)
        until = deviations.programmes + MAX_PROGRAMMES
        for cell in secondary[np.lexsort((secondary, -deviations.costs[secondary]))].tolist():
            if not deviations.is_hidden[cell] or deviations.programmes > until:
                continue
            shown = self._cells_shown_by(cell, is_primary)
            if shown is None:
                continue
            before = deviations.found.copy()
            deviations.show(shown)
            self._widen_together(self._open(protected))
            if not all(self._is_protected(other) for other in self._open(protected).tolist()):
                deviations.hide(shown)
                deviations.restore(before)

    def _cells_shown_by(self, cell: int, is_primary: np.ndarray) -> Integers | None:
        """The cells that can be computed once a cell is shown; None if an unsafe one is among them."""
        members, by_cell = self.deviations.members, self.members_of_cells
        left = np.asarray(members @ self.deviations.is_hidden.astype(np.int64)).astype(np.int64)
        shown, waiting = {cell}, [cell]
        while waiting:
            own = waiting.pop()
            for equation in by_cell.indices[by_cell.indptr[own] : by_cell.indptr[own + 1]].tolist():
                left[equation] -= 1
                if left[equation] != 1:
                    continue
                inside = members.indices[members.indptr[equation] : members.indptr[equation + 1]]
                alone = [
                    each for each in inside[self.deviations.is_hidden[inside]].tolist() if each not in shown
                ]
                if any(is_primary[each] for each in alone):
                    return None
                new = [each for each in alone if not self.deviations.is_open[each]]
                shown.update(new)
                waiting += new
        return np.array(sorted(shown), dtype=np.int64)
