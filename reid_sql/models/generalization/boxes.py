"""Boxes of local recoding: what a class shows of each column, and the bits that this loses.

A column is either ordered, where a box is a range of its values, or has a hierarchy alone, where it is a
value of one of its levels. NULL is in no range but the one of all values. The box of a class is the least
one that contains its records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.models.generalization.lattice import DistinctRecords, LevelCodes
from reid_sql.parameters import Floats, Integers

NULL: Final = 0  # the code of NULL at level 0
NONE: Final = -1
MIN_BITS: Final = 1e-6  # below, a loss is the rounding of a sum over the records


@dataclass(frozen=True)
class Boxes:
    """What classes show of one column; of an ordered column `low` and `high`, else `level` and `low`.

    Both ends are codes of level 0 in a range, and both the code of the level in a hierarchy.
    """

    low: Integers  # (classes,)
    high: Integers  # (classes,)
    level: Integers  # (classes,) 0 in an ordered column


@dataclass(frozen=True)
class PartitionColumn:
    """A column of a table to partition; `ordered` if its codes of level 0 are in the order of its values.

    >>> age = LevelCodes((np.arange(4), np.zeros(4, dtype=int)), np.array([0, 2, 1, 1]))
    >>> column = PartitionColumn(age, ordered=True)
    >>> boxes = column.bound(np.array([1, 2, 3]), np.array([0, 2]))
    >>> boxes.low.tolist(), boxes.high.tolist(), column.records_within(boxes).tolist()
    ([1, 3], [2, 3], [3, 1])
    """

    levels: LevelCodes
    ordered: bool
    weight: float = 1.0  # of its bits in the loss
    limits: tuple["ColumnLimit", ...] = ()  # every class is within one part of each

    @cached_property
    def table(self) -> Integers:
        """The code of each value at each level."""
        return np.array(self.levels.codes)  # (levels, values)

    @cached_property
    def width(self) -> int:
        """A number above every code of every level."""
        return int(self.table.max()) + 1

    @cached_property
    def records(self) -> Integers:
        """The records of each code of each level."""
        return np.array(
            [np.bincount(level, self.levels.records, self.width) for level in self.table]
        ).astype(np.int64)  # (levels, codes)

    @cached_property
    def values(self) -> Integers:
        """The values, of those that occur, of each code of each level."""
        present = self.levels.records > 0
        return np.array([np.bincount(level, present, self.width) for level in self.table]).astype(
            np.int64
        )

    @cached_property
    def below(self) -> Integers:
        """The records of all values before each code of level 0."""
        return np.concatenate(([0], np.cumsum(self.levels.records)))

    def bound(self, codes: Integers, starts: Integers) -> Boxes:
        """Bound each class of records that are sorted by class; `starts` are the places of the first ones."""
        if self.ordered:
            low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
            return Boxes(low, high, np.zeros_like(low))
        level = np.full(len(starts), -1)
        code = np.zeros(len(starts), dtype=np.int64)
        for at, row in enumerate(self.table):
            low = np.minimum.reduceat(row[codes], starts)
            high = np.maximum.reduceat(row[codes], starts)
            first = (level < 0) & (low == high)
            level[first], code[first] = at, low[first]
        return Boxes(code, code, level)

    def records_within(self, boxes: Boxes) -> Integers:
        """Give the records of the table whose value is in each box."""
        return (
            self.within(boxes.low, boxes.high)
            if self.ordered
            else self.records[boxes.level, boxes.low]
        )

    def within(self, low: Integers, high: Integers) -> Integers:
        """Give the records of the table in each range; a range of NULL and others contains every value."""
        whole = (low == NULL) & (high > NULL)
        return np.where(whole, self.below[-1], self.below[high + 1] - self.below[low])

    def values_within(self, boxes: Boxes) -> Integers:
        """Give how many values are in each box, one more than the others in an ordered column."""
        return boxes.high - boxes.low + 1 if self.ordered else self.values[boxes.level, boxes.low]

    @cached_property
    def value_bits(self) -> float:
        """Σ n log2(n) over the values of the table: what boxes of single values have."""
        present = self.levels.records[self.levels.records > 0].astype(np.float64)
        return float(present @ np.log2(present))

    @cached_property
    def all_bits(self) -> float:
        """The bits that are lost where no record shows its value."""
        total = float(self.levels.records.sum())
        return total * float(np.log2(total)) - self.value_bits if total else 0.0


@dataclass(frozen=True)
class ColumnLimit:
    """A division of all records that limits a column: by a level, or after the code `cut`."""

    level: int
    cut: int = NONE

    def parts(self, column: PartitionColumn, codes: Integers) -> Integers:
        """Give the part of each code of level 0."""
        return (
            column.table[self.level][codes]
            if self.level != NONE
            else (codes > self.cut).astype(np.int64)
        )


def limit_column(levels: LevelCodes, coarsest: int) -> tuple[ColumnLimit, ...]:
    """Limit a column to the values of a level; the last level is no limit."""
    return () if coarsest >= len(levels.codes) - 1 else (ColumnLimit(coarsest),)


def keep_range(levels: LevelCodes) -> tuple[ColumnLimit, ...]:
    """Keep the ranges of an ordered column from containing every value: NULL apart, a cut at the median.

    >>> keep_range(LevelCodes((np.arange(4), np.zeros(4, dtype=int)), np.array([1, 3, 1, 1])))
    (ColumnLimit(level=-1, cut=0), ColumnLimit(level=-1, cut=1))
    """
    values = levels.records.copy()
    values[NULL] = 0
    present = np.flatnonzero(values)
    null = (ColumnLimit(NONE, NULL),) if levels.records[NULL] and len(present) else ()
    if len(present) <= 1:
        return null
    median = int(np.searchsorted(np.cumsum(values), values.sum() / 2))
    return (*null, ColumnLimit(NONE, min(median, int(present[-2]))))


def bits_lost(
    columns: Sequence[PartitionColumn], boxes: Sequence[Boxes], sizes: Integers
) -> Floats:
    """Give the bits that each column loses: Σ n log2(N(box)/N(value)).

    It is the non-uniform entropy of `lattice.Entropy`, whose coarse values may differ from class to class
    (Gionis & Tassa 2009, section 3).
    """
    bits = np.array(
        [
            float(sizes @ np.log2(column.records_within(box))) - column.value_bits
            for column, box in zip(columns, boxes, strict=True)
        ]
    )
    return np.where(bits > MIN_BITS, bits, 0.0)


def bound_classes(
    columns: Sequence[PartitionColumn], rows: DistinctRecords, place: Integers
) -> tuple[Boxes, ...]:
    """Bound the classes 0, 1, … by the class of each distinct record."""
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(int(place.max()) + 1))
    return tuple(
        column.bound(codes[order], starts)
        for column, codes in zip(columns, rows.codes, strict=False)
    )
