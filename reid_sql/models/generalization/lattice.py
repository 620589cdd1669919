"""The lattice of a table's coarser forms, and what each form loses.

The distinct records of a coarser form are grouped from those of a finer one, never counted anew. Losses are
non-uniform entropy, discernibility and average class size, each of the records that stay; a record that is
removed loses everything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import le
from typing import Final

import numpy as np

from reid_sql.parameters import Choice, Flags, Floats, Integers

Node = tuple[int, ...]  # a level for each column
MAX_KEY: Final = 2**62  # what a key of 64 bits holds
MAX_DENSE_KEYS: Final = 2**22  # keys that are counted in an array of their own rather than sorted
MAX_REPEATED: Final = (
    2  # records a row, up to which sorting the records is faster than sorting rows with their place
)
MAX_CACHED_CODES: Final = 2**24  # codes that folded forms may hold together
MAX_CACHED_FORMS: Final = 100  # folded forms that are kept, at most
LOSS_LABELS: Final = {
    "entropy": "non-uniform entropy",
    "discernibility": "discernibility",
    "class_size": "average class size",
}
LOSS: Final = Choice(tuple(LOSS_LABELS))


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
        mapped = np.zeros(self.sizes[start], dtype=np.int64)
        mapped[self.codes[start]] = self.codes[end]
        return mapped

    def count_records(self, level: int) -> Integers:
        """Give the records that have each code of the level."""
        return np.bincount(self.codes[level], self.records, self.sizes[level]).astype(np.int64)


@dataclass(frozen=True)
class DistinctRecords:
    """Distinct records at a node: a row of codes for each column, and the records that have each."""

    codes: Integers  # (columns, classes)
    counts: Integers  # (classes,)


class Lattice:
    """Distinct records of some columns, and their forms at any node; level 0 is the table as it is.

    >>> age = LevelCodes((np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])), np.array([2, 1, 1]))
    >>> lattice = Lattice([age], DistinctRecords(np.array([[0, 1, 2]]), np.array([2, 1, 1])))
    >>> lattice.shape, lattice.records_at((1,)).counts.tolist()
    ((3,), [3, 1])
    """

    def __init__(
        self,
        level_codes: Sequence[LevelCodes],
        distinct: DistinctRecords,
        weights: Sequence[float] | None = None,
        limits: Sequence[int] | None = None,
    ) -> None:
        """Take the columns' level_codes, the distinct records by the codes of level 0, and the weights.

        A weight is how much a bit of the column counts in the entropy; 1 by default. A limit is the coarsest
        level that a node may have; losses are still shares of what leaving all columns out loses.
        """
        self.level_codes = tuple(level_codes)
        self.weights = (1.0,) * len(self.level_codes) if weights is None else tuple(weights)
        self.shape: Node = tuple(
            len(each.codes) if limits is None else limits[at] + 1
            for at, each in enumerate(level_codes)
        )
        self.records = int(distinct.counts.sum())
        self._bottom: Node = (0,) * len(self.shape)
        self._folded = {self._bottom: distinct}

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return prod(self.shape)

    @property
    def distinct_records(self) -> int:
        """How many distinct records the table has."""
        return len(self._folded[self._bottom].counts)

    @property
    def top(self) -> Node:
        """The coarsest node: every column is left out, or at its limit."""
        return tuple(levels - 1 for levels in self.shape)

    def records_at(self, node: Node) -> DistinctRecords:
        """Give the distinct records at a node, folded from the fewest that are known below it."""
        if node not in self._folded:
            self._keep(node, group_records(*self._unfolded(node)))
        return self._folded[node]

    def class_sizes_at(self, node: Node) -> Integers:
        """Give the records in each class at a node; the classes themselves are not kept."""
        folded = self._folded.get(node)
        return class_sizes(*self._unfolded(node)) if folded is None else folded.counts

    def _unfolded(self, node: Node) -> tuple[list[Integers], list[int], Integers]:
        """Give the codes at a node from the fewest rows that are counted below it."""
        below = [each for each in self._folded if all(map(le, each, node))]
        return self._codes_from(min(below, key=lambda each: len(self._folded[each].counts)), node)

    def codes_at(self, node: Node) -> tuple[list[Integers], list[int], Integers]:
        """Give the codes of all distinct records at a node, how many each column has, and the counts."""
        return self._codes_from(self._bottom, node)

    def _codes_from(self, start: Node, node: Node) -> tuple[list[Integers], list[int], Integers]:
        finer = self._folded[start]
        codes = [
            finer.codes[at]
            if low == high
            else self.level_codes[at].upwards(low, high)[finer.codes[at]]
            for at, (low, high) in enumerate(zip(start, node, strict=True))
        ]
        sizes = [self.level_codes[at].sizes[level] for at, level in enumerate(node)]
        return codes, sizes, finer.counts

    def _keep(self, node: Node, folded: DistinctRecords) -> None:
        """Remember a form, and forget the oldest ones where there are too many."""
        self._folded[node] = folded
        cached = sum(each.codes.size for each in self._folded.values())
        for old in list(self._folded):
            if cached <= MAX_CACHED_CODES and len(self._folded) <= MAX_CACHED_FORMS:
                return
            if old not in (self._bottom, node):
                cached -= self._folded.pop(old).codes.size


def group_records(
    codes: Sequence[Integers], sizes: Sequence[int], counts: Integers
) -> DistinctRecords:
    """Count records by their codes."""
    if prod(sizes) <= max(MAX_DENSE_KEYS, len(counts)):
        # In doubles, exact to 2**53 records
        counted = np.bincount(combine_codes(codes, sizes), counts, prod(sizes))
        present = np.flatnonzero(counted)
        return DistinctRecords(
            np.array(np.unravel_index(present, sizes)), counted[present].astype(np.int64)
        )
    key = combine_codes(codes, sizes)
    order = np.argsort(key)  # equal keys have equal codes, so that their order is no matter
    ranked = key[order]
    starts = _starts(ranked)
    first = order[starts]
    return DistinctRecords(
        np.array([each[first] for each in codes]), np.add.reduceat(counts[order], starts)
    )


def class_sizes(codes: Sequence[Integers], sizes: Sequence[int], counts: Integers) -> Integers:
    """Count records by their codes, without the codes: half the time where nearly all rows are distinct.

    >>> class_sizes([np.array([0, 1, 0]), np.array([7, 2, 7])], [2, 8], np.array([1, 1, 3])).tolist()
    [4, 1]
    """
    key, records = combine_codes(codes, sizes), int(counts.sum())
    if prod(sizes) <= max(MAX_DENSE_KEYS, len(counts)):
        counted = np.bincount(key, counts, prod(sizes))
        return counted[counted > 0].astype(np.int64)
    if records <= MAX_REPEATED * len(counts):
        starts = _starts(np.sort(np.repeat(key, counts)))
        return np.diff(starts, append=records)
    order = np.argsort(key)
    return np.asarray(np.add.reduceat(counts[order], _starts(key[order])))


def count_sizes(sizes: Integers) -> tuple[Integers, Integers]:
    """Give each size that occurs, and how many classes have it."""
    if sizes.max(initial=0) > MAX_DENSE_KEYS:
        return np.unique(sizes, return_counts=True)
    classes = np.bincount(sizes)
    present = np.flatnonzero(classes)
    return present, classes[present]


def _starts(ranked: Integers) -> Integers:
    """Where each value of a sorted array begins."""
    return np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))


def combine_codes(codes: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """Make one number of each row's codes; where there are too many numbers, of those that occur."""
    key, many = np.zeros(len(codes[0]), dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if many * size > MAX_KEY:
            values, key = np.unique(key, return_inverse=True)
            many = len(values)
        key = key * size + code
        many *= size
    return key


def box(node: Node, *, above: bool) -> tuple[slice, ...]:
    """Give the nodes at least as coarse as this one, or at most, as a part of an array over all nodes."""
    return tuple(slice(level, None) if above else slice(0, level + 1) for level in node)


def outer_sum(parts: Sequence[Floats]) -> Floats:
    """Add a number for each column's level, for every node."""
    total = np.zeros(tuple(len(each) for each in parts))
    for at, each in enumerate(parts):
        total += each.reshape([-1 if axis == at else 1 for axis in range(len(parts))])
    return total


class Loss(ABC):
    """A loss on a lattice; `base` is the least loss of each node.

    `is_predictable` says that a node loses its base, but for what is taken away.
    """

    is_predictable = False

    def __init__(self, lattice: Lattice) -> None:
        """Take the lattice on which forms lose."""
        self.lattice = lattice

    @cached_property
    def base(self) -> Floats:
        """The least loss of each node, whatever is removed; 0 where it is known once a node is counted."""
        return np.zeros(self.lattice.shape)

    @abstractmethod
    def of(self, node: Node, classes: DistinctRecords, gone: Flags) -> float:
        """The loss of a node without the removed classes."""

    def bound_coarser(self, classes: DistinctRecords, suppressible: int) -> float:  # noqa: ARG002 - not every loss has a bound
        """Lower bound of the loss of every coarser form."""
        return 0.0

    def extra_loss(
        self,
        node: Node,  # noqa: ARG002 - same
        classes: DistinctRecords,  # noqa: ARG002 - same
        unsavable: Flags,  # noqa: ARG002 - same
    ) -> float:
        """Loss of every finer form above its base, where no record of these classes can remain."""
        return 0.0


class Entropy(Loss):
    """Bits of information that the values lose in their coarser form, as a share of all of them.

    Σ log2(N(coarse)/N(value)) over columns and records, by the records N that hold each; a record that is
    taken away loses log2(N/N(value)) in every column. 0 is the table as it is, 1 nothing left. Source: De
    Waal & Willenborg 1999 (entropy); Gionis & Tassa 2009 (non-uniform). With weights, each bit counts as much
    as its column.
    """

    is_predictable = True

    @cached_property
    def columns(self) -> tuple[Floats, ...]:
        """The weighted bits that each column loses at each of its levels."""
        return tuple(
            weight
            * np.array(
                [
                    _bits(column.count_records(0)) - _bits(column.count_records(level))
                    for level in range(len(column.codes))
                ]
            )
            for column, weight in zip(self.lattice.level_codes, self.lattice.weights, strict=True)
        )

    @cached_property
    def whole(self) -> float:
        """All bits of the columns."""
        return float(sum(each[-1] for each in self.columns)) or 1.0

    @cached_property
    def base(self) -> Floats:
        """The least loss of each node: nothing removed."""
        return outer_sum(
            [lost[:levels] for lost, levels in zip(self.columns, self.lattice.shape, strict=True)]
        ) / (self.whole)

    def of(self, node: Node, classes: DistinctRecords, gone: Flags) -> float:
        """The loss of a node without the removed classes."""
        return self.least(node) + self.extra_loss(node, classes, gone)

    def least(self, node: Node) -> float:
        """The base of one node; a large lattice has no memory for that of every node."""
        return (
            float(sum(lost[level] for lost, level in zip(self.columns, node, strict=False)))
            / self.whole
        )

    def extra_loss(self, node: Node, classes: DistinctRecords, unsavable: Flags) -> float:
        """Bits left to lose in these classes; a finer form has more to lose in their records."""
        cells = np.broadcast_to(unsavable, classes.codes.shape)
        return self.of_cells(node, classes, cells) if unsavable.any() else 0.0

    def of_cells(self, node: Node, classes: DistinctRecords, blank: Flags) -> float:
        """Bits left to lose in these cells of the classes."""
        left = np.zeros(len(classes.counts))
        for column, weight, level, codes, lost in zip(
            self.lattice.level_codes, self.lattice.weights, node, classes.codes, blank, strict=True
        ):
            records = np.maximum(column.count_records(level), 1)
            left[lost] += weight * np.log2(self.lattice.records / records)[codes[lost]]
        return float(classes.counts @ left) / self.whole


def _bits(records: Integers) -> float:
    """Bits of information of the codes over all records: Σ n log2(N/n)."""
    present = records[records > 0].astype(np.float64)
    return float(present @ np.log2(present.sum() / present))


class Discernibility(Loss):
    """Pairs of equal records, Σ n² over classes; a removed record counts as equal to all N others.

    As a share of N². Source: Bayardo & Agrawal 2005, eq. 1.
    """

    def of(self, node: Node, classes: DistinctRecords, gone: Flags) -> float:  # noqa: ARG002 - as all
        """The loss of a node without the removed classes."""
        kept = classes.counts[~gone].astype(np.float64)
        suppressed = self.lattice.records - kept.sum()
        return float(kept @ kept + suppressed * self.lattice.records) / self.lattice.records**2

    def extra_loss(
        self,
        node: Node,  # noqa: ARG002 - as all
        classes: DistinctRecords,
        unsavable: Flags,
    ) -> float:
        """Loss of every finer form by the removed records: as much, or more."""
        return float(classes.counts[unsavable].sum()) / self.lattice.records

    def bound_coarser(self, classes: DistinctRecords, suppressible: int) -> float:  # noqa: ARG002 - as every loss
        """Lower bound for coarser forms: classes only grow, and none is larger than the table."""
        counts = classes.counts.astype(np.float64)
        return float(counts @ counts) / self.lattice.records**2


class ClassSize(Loss):
    """Records per class among the remaining ones, as a share of all records. Source: LeFevre et al. 2006."""

    def of(self, node: Node, classes: DistinctRecords, gone: Flags) -> float:  # noqa: ARG002 - as all
        """The loss of a node without the removed classes."""
        return float(classes.counts[~gone].mean()) / self.lattice.records

    def bound_coarser(self, classes: DistinctRecords, suppressible: int) -> float:
        """Lower bound for coarser forms: no more classes, of hardly fewer records."""
        return (self.lattice.records - suppressible) / len(classes.counts) / self.lattice.records


LOSSES: Final[dict[str, Callable[[Lattice], Loss]]] = dict(
    zip(LOSS_LABELS, (Entropy, Discernibility, ClassSize), strict=True)
)


def make_loss(word: str, lattice: Lattice) -> Loss:
    """The loss of this name on the lattice."""
    return LOSSES[LOSS.check("loss", word)](lattice)
