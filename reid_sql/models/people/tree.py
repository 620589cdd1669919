"""A tree of pairs: each column depends on one other, chosen so that the pairs' gains add up to the most.

Source: Chow & Liu 1968, with gains by leave-one-out likelihood. q(x) = Π p(x_j | x_parent) is exact, adds up
to 1, and is drawn from in one pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.marginals.column import Column
from reid_sql.models.people.conditional import Conditional, PairBins, fit_conditional, pair_bins
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.parameters import Floats

MOST_BINS: Final = 256
CELLS_OF_ALL_PAIRS: Final = 1 << 26  # of which each pair gets its part, so that memory stays bounded
ROOT: Final = -1


@dataclass(frozen=True)
class Chances:
    """A table of chances as a kept file has it."""

    log_chance: Floats  # (parent bins, child bins)


@dataclass(frozen=True)
class Tree:
    """Columns by number: the parent of each (−1: none), the order from roots on, chances given the parent."""

    columns: tuple[Column, ...]
    parents: tuple[int, ...]
    order: tuple[int, ...]
    chances: Mapping[int, Conditional | Chances]  # by child

    def log_q(self, codes: Integers) -> Floats:
        """Ln q of records of codes, (records, columns)."""
        found = np.zeros(len(codes))
        for j, column in enumerate(self.columns):
            if self.parents[j] == ROOT:
                found += column.log_share[codes[:, j]]
            else:
                found += self.chances[j].log_chance[self._bins(self.parents[j], codes), self._bins(j, codes)]
                found += column.log_within[codes[:, j]]
        return found

    def log_q_left_out(self, codes: Integers, size: Integers | int = 1) -> Floats:
        """The same for records of the sample, each as if its pairs, or those of its class, were not in it."""
        found = np.zeros(len(codes))
        for j, column in enumerate(self.columns):
            if self.parents[j] == ROOT:
                found += column.log_left_out[codes[:, j]]
            else:
                fitted, at = self.chances[j], (self._bins(self.parents[j], codes), self._bins(j, codes))
                assert isinstance(fitted, Conditional)  # noqa: S101  # a kept file has no counts to leave out
                found += fitted.log_left_out(*at, size) + column.log_within_left_out[codes[:, j]]
        return found

    def draw(self, count: int, rng: np.random.Generator) -> Integers:
        """Codes of records drawn from the tree, (count, columns)."""
        codes = np.zeros((count, len(self.columns)), dtype=np.int64)
        for j in self.order:
            column, parent = self.columns[j], self.parents[j]
            chance = rng.random(count)
            if parent == ROOT:
                bins = np.searchsorted(_cumulated(column.bin_mass), chance, side="right")
            else:
                table = self._cumulated[j]
                rows = self._bins(parent, codes)
                bins = np.searchsorted(table, rows + chance, side="right") - rows * len(column.bin_mass)
            codes[:, j] = column.of_bins(bins, rng)
        return codes

    def drawn_log_q(self, count: int, rng: np.random.Generator) -> Floats:
        """Ln q of records drawn from the tree, values that fit nowhere else each of a rarity of its own."""
        codes = self.draw(count, rng)
        return self.log_q(codes) + log_rarity(self.columns, codes, rng)

    def _bins(self, column: int, codes: Integers) -> Integers:
        return np.asarray(self.columns[column].bins[codes[:, column]])

    @cached_property
    def _cumulated(self) -> dict[int, Floats]:
        """Cumulated chances of all rows one after another, row r within r and r + 1."""
        found = {}
        for j, chance in self.chances.items():
            rows = np.cumsum(np.exp(chance.log_chance), axis=1)
            rows = np.minimum(rows / rows[:, -1:], 1.0)
            rows[:, -1] = 1.0
            found[j] = (rows + np.arange(len(rows))[:, None]).ravel()
        return found


def log_rarity(columns: Sequence[Column], codes: Integers, rng: np.random.Generator) -> Floats:
    """Draw how rare records of codes are beside what their categories say, as a logarithm."""
    return np.asarray(sum(column.log_rarity(own, rng) for column, own in zip(columns, codes.T, strict=True)))


class PairTables:
    """Every two columns' pairs in bins, their fitted chances both ways, and the gains."""

    def __init__(self, columns: Sequence[Column], evidence: PeopleEvidence) -> None:
        self.columns = tuple(columns)
        self.gains = np.zeros((len(columns), len(columns)))  # (parent, child)
        self._pairs: dict[tuple[int, int], PairBins] = {}
        self._kept: dict[tuple[int, int], Conditional] = {}
        for (i, j), (first, second, counts) in evidence.pairs.items():
            pairs = pair_bins(columns[i], columns[j], (first, second), counts)
            self._pairs[i, j], self._pairs[j, i] = pairs, pairs.turned
            of_all = evidence.records / counts.sum()  # where a part of the records was counted
            for parent, child in ((i, j), (j, i)):
                self.gains[parent, child] = self.chance(parent, child).gain * of_all

    def chance(self, parent: int, child: int) -> Conditional:
        """Fit the chances of the child given the parent, once where memory allows."""
        if (parent, child) in self._kept:
            return self._kept[parent, child]
        one, other = self.columns[parent], self.columns[child]
        found = fit_conditional(one, other, self._pairs[parent, child])
        if sum(len(c.prior) * len(c.smoothed.own_row) for c in self._kept.values()) < CELLS_OF_ALL_PAIRS // 4:
            self._kept[parent, child] = found
        return found

    def tree(self, among: Sequence[int] | None = None) -> Tree:
        """Span the tree over these columns, or all; an edge stays where it gains."""
        places = list(range(len(self.columns)) if among is None else among)
        gains = self.gains[np.ix_(places, places)]
        chances: dict[int, Conditional] = {}
        parents = [ROOT] * len(places)
        order = spanned((gains + gains.T) / 2)
        for parent, child in order:
            if parent != ROOT and gains[parent, child] > 0:
                parents[child] = parent
                chances[child] = self.chance(places[parent], places[child])
        columns = tuple(self.columns[place] for place in places)
        return Tree(columns, tuple(parents), tuple(child for _, child in order), chances)


def spanned(gains: Floats) -> list[tuple[int, int]]:
    """Edges (parent, child) of the spanning tree of most gain, from the column of most gain on.

    The column that it is grown from has −1 for its own parent.

    >>> spanned(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]]))
    [(-1, 1), (1, 0), (1, 2)]
    """
    root = int(np.argmax(gains.sum(axis=1)))
    edges, best, source = [(ROOT, root)], gains[root].copy(), np.full(len(gains), root)
    best[root] = -np.inf
    for _ in range(len(gains) - 1):
        child = int(np.argmax(best))
        edges.append((int(source[child]), child))
        better = (gains[child] > best) & (best > -np.inf)
        source[better], best[better] = child, gains[child][better]
        best[child] = -np.inf
    return edges


def most_bins(columns: int) -> int:
    """Bins that a column may have, so that all pairs' tables stay bounded.

    >>> most_bins(10), most_bins(64)
    (256, 182)
    """
    pairs = max(columns * (columns - 1) // 2, 1)
    return int(min(MOST_BINS, (CELLS_OF_ALL_PAIRS / pairs) ** 0.5))


def _cumulated(masses: Floats) -> Floats:
    found = np.cumsum(masses)
    found[-1] = np.inf
    return np.asarray(found)
