"""Other tables that differ in the corners of one hypercube of cells: sums of arrays, without a programme.

If each category of a cell is replaced by another one, in every combination, 2^d cells change. Where signs
alternate, all totals stay as they are (Giessing & Repsilber 2002). A category may be replaced by its total,
which then changes as its part does.
"""

from dataclasses import dataclass
from itertools import combinations
from math import inf, prod
from typing import Final

import numpy as np

from reid_sql.parameters import Floats, Integers

MAX_CORNERS: Final = 200_000  # of all hypercubes that are compared for a cell
MAX_COLUMNS: Final = 8  # of which each hypercube has 256 corners


@dataclass(frozen=True)
class Corners:
    """The hypercubes of one cell: what each costs, how far it moves the cell up and down, and its corners."""

    costs: Floats  # (hypercubes,), infinite for one that does not exist
    up: Floats
    down: Floats
    cells: Integers  # (corners, hypercubes), the cell first
    signs: Integers
    last: int  # of the cells, behind which there are totals that the table does not show

    def near(self, number: int, need: float) -> Integers:
        """The cells of the cheapest hypercubes, and of the cheapest that move the cell as far as it needs."""
        chosen = []
        for costs in (self.costs, np.where(self.up + self.down >= need, self.costs, inf)):
            order = np.argsort(costs, kind="stable")[:number]
            chosen.append(self.cells[:, order[np.isfinite(costs[order])]].ravel())
        cells = np.unique(np.concatenate(chosen))
        return cells[cells < self.last]


@dataclass(frozen=True)
class Axis:
    """What may replace the category of a cell in one column: what is added to its key, and its sign."""

    keys: Integers
    layouts: Integers
    signs: Integers


class Hypercubes:
    """The cells of a table by their categories, 0 for a total; all arrays are by cell."""

    def __init__(self, codes: Integers, losses: Floats) -> None:
        """Cells are found by a sum of random numbers, one for each category; `losses` are as in `Changes`."""
        self.codes, self.columns, self.size = codes, codes.shape[1], len(codes)
        self.can_be_asked = self.columns <= MAX_COLUMNS
        if not self.can_be_asked:
            return
        self.categories: list[Integers] = [np.union1d(0, column) for column in codes.T]
        self.factors: Integers = np.random.default_rng(1).integers(1, 2**62, (self.columns,))
        keys = codes @ self.factors
        self.places = np.argsort(keys, kind="stable")
        self.keys = keys[self.places]
        # Behind the cells: a cell that nobody is in, then one of a total that the table does not show.
        self.losses = np.concatenate([losses, [0.0, inf]])
        self.ends = np.array([inf, 0.0])
        self.bits = 2 ** np.arange(self.columns)
        self.is_shown = np.zeros(2**self.columns, dtype=bool)
        self.is_shown[(codes == 0) @ self.bits] = True
        self.subsets = [
            each for size in range(self.columns + 1) for each in combinations(range(self.columns), size)
        ]

    def _find(self, keys: Integers, layouts: Integers) -> Integers:
        at = np.minimum(np.searchsorted(self.keys, keys), self.size - 1)
        missing = np.where(self.is_shown[layouts], self.size, self.size + 1)
        return np.where(self.keys[at] == keys, self.places[at], missing)

    def of_cell(self, cell: int, costs: Floats) -> Corners | None:
        """Compare the hypercubes of a cell, if each corner costs as much; None where there are none."""
        if not self.can_be_asked:
            return None
        costs = np.concatenate([costs, self.ends])
        axes = [self._replace(cell, place, costs) for place in range(self.columns)]
        if not all(len(axis.keys) for axis in axes):
            return None
        shape = tuple(len(axis.keys) for axis in axes)
        key, layout = self._place_of(cell)
        total, up, down = np.zeros(shape), np.full(shape, inf), np.full(shape, self.losses[cell])
        corners, signs = [np.full(shape, cell)], [np.ones(shape, dtype=np.int64)]
        for subset in self.subsets[1:]:
            keys, layouts, sign = np.array(key), np.array(layout), np.array(1)
            for place in subset:
                turned = [-1 if other == place else 1 for other in range(self.columns)]
                keys = keys + axes[place].keys.reshape(turned)
                layouts = layouts + axes[place].layouts.reshape(turned)
                sign = sign * axes[place].signs.reshape(turned)
            at = self._find(keys, layouts)
            total = total + costs[at]
            up = np.minimum(up, np.where(sign < 0, self.losses[at], inf))
            down = np.minimum(down, np.where(sign > 0, self.losses[at], inf))
            corners.append(np.broadcast_to(at, shape))
            signs.append(np.broadcast_to(sign, shape))
        cells, flat = (np.stack([each.ravel() for each in arrays]) for arrays in (corners, signs))
        return Corners(total.ravel(), up.ravel(), down.ravel(), cells, flat, self.size)

    def _place_of(self, cell: int) -> tuple[int, int]:
        return int(self.codes[cell] @ self.factors), int((self.codes[cell] == 0) @ self.bits)

    def _replace(self, cell: int, place: int, costs: Floats) -> "Axis":
        """The other categories of a column, and its total, the cheapest first."""
        own, categories = int(self.codes[cell, place]), self.categories[place]
        key, layout = self._place_of(cell)
        others = categories[categories != own]
        axis = Axis(
            (others - own) * self.factors[place],
            ((others == 0).astype(np.int64) - int(own == 0)) * self.bits[place],
            np.where((others == 0) | (own == 0), 1, -1),
        )
        found = costs[self._find(key + axis.keys, layout + axis.layouts)]
        most = MAX_CORNERS / 2**self.columns
        is_large = prod(len(each) for each in self.categories) > most
        longest = max(2, int(most ** (1 / self.columns))) if is_large else len(others)
        order = np.argsort(found, kind="stable")[: min(longest, int(np.isfinite(found).sum()))]
        return Axis(axis.keys[order], axis.layouts[order], axis.signs[order])
