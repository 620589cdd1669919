"""Other tables that differ in the corners of one hypercube of cells: sums of arrays, without a programme.

If each category of a cell is replaced by another one, in every combination, 2^d cells change. Where signs
alternate, all totals stay as they are (Giessing & Repsilber 2002). A category may be replaced by its total,
which then changes as its part does. Columns that are levels of one hierarchy are one direction: a person who
moves from a town to another changes the towns, and the regions too if these differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import Final

import numpy as np

from reid_sql.parameters import Floats, Integers

MAX_CORNERS: Final = 200_000  # of all hypercubes that are compared for a cell
MOST_CORNERS: Final = 256  # of each hypercube
FINEST: Final = 3  # categories below a total of a hierarchy that are tried


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
    """What else changes in one direction: what is added to the key and layout of a cell, and the sign.

    Each is of shape (cells that change, choices); a sign of 0 is of no cell.
    """

    keys: Integers
    layouts: Integers
    signs: Integers

    def choose(self, places: Integers) -> "Axis":
        """Some of the choices."""
        return Axis(self.keys[:, places], self.layouts[:, places], self.signs[:, places])


@dataclass(frozen=True)
class Hierarchy:
    """The columns of one direction, the coarsest first, with the finest categories, and totals above each."""

    columns: list[int]
    codes: Integers  # (categories, levels)
    keys: Integers  # (categories, levels + 1): of the total, and of each level
    layouts: Integers  # (levels + 1,)

    def axis(self, categories: Integers, finest: Integers) -> Axis:
        """Replace a category by each other one, or by nothing; one that has parts, with one of `finest`."""
        depth, levels = int((categories > 0).sum()), len(self.columns)
        if not depth:  # the total of all: it changes as its parts do
            keys = (self.keys[finest, 1:] - self.keys[finest, :1]).T
            layouts = (self.layouts[1:] - self.layouts[0])[:, None] + np.zeros_like(keys)
            return Axis(keys, layouts, np.ones_like(keys))
        choices = [self._replace(one, depth, levels) for one in finest]
        return Axis(*(np.concatenate(each, axis=1) for each in zip(*choices, strict=True)))

    def below(self, categories: Integers) -> Integers:
        """The finest categories of a category."""
        depth = int((categories > 0).sum())
        return np.flatnonzero((self.codes[:, :depth] == categories[:depth]).all(axis=1))

    def _replace(self, one: int, depth: int, levels: int) -> tuple[Integers, Integers, Integers]:
        shared = np.cumprod(self.codes == self.codes[one], axis=1).sum(axis=1)  # levels above both
        different = np.flatnonzero(shared < depth)
        # first, nothing in its place: all totals change
        shared = np.concatenate([[0], shared[different]])
        keys, layouts, signs = [], [], []
        for level in range(1, levels + 1):
            if level != depth:
                keys.append(np.full(len(shared), self.keys[one, level]))
                layouts.append(np.full(len(shared), self.layouts[level]))
                signs.append((level > shared).astype(np.int64))
            first = (self.keys[one, 0], self.layouts[0], 1) if level == 1 else (0, 0, 0)
            keys.append(np.concatenate([[first[0]], self.keys[different, level]]))
            layouts.append(
                np.concatenate([[first[1]], np.full(len(different), self.layouts[level])])
            )
            signs.append(np.concatenate([[first[2]], -(level > shared[1:]).astype(np.int64)]))
        return (
            np.stack(keys) - self.keys[one, depth],
            np.stack(layouts) - self.layouts[depth],
            np.stack(signs),
        )


class Hypercubes:
    """The cells of a table by their categories, 0 for a total; all arrays are by cell."""

    def __init__(
        self, codes: Integers, losses: Floats, hierarchies: Sequence[Sequence[int]]
    ) -> None:
        """Cells are found by a sum of random numbers, one for each category; `losses` are as in `Changes`.

        `hierarchies` are columns that are levels of one, the coarsest first.
        """
        self.codes, self.columns, self.size = codes, codes.shape[1], len(codes)
        nested = {column for each in hierarchies for column in each}
        directions = [
            *map(list, hierarchies),
            *([c] for c in range(self.columns) if c not in nested),
        ]
        self.corners = prod(2 * len(each) for each in directions)
        self.can_be_asked = self.corners <= MOST_CORNERS
        if not self.can_be_asked:
            return
        self.factors: Integers = np.random.default_rng(1).integers(1, 2**62, (self.columns,))
        keys = codes @ self.factors
        self.places = np.argsort(keys, kind="stable")
        self.keys = keys[self.places]
        # Behind the cells: one that nobody is in, one of a total that the table does not show, and none.
        self.losses = np.concatenate([losses, [0.0, inf, inf]])
        self.ends = np.array([inf, 0.0, 0.0])
        self.bits = 2 ** np.arange(self.columns)
        self.is_shown = np.zeros(2**self.columns, dtype=bool)
        self.is_shown[(codes == 0) @ self.bits] = True
        self.hierarchies = []
        for columns in directions:
            finest = codes[:, columns]
            finest = np.unique(finest[(finest > 0).all(axis=1)], axis=0)
            # levels of each depth
            above = np.tril(np.ones((len(columns) + 1, len(columns)), dtype=np.int64), -1)
            keys_of_depths = (finest[:, None, :] * above) @ self.factors[columns]
            layouts = (1 - above) @ self.bits[columns]
            self.hierarchies.append(Hierarchy(columns, finest, keys_of_depths, layouts))

    def _find(self, keys: Integers, layouts: Integers) -> Integers:
        at = np.minimum(np.searchsorted(self.keys, keys), self.size - 1)
        missing = np.where(self.is_shown[layouts], self.size, self.size + 1)
        return np.where(self.keys[at] == keys, self.places[at], missing)

    def of_cell(self, cell: int, costs: Floats) -> Corners | None:
        """Compare the hypercubes of a cell, if each corner costs as much; None where there are none."""
        if not self.can_be_asked:
            return None
        costs = np.concatenate([costs, self.ends])
        axes = [self._replace(cell, each, costs) for each in self.hierarchies]
        if not all(axis.keys.shape[1] for axis in axes):
            return None
        has_gaps = any((axis.signs == 0).any() for axis in axes)
        shape = tuple(axis.keys.shape[1] for axis in axes)
        place = self._place_of(cell)
        total, up, down = np.zeros(shape), np.full(shape, inf), np.full(shape, self.losses[cell])
        corners, signs = [np.full(shape, cell)], [np.ones(shape, dtype=np.int64)]
        for chosen in product(*(range(-1, len(axis.keys)) for axis in axes)):
            if max(chosen) < 0:  # the cell itself
                continue
            keys, layouts, sign = _corner(place, axes, chosen)
            at = self._find(keys, layouts)
            if has_gaps:
                at = np.where(sign == 0, self.size + 2, at)
            total = total + costs[at]
            up = np.minimum(up, np.where(sign < 0, self.losses[at], inf))
            down = np.minimum(down, np.where(sign > 0, self.losses[at], inf))
            corners.append(np.broadcast_to(at, shape))
            signs.append(np.broadcast_to(sign, shape))
        cells, flat = (np.stack([each.ravel() for each in arrays]) for arrays in (corners, signs))
        return Corners(total.ravel(), up.ravel(), down.ravel(), cells, flat, self.size)

    def _place_of(self, cell: int) -> tuple[int, int]:
        return int(self.codes[cell] @ self.factors), int((self.codes[cell] == 0) @ self.bits)

    def _replace(self, cell: int, hierarchy: Hierarchy, costs: Floats) -> Axis:
        """The choices of one direction, the cheapest first."""
        key, layout = self._place_of(cell)
        categories = self.codes[cell, hierarchy.columns]
        finest = hierarchy.below(categories)
        if len(finest) > FINEST and not (categories > 0).all() and len(hierarchy.columns) > 1:
            depth = int((categories > 0).sum())
            at = self._find(
                key + hierarchy.keys[finest, -1] - hierarchy.keys[finest, depth],
                layout + hierarchy.layouts[-1] - hierarchy.layouts[depth] + np.zeros_like(finest),
            )
            finest = finest[np.argsort(costs[at], kind="stable")[:FINEST]]
        axis = hierarchy.axis(categories, finest)
        at = np.where(
            axis.signs == 0, self.size + 2, self._find(key + axis.keys, layout + axis.layouts)
        )
        costs_of_choices = costs[at].sum(axis=0)
        most = MAX_CORNERS / self.corners
        is_large = prod(len(each.codes) + 1 for each in self.hierarchies) > most
        longest = (
            max(2, int(most ** (1 / len(self.hierarchies)))) if is_large else len(costs_of_choices)
        )
        order = np.argsort(costs_of_choices, kind="stable")[
            : min(longest, int(np.isfinite(costs_of_choices).sum()))
        ]
        return axis.choose(order)


def _corner(
    place: tuple[int, int], axes: Sequence[Axis], chosen: Sequence[int]
) -> tuple[Integers, Integers, Integers]:
    """The keys, layouts and signs of one corner of all hypercubes; a row of -1 moves along no axis."""
    keys, layouts, sign = np.array(place[0]), np.array(place[1]), np.array(1)
    for at, (axis, row) in enumerate(zip(axes, chosen, strict=True)):
        if row >= 0:
            turned = [-1 if other == at else 1 for other in range(len(axes))]
            keys = keys + axis.keys[row].reshape(turned)
            layouts = layouts + axis.layouts[row].reshape(turned)
            sign = sign * axis.signs[row].reshape(turned)
    return keys, layouts, sign
