"""Every subset of some columns, by its classes, from distinct records as codes.

The subsets are visited depth first, and each refines the classes of the subset on one column less: records
that are alone there stay alone, so they are counted once. Where all are alone, so they are on every superset,
which nothing has to be counted for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import (
    CODE_BYTES,
    KEY_BYTES,
    SPARE_ARRAYS,
    combine_columns,
    require_memory,
    size_smallest,
    sum_reidentifications,
)
from reid_sql.models.classes.partitions import DistinctRecords, Integers, Partition, Refiner
from reid_sql.models.classes.quasi_identifiers import DEFAULT_MEMORY
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Flags, Floats

MAX_SUBSETS: Final = 10_000_000
SUBSET_BYTES: Final = 400  # of the row of a subset, as measured to the answer of an engine
MAX_RECORDS_SQUARED_IN_64_BITS: Final = 3_000_000_000  # the pairs of so many records fit 64 bits
Masks = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class CountedSubsets:
    """What is counted of each subset, smaller subsets first, of one size in the order of the columns.

    `pairs` are ordered pairs of records that are alike, `reidentifications` those to expect, the sum of
    1/size over the records: the classes, where each record is in one. Of people, each by the smallest of
    their classes, the records are people. `unique` are the records of a class of their own, or the people who
    have one. `dropped` are the records that are left out.
    """

    width: int  # columns
    masks: Masks  # (subsets,): the first column is the highest bit
    records: Integers  # (subsets,)
    classes: Integers  # (subsets,)
    reidentifications: Floats  # (subsets,)
    pairs: npt.NDArray[Any]  # (subsets,): of Python's numbers where 64 bits may be too few
    dropped: Integers  # (subsets,)
    unique: Integers  # (subsets,)

    def places(self) -> tuple[Integers, Integers]:
        """The columns of all subsets by place, from 0, one after the other, and where each subset ends."""
        flat, sizes = [], []
        shifts = np.arange(self.width - 1, -1, -1, dtype=np.uint64)
        for start in range(0, len(self.masks), PIECE):
            members = (
                self.masks[start : start + PIECE, np.newaxis] >> shifts & np.uint64(1)
            ).astype(np.bool_)
            flat.append(np.nonzero(members)[1])
            sizes.append(members.sum(axis=1))
        return np.concatenate(flat), np.cumsum(np.concatenate(sizes))

    def subsets(self) -> list[list[int]]:
        """The columns of each subset, by place."""
        flat, ends = self.places()
        return [each.tolist() for each in np.split(flat, ends[:-1])]


PIECE: Final = 1 << 16  # subsets whose columns are listed at once


def count_subsets(columns: int, max_size: int) -> int:
    """Count the subsets of 1 to `max_size` columns; refuse more than one call can count.

    >>> count_subsets(4, 2)
    10
    """
    count = sum(comb(columns, size) for size in range(1, min(max_size, columns) + 1))
    if count > MAX_SUBSETS:
        raise OutOfDomainError(
            f"the number of subsets of the columns must be at most {MAX_SUBSETS}, got {count}; pass fewer columns or a smaller max_size"
        )
    return count


def require_memory_for_subsets(
    distinct: int, columns: int, max_size: int, memory_limit: int, *, people: bool = False
) -> None:
    """Refuse a bound of memory below what so many distinct records need, before their codes are made."""
    each = CODE_BYTES * columns + KEY_BYTES * (2 * min(columns, max_size) + SPARE_ARRAYS + people)
    subsets = SUBSET_BYTES * count_subsets(columns, max_size)
    require_memory(
        distinct * each + subsets, memory_limit, f"{distinct} distinct records of {columns} columns"
    )


def count_subset_classes(
    table: DistinctRecords, max_size: int, nulls: str, memory_limit: int = int(DEFAULT_MEMORY[0])
) -> CountedSubsets:
    """Count the classes of every subset of up to `max_size` columns, smaller subsets first.

    NULL is a value of its own, or left out of the subsets with its column ("drop"), or may be any value
    ("wildcard"). Refuses a bound of memory below what is needed.

    >>> people = DistinctRecords([np.array([1, 1, 0]), np.array([1, 2, 2])], np.array([2, 1, 1]))
    >>> answer = count_subset_classes(people, 2, "value")
    >>> answer.subsets(), answer.classes.tolist(), answer.pairs.tolist()
    ([[0], [1], [0, 1]], [2, 2, 3], [6, 4, 2])
    """
    people = table.people is not None
    require_memory_for_subsets(
        len(table.records), len(table.codes), max_size, memory_limit, people=people
    )
    counter = _Counter(table, min(max_size, len(table.codes)), nulls)
    if len(table.records):
        counter.visit(_State(counter.rows.whole()), 0, 0, 0)
    else:
        counter.fill(0, 0, 0, (0, 0, 0.0, 0, 0, 0))
    return counter.in_order()


Figures = tuple[int, int, float, int, int, int]  # as CountedSubsets lists them, from `records` on


@dataclass(frozen=True)
class _State:
    """A subset's classes, and the records that are left of those that lack a value, or whether one does."""

    partition: Partition
    left: Flags | None = None  # (distinct,)
    lacks: bool = False


class _Counter:
    """Counts of subsets in the order in which they are visited."""

    def __init__(self, table: DistinctRecords, max_size: int, nulls: str) -> None:
        self.table, self.max_size, self.nulls = table, max_size, nulls
        self.rows = Refiner.of(DistinctRecords(table.codes, np.ones_like(table.records)))
        self.people = (
            None
            if table.people is None
            else np.unique(table.people, return_inverse=True)[1].ravel()
        )
        self.weights = table.records.astype(np.int64)
        self.several = np.flatnonzero(self.weights > 1)
        self.total = int(self.weights.sum())
        self.pairs = _pairs(self.weights, self.total, self.total)  # of equal records
        # Which records have a value in each column; None where all do, or NULL is a value.
        self.has_value = [
            None if nulls == "value" or codes.all() else codes != 0 for codes in table.codes
        ]
        # Columns with NULLs first: below them, all supersets of records that are alone are counted at once.
        levels = self.rows.levels
        self.order = sorted(
            range(len(levels)),
            key=lambda place: (self.has_value[place] is None, -levels[place], place),
        )
        self.lacking = sum(each is not None for each in self.has_value)
        self.is_plain = not self.lacking and self.people is None
        width = len(levels)
        self.bits = [1 << width - 1 - place for place in self.order]
        number, self.end = count_subsets(width, max_size), 0
        self.masks = np.empty(number, dtype=np.uint64)
        fits = self.total <= MAX_RECORDS_SQUARED_IN_64_BITS
        kinds = (
            np.int64,
            np.int64,
            np.float64,
            np.int64 if fits else np.object_,
            np.int64,
            np.int64,
        )
        self.figures: list[npt.NDArray[Any]] = [np.empty(number, dtype=kind) for kind in kinds]

    def visit(self, state: _State, mask: int, size: int, start: int) -> None:
        """Count the subset with each of the columns from `start` on, and then their own supersets."""
        equal = self._find_equal(state.partition.rows)
        for place in range(start, len(self.order)):
            checkpoint(self.end / len(self.masks))
            chosen = mask | self.bits[place]
            if self.is_plain and (size + 1 == self.max_size or place + 1 == len(self.order)):
                # Nothing refines this subset: the sizes of its classes are enough.
                rows = state.partition.rows
                keys, space = self.rows.split(state.partition, self.order[place])
                counts = np.bincount(keys, minlength=space)
                classes = len(self.weights) - len(rows) + int(np.count_nonzero(counts))
                sizes = self._add_equal(rows, keys, counts, equal)
                pairs = self.pairs + self._count_pairs(rows, sizes, equal)
                unique = self._count_alone(rows, equal) + int(np.count_nonzero(sizes == 1))
                self.put(chosen, (self.total, classes, float(classes), pairs, 0, unique))
                continue
            finer = self._refine(state, self.order[place])
            counted = self._count(finer, chosen)
            self.put(chosen, counted)
            if size + 1 == self.max_size:
                continue
            if not len(finer.partition.rows) and place + 1 >= self.lacking and not finer.lacks:
                self.fill(chosen, size + 1, place + 1, counted)
            else:
                self.visit(finer, chosen, size + 1, place + 1)

    def put(self, mask: int, counted: Figures) -> None:
        """Store what is counted of one subset."""
        self.masks[self.end] = mask
        for array, figure in zip(self.figures, counted, strict=True):
            array[self.end] = figure
        self.end += 1

    def fill(self, mask: int, size: int, start: int, counted: Figures) -> None:
        """Store the same for all supersets with columns from `start` on."""
        bits = self.bits[start:]
        supersets = np.array([mask], dtype=np.uint64)
        sizes = np.array([size])
        for bit in bits:
            more = sizes < self.max_size
            supersets = np.concatenate((supersets, supersets[more] | np.uint64(bit)))
            sizes = np.concatenate((sizes, sizes[more] + 1))
        end = self.end + len(supersets) - 1
        self.masks[self.end : end] = supersets[1:]
        for array, figure in zip(self.figures, counted, strict=True):
            array[self.end : end] = figure
        self.end = end

    def in_order(self) -> CountedSubsets:
        """The counts, smaller subsets first, of one size in the order of the columns."""
        width = len(self.order)
        sizes = np.zeros(len(self.masks), dtype=np.int8)
        for bit in self.bits:
            sizes += self.masks & np.uint64(bit) != 0
        order = np.lexsort((~self.masks, sizes))
        figures: list[npt.NDArray[Any]] = [array[order] for array in self.figures]
        return CountedSubsets(width, self.masks[order], *figures)

    def _refine(self, state: _State, column: int) -> _State:
        """The classes on one column more, of the records that have a value where others are left out."""
        has_value, partition, left = self.has_value[column], state.partition, state.left
        if has_value is None:
            return replace(state, partition=self.rows.refine(partition, column))
        if self.nulls == "wildcard":
            return _State(self.rows.refine(partition, column), lacks=True)
        remains = has_value[partition.rows]
        partition = replace(partition, rows=partition.rows[remains], ids=partition.ids[remains])
        return _State(
            self.rows.refine(partition, column), has_value if left is None else left & has_value
        )

    def _count(self, state: _State, mask: int) -> Figures:
        """Count the records, classes and pairs of a subset."""
        if state.lacks:
            return self._match(
                [place for place, bit in zip(self.order, self.bits, strict=True) if mask & bit]
            )
        partition, weights = state.partition, self.weights
        classes = int(np.count_nonzero(state.left)) if state.left is not None else len(weights)
        classes += partition.classes - len(partition.rows)
        records = self.total if state.left is None else int(weights[state.left].sum())
        if self.people is not None:
            return self._count_people(state, classes, self.total - records)
        equal = (
            self.pairs if state.left is None else _pairs(weights[state.left], records, self.total)
        )
        tied = self._find_equal(partition.rows)
        sizes = self._add_equal(partition.rows, partition.ids, partition.sizes, tied)
        pairs = equal + self._count_pairs(partition.rows, sizes, tied)
        unique = self._count_alone(partition.rows, tied, state.left)
        return records, classes, float(classes), pairs, self.total - records, unique

    def _find_equal(self, rows: Integers) -> Integers:
        """Find the places of the rows that are several records."""
        if not len(rows) or not len(self.several):
            return self.several[:0]
        places = np.searchsorted(rows, self.several)  # rows ascend
        repeated: Integers = places[rows.take(places, mode="clip") == self.several]
        return repeated

    def _add_equal(
        self, rows: Integers, ids: Integers, sizes: Integers, equal: Integers
    ) -> Integers:
        """Count each of the rows that are several records as all of them in the size of its class."""
        if not len(equal):
            return sizes
        sizes = sizes.copy()
        np.add.at(sizes, ids[equal], self.weights[rows[equal]] - 1)
        return sizes

    def _count_pairs(self, rows: Integers, sizes: Integers, equal: Integers) -> int:
        """Count the pairs of records that are alike but not equal, by the sizes in records."""
        if not len(equal):
            return _pairs(sizes, len(rows), self.total)
        weights = self.weights[rows[equal]]
        members = int(weights.sum())
        records = len(rows) - len(equal) + members
        return _pairs(sizes, records, self.total) - _pairs(weights, members, self.total)

    def _count_alone(self, rows: Integers, equal: Integers, left: Flags | None = None) -> int:
        """Count the records that are not among the tied rows, and are no row of several records."""
        whole = len(self.weights) if left is None else int(np.count_nonzero(left))
        several = len(self.several) if left is None else int(np.count_nonzero(left[self.several]))
        return whole - len(rows) - (several - len(equal))

    def _count_people(self, state: _State, classes: int, dropped: int) -> Figures:
        """Count people by the smallest of their classes: whoever has a class of one record is alone in it."""
        people: Any = self.people
        alone = np.ones(len(people), dtype=np.bool_) if state.left is None else state.left.copy()
        alone[state.partition.rows] = False
        least = np.zeros(int(people.max()) + 1, dtype=np.int64)  # 0 for who has no record left
        partition = state.partition
        person, size = size_smallest(people[partition.rows], partition.ids, partition.classes + 1)
        least[person], least[people[alone]] = size, 1
        sizes = least[least > 0]
        unique = int(np.count_nonzero(sizes == 1))
        return (
            len(sizes),
            classes,
            sum_reidentifications(sizes),
            int((sizes - 1).sum()),
            dropped,
            unique,
        )

    def _match(self, places: Sequence[int]) -> Figures:
        """Where NULL may be any value, a record is alike with all that it matches."""
        columns = [self.table.codes[place] for place in sorted(places)]
        ids, sizes = combine_columns(columns, len(self.weights)).numbered()
        first = np.zeros(len(sizes), dtype=np.int64)
        first[ids] = np.arange(len(ids))
        classes = np.stack([self.table.codes[place][first] for place in places], axis=1).astype(
            np.int64
        )
        members = np.bincount(ids, self.weights, len(sizes)).astype(np.int64)
        matches = wildcard_class_sizes(classes, classes, members)
        pairs = (
            int(members @ (matches - 1))
            if self.total <= MAX_RECORDS_SQUARED_IN_64_BITS
            else sum(
                one * (size - 1)
                for one, size in zip(members.tolist(), matches.tolist(), strict=True)
            )
        )
        unique = int(members[matches == 1].sum())
        return self.total, len(sizes), float(len(sizes)), pairs, 0, unique


def _pairs(sizes: Integers, members: int, records: int) -> int:
    """Ordered pairs of the members of one class, Σ size² − Σ size, exact beyond 64 bits too."""
    if records <= MAX_RECORDS_SQUARED_IN_64_BITS:
        return int(sizes @ sizes) - members
    return int(sum(size * size for size in sizes.tolist())) - members
