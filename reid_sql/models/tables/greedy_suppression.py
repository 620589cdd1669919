"""Secondary cells one after another: hide the cheapest that protect, then show those that are not needed."""

from typing import Final

import numpy as np

from reid_sql.models.tables.deviations import Deviations
from reid_sql.models.tables.programmes import WHOLE
from reid_sql.parameters import Integers

MORE: Final = 3  # people beyond the width that are tried, where whole numbers need more than fractions
MAX_PROGRAMMES: Final = 400  # by which cells are found that may be shown again


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
