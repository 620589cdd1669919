"""Every subset of some columns, by its classes, from distinct records as codes.

All subsets of a size share the counter of quasi-identifiers: keys of the first columns are made once, all
processors count, and the memory is bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import (
    CODE_BYTES,
    KEY_BYTES,
    SPARE_ARRAYS,
    Key,
    map_keys,
    require_memory,
    sum_reidentifications,
)
from reid_sql.models.classes.quasi_identifiers import MAX_COUNTED, Codes, Integers, QuasiIdentifiers
from reid_sql.models.classes.wildcard import wildcard_class_sizes

MAX_RECORDS_SQUARED_IN_64_BITS: Final = 3_000_000_000  # the pairs of so many records fit 64 bits


@dataclass(frozen=True)
class SubsetCount:
    """What is counted of one subset: its columns by place, from 0, and `dropped` for records left out.

    `pairs` are ordered pairs of records that are alike, `reidentifications` those to expect, the sum of
    1/size over the records: the classes, where each record is in one. Of people, each by the smallest of
    their classes, the records are people.
    """

    places: tuple[int, ...]
    records: int
    classes: int
    reidentifications: float
    pairs: int
    dropped: int


@dataclass(frozen=True)
class DistinctRecords:
    """Distinct records as codes, 0 for NULL, and how many records have each.

    If people are counted, `people` has the person of each.
    """

    codes: Sequence[Integers]  # columns × (distinct,)
    records: Integers  # (distinct,)
    people: Integers | None = None  # (distinct,)


def count_subsets(columns: int, max_size: int) -> int:
    """Count the subsets of 1 to `max_size` columns; refuse more than one call can count.

    >>> count_subsets(4, 2)
    10
    """
    count = sum(comb(columns, size) for size in range(1, min(max_size, columns) + 1))
    if count > MAX_COUNTED:
        rule = f"the number of subsets of the columns must be at most {MAX_COUNTED}, got {count}"
        raise OutOfDomainError(f"{rule}; pass fewer columns or a smaller max_size")
    return count


def require_memory_for_subsets(
    distinct: int, columns: int, max_size: int, memory_mb: int, *, people: bool = False
) -> None:
    """Refuse a bound of memory below what so many distinct records need, before their codes are made."""
    each = CODE_BYTES * columns + KEY_BYTES * (min(columns, max_size) + SPARE_ARRAYS + people)
    require_memory(distinct * each, memory_mb, f"{distinct} distinct records of {columns} columns")


def count_subset_classes(
    table: DistinctRecords, max_size: int, nulls: str, memory_mb: int = 1024
) -> list[SubsetCount]:
    """Count the classes of every subset of up to `max_size` columns, smaller subsets first.

    NULL is a value of its own, or left out of the subsets with its column ("drop"), or may be any value
    ("wildcard"). Refuses a bound of memory below what one thread needs.

    >>> people = DistinctRecords([np.array([1, 1, 0]), np.array([1, 2, 2])], np.array([2, 1, 1]))
    >>> [(each.places, each.classes, each.pairs) for each in count_subset_classes(people, 2, "value")]
    [((0,), 2, 6), ((1,), 2, 4), ((0, 1), 3, 2)]
    """
    width = len(table.codes)
    count_subsets(width, max_size)
    require_memory_for_subsets(
        len(table.records), width, max_size, memory_mb, people=table.people is not None
    )
    if not len(table.records):
        sizes = range(1, min(max_size, width) + 1)
        chosen = (places for size in sizes for places in combinations(range(width), size))
        return [SubsetCount(places, 0, 0, 0.0, 0, 0) for places in chosen]
    coded = Codes([""] * width, [], table.codes, np.arange(len(table.records)))
    found: list[SubsetCount] = []
    for size in range(1, min(max_size, width) + 1):
        places = np.array(list(combinations(range(width), size)), dtype=np.int64)
        each = QuasiIdentifiers(coded, places, len(places), 0)
        found += map_keys(each, _Counter(table, places, nulls), memory_mb)
    return found


class _Counter:
    """Count the classes of each key."""

    def __init__(self, table: DistinctRecords, places: Integers, nulls: str) -> None:
        self.table, self.places, self.nulls = table, places, nulls
        self.total = int(table.records.sum(dtype=np.int64))
        self.single = bool((table.records == 1).all())
        self.people = None if table.people is None else table.people.astype(np.int64)
        lacking = [codes == 0 for codes in table.codes] if nulls != "value" else []
        self.lacking = [gaps if gaps.any() else None for gaps in lacking]

    def __call__(self, number: int, key: Key) -> SubsetCount:
        places = tuple(self.places[number].tolist())
        gaps = [found for place in places if self.lacking and (found := self.lacking[place]) is not None]
        if gaps and self.nulls == "wildcard":
            return self._matched(places, key)
        if gaps:
            known = ~np.logical_or.reduce(gaps)
            return self._known(places, Key(key.values[known], key.space), known)
        return self._known(places, key, np.s_[:])

    def _known(
        self, places: tuple[int, ...], key: Key, known: "npt.NDArray[np.bool_] | slice[Any, Any, Any]"
    ) -> SubsetCount:
        """Count the records whose values are known."""
        if not len(key.values):
            return SubsetCount(places, 0, 0, 0.0, 0, self.total)
        if self.people is not None:
            dropped = self.total - int(self.table.records[known].sum(dtype=np.int64))
            return _count_people(places, key, self.people[known], dropped)
        return self._counted(places, key, None if self.single else self.table.records[known])

    def _counted(self, places: tuple[int, ...], key: Key, records: Integers | None) -> SubsetCount:
        sizes = key.class_sizes(records)
        counted, classes = int(sizes.sum()), len(sizes)
        pairs = _count_pairs(sizes, sizes, counted)
        return SubsetCount(places, counted, classes, float(classes), pairs, self.total - counted)

    def _matched(self, places: tuple[int, ...], key: Key) -> SubsetCount:
        """Where NULL may be any value, a record is alike with all that it matches."""
        ids, sizes = key.numbered()
        first = np.zeros(len(sizes), dtype=np.int64)
        first[ids] = np.arange(len(ids))
        classes = np.stack([self.table.codes[place][first] for place in places], axis=1).astype(np.int64)
        members = np.bincount(ids, self.table.records, len(sizes)).astype(np.int64)
        pairs = _count_pairs(members, wildcard_class_sizes(classes, classes, members), self.total)
        return SubsetCount(places, self.total, len(sizes), float(len(sizes)), pairs, 0)


def _count_people(places: tuple[int, ...], key: Key, people: Integers, dropped: int) -> SubsetCount:
    classes, sizes = key.of_people(people)
    pairs = int((sizes - 1).sum(dtype=np.int64))
    return SubsetCount(places, len(sizes), classes, sum_reidentifications(sizes), pairs, dropped)


def _count_pairs(members: Integers, sizes: npt.NDArray[np.int64] | Integers, records: int) -> int:
    """Ordered pairs of alike records, Σ members (size − 1), exact beyond 64 bits too."""
    if records <= MAX_RECORDS_SQUARED_IN_64_BITS:
        return int(members @ (sizes - 1))
    return sum(one * (size - 1) for one, size in zip(members.tolist(), sizes.tolist(), strict=True))
