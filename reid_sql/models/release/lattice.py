"""The lattice of a table's coarser forms: distinct records, folded upwards, never counted anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import le
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.parameters import Floats, Integers

Node = tuple[int, ...]  # a level for each column
WORD: Final = 2**62  # what a key of 64 bits holds
DENSE: Final = 2**22  # keys that are counted in an array of their own rather than sorted
KEPT: Final = 2**24  # codes that folded forms may hold together
FORMS: Final = 100  # folded forms that are kept, at most


@dataclass(frozen=True)
class LevelCodes:
    """A column: for each level the code of every value, and for each value its records.

    The codes of a level are 0, 1, …; values of one code at a level have one code at every later level.
    """

    codes: tuple[Integers, ...]  # levels of (values,)
    records: Integers  # (values,)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each level has."""
        return tuple(int(level.max()) + 1 for level in self.codes)

    def upwards(self, start: int, end: int) -> Integers:
        """Give the code at the later level for each code of the earlier one."""
        found = np.zeros(self.sizes[start], dtype=np.int64)
        found[self.codes[start]] = self.codes[end]
        return found

    def held(self, level: int) -> Integers:
        """Give the records that hold each code of the level."""
        return np.bincount(self.codes[level], self.records, self.sizes[level]).astype(np.int64)


@dataclass(frozen=True)
class Folded:
    """Distinct records at a node: a row of codes for each column, and the records that hold each."""

    codes: Integers  # (columns, classes)
    counts: Integers  # (classes,)


class Lattice:
    """Distinct records of some columns, and their forms at any node; level 0 is the table as it is.

    >>> age = LevelCodes((np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])), np.array([2, 1, 1]))
    >>> lattice = Lattice([age], Folded(np.array([[0, 1, 2]]), np.array([2, 1, 1])))
    >>> lattice.shape, lattice.folded((1,)).counts.tolist()
    ((3,), [3, 1])
    """

    def __init__(self, level_codes: Sequence[LevelCodes], distinct: Folded) -> None:
        """Take the columns' level_codes, and the distinct records by the codes of level 0."""
        self.level_codes = tuple(level_codes)
        self.shape: Node = tuple(len(each.codes) for each in level_codes)
        self.records = int(distinct.counts.sum())
        self._bottom: Node = (0,) * len(self.shape)
        self._folded = {self._bottom: distinct}

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return prod(self.shape)

    @property
    def top(self) -> Node:
        """The node at which every column is left out."""
        return tuple(levels - 1 for levels in self.shape)

    def folded(self, node: Node) -> Folded:
        """Give the distinct records at a node, folded from the fewest that are known below it."""
        if node not in self._folded:
            below = [each for each in self._folded if all(map(le, each, node))]
            start = min(below, key=lambda each: len(self._folded[each].counts))
            self._keep(node, self._upwards(start, node))
        return self._folded[node]

    def _keep(self, node: Node, found: Folded) -> None:
        """Remember a form, and forget the oldest ones where there are too many."""
        self._folded[node] = found
        held = sum(each.codes.size for each in self._folded.values())
        for old in list(self._folded):
            if held <= KEPT and len(self._folded) <= FORMS:
                return
            if old not in (self._bottom, node):
                held -= self._folded.pop(old).codes.size

    def _upwards(self, start: Node, end: Node) -> Folded:
        known = self._folded[start]
        codes = [
            known.codes[at] if low == high else self.level_codes[at].upwards(low, high)[known.codes[at]]
            for at, (low, high) in enumerate(zip(start, end, strict=True))
        ]
        sizes = [self.level_codes[at].sizes[level] for at, level in enumerate(end)]
        return _grouped(codes, sizes, known.counts)


def _grouped(codes: Sequence[Integers], sizes: Sequence[int], counts: Integers) -> Folded:
    """Count records by their codes."""
    if prod(sizes) <= max(DENSE, len(counts)):
        held = np.bincount(keyed(codes, sizes), counts, prod(sizes))  # doubles, exact to 2**53 records
        present = np.flatnonzero(held)
        return Folded(np.array(np.unravel_index(present, sizes)), held[present].astype(np.int64))
    key = keyed(codes, sizes)
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    first = order[starts]
    return Folded(np.array([each[first] for each in codes]), np.add.reduceat(counts[order], starts))


def keyed(codes: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Make one number of each row's codes; where there are too many numbers, of those that occur."""
    key, many = np.zeros(len(codes[0]), dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if many * size > WORD:
            values, key = np.unique(key, return_inverse=True)
            many = len(values)
        key = key * size + code
        many *= size
    return key


def box(node: Node, *, above: bool) -> tuple[slice, ...]:
    """Give the nodes at least as coarse as this one, or at most, as a part of an array over all nodes."""
    return tuple(slice(level, None) if above else slice(0, level + 1) for level in node)


def outer_sum(parts: Sequence[Floats]) -> NDArray[np.float64]:
    """Add a number for each column's level, for every node."""
    total = np.zeros(tuple(len(each) for each in parts))
    for at, each in enumerate(parts):
        total += each.reshape([-1 if axis == at else 1 for axis in range(len(parts))])
    return total
