"""Classes of distinct records on a set of columns, made from those on one column less.

A record that is alone on some columns is alone on any column more. So a partition lists only the records that
still share a class ("stripped partition", Huhtala, Kärkkäinen, Porkka & Toivonen 1999, TANE), and the deeper
a search goes, the fewer records each step reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Flags

Integers = npt.NDArray[np.integer[Any]]
# keys a record up to which a table over all keys beats sorting
MAX_DENSE_KEYS_PER_RECORD: Final = 4
MIN_DENSE_KEYS: Final = 1024
WORD_BITS: Final = 63


@dataclass(frozen=True)
class DistinctRecords:
    """Distinct records as codes, 0 for NULL, and how many records have each.

    If people are counted, `people` has the person of each.
    """

    codes: Sequence[Integers]  # columns × (distinct,)
    records: Integers  # (distinct,)
    people: Integers | None = None  # (distinct,)


@dataclass(frozen=True)
class Partition:
    """The records that share a class with another one, and counts of those that are alone.

    Of people, a record is alone in a class of its own person.
    """

    rows: Integers  # (tied,): ascending
    ids: Integers  # (tied,): the class of each, from 0 without gaps
    sizes: Integers  # (classes,): records in `rows`; of people, of whom these may be fewer
    unique: int  # records that are unique, or people who are in one of their records
    singled: Flags | None = None  # (people,): those who are unique

    @property
    def classes(self) -> int:
        """How many classes the records in `rows` make."""
        return len(self.sizes)


@dataclass(frozen=True)
class Refiner:
    """Distinct records whose classes are refined column by column.

    >>> people = Refiner.of(DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1])))
    >>> sex = people.refine(people.whole(), 0)
    >>> sex.unique, people.refine(sex, 1).unique
    (1, 3)
    """

    codes: list[Integers]  # columns × (distinct,), from 0
    levels: list[int]  # (columns,): distinct values of each
    is_single: Flags | None  # (distinct,): whether one record has the values; None where all do
    people: Integers | None  # (distinct,): ascending, from 0
    total: int  # records, or people
    # of the rows as given
    order: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, table: DistinctRecords) -> "Refiner":
        """Prepare the records; of people, in the order of the people, so that each class has them so."""
        people: Integers | None = None
        order = np.arange(len(table.records))
        if table.people is not None:
            order = np.argsort(table.people, kind="stable")
            people = np.unique(table.people[order], return_inverse=True)[1].ravel()
        codes = [_close_gaps(each[order]) for each in table.codes]
        levels = [int(each.max()) + 1 if len(each) else 0 for each in codes]
        is_single: Flags = table.records[order] == 1
        total = int(table.records.sum(dtype=np.int64)) if people is None else _count_people(people)
        needs_counts = people is None and not is_single.all()
        return cls(codes, levels, is_single if needs_counts else None, people, total, order)

    def whole(self) -> Partition:
        """The partition on no column: one class of all records, unless one of them, or one person, is all."""
        rows = np.arange(len(self.order))
        singled = None if self.people is None else np.zeros(self.total, dtype=np.bool_)
        one = Partition(
            rows, np.zeros(len(rows), dtype=np.int64), np.array([len(rows)]), 0, singled
        )
        is_shared = np.array([len(rows) > 1 and (self.people is None or self.total > 1)])
        return one if is_shared[0] else self._strip(one, one.ids, one.sizes, is_shared)

    def refine(self, partition: Partition, column: int) -> Partition:
        """The partition on one column more."""
        return self._strip(partition, *self._split(partition, column))

    def count_unique(self, partition: Partition, column: int) -> int:
        """Count the unique records, or people, on one column more, without its partition where that pays."""
        space = partition.classes * self.levels[column]
        if self.is_single is None and self.people is None and _is_dense(space, len(partition.rows)):
            keys = self._keys(partition, column)
            return partition.unique + int(np.count_nonzero(np.bincount(keys, minlength=space) == 1))
        return self.refine(partition, column).unique

    def refine_all(self, columns: Sequence[int]) -> Partition:
        """The partition on several columns."""
        partition = self.whole()
        for column in columns:
            partition = self.refine(partition, column)
        return partition

    def count_classes(self, partition: Partition, columns: Sequence[int]) -> int:
        """Count the classes of the partition on these columns.

        The records of one person, who is alone in several classes, are divided anew.
        """
        if self.people is not None:
            rows = replace(self, people=None)
            return rows.count_classes(rows.refine_all(columns), columns)
        return len(self.order) - len(partition.rows) + partition.classes

    def split(self, partition: Partition, column: int) -> tuple[Integers, int]:
        """Number the classes on one column more, with gaps: each row's, and how many there may be."""
        keys, space = self._keys(partition, column), partition.classes * self.levels[column]
        return (keys, space) if _is_dense(space, len(keys)) else number_keys(keys, space)

    def _keys(self, partition: Partition, column: int) -> Integers:
        codes, rows = self.codes[column], partition.rows
        keys: Integers = partition.ids * self.levels[column]
        keys += codes if len(rows) == len(codes) else codes.take(rows)
        return keys

    def _split(self, partition: Partition, column: int) -> tuple[Integers, Integers, Flags]:
        """Divide each class by the values of the column: keys of rows, their sizes, and which are shared."""
        keys, space = self.split(partition, column)
        sizes = np.bincount(keys, minlength=space)
        if self.people is None:
            return keys, sizes, sizes > 1
        # People ascend within the rows, so a class has several if its first and last differ.
        whose = self.people[partition.rows]
        first, last = np.zeros(space, dtype=np.int64), np.zeros(space, dtype=np.int64)
        first[keys[::-1]], last[keys] = whose[::-1], whose
        return keys, sizes, first != last

    def _strip(
        self, partition: Partition, keys: Integers, sizes: Integers, is_shared: Flags
    ) -> Partition:
        """Leave out the records that are alone now, and count them."""
        shared = is_shared.take(keys)
        tied = np.flatnonzero(shared)  # taking by places is faster than by a mask
        unique, singled = self._count_alone(partition, shared, len(tied))
        classes = np.flatnonzero(is_shared)
        numbers = np.empty(len(is_shared), dtype=np.int64)  # of the classes; others are never read
        numbers[classes] = np.arange(len(classes))
        rows, ids = partition.rows.take(tied), numbers.take(keys.take(tied))
        return Partition(rows, ids, sizes.take(classes), unique, singled)

    def _count_alone(
        self, partition: Partition, shared: Flags, tied: int
    ) -> tuple[int, Flags | None]:
        """Count the unique records with those that are alone now; of people, and mark them."""
        if self.people is not None and partition.singled is not None:
            singled = partition.singled.copy()
            singled[self.people[partition.rows[~shared]]] = True
            return int(np.count_nonzero(singled)), singled
        if self.is_single is None:
            return partition.unique + len(shared) - tied, None
        return partition.unique + int(
            np.count_nonzero(self.is_single[partition.rows[~shared]])
        ), None


def _is_dense(space: int, records: int) -> bool:
    return space <= MAX_DENSE_KEYS_PER_RECORD * records + MIN_DENSE_KEYS


def _count_people(people: Integers) -> int:
    return int(people[-1]) + 1 if len(people) else 0


def _close_gaps(codes: Integers) -> Integers:
    """The codes numbered from 0 without gaps, as far as a table over all of them can do it."""
    if not len(codes):
        return codes
    occurs = np.bincount(codes) > 0
    return (np.cumsum(occurs, dtype=np.int32) - 1)[codes].astype(np.int32)


def number_keys(keys: Integers, space: int) -> tuple[Integers, int]:
    """Number the keys that occur without gaps, by sorting them together with their places."""
    bits = len(keys).bit_length()
    # one sort of key and record is several times as fast
    if (space - 1).bit_length() + bits <= WORD_BITS:
        both = np.sort(keys << bits | np.arange(len(keys)))
        order: Integers = both & ((1 << bits) - 1)
        ordered: Integers = both >> bits
    else:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
    numbers = np.zeros(len(keys), dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=numbers[1:])
    numbered = np.empty_like(numbers)
    numbered[order] = numbers
    return numbered, int(numbers[-1]) + 1 if len(numbers) else 0
