"""All minimal sets of columns by which at least a share of the records, or people, is unique.

Whoever is unique on some columns is unique on any column more: the share never falls from a set to a
superset. So no superset of a set that reaches it is minimal, and the search ends there (Mannila & Toivonen
1997, levelwise search). Sets are bitmasks and are visited in the order of these numbers, in which every
subset of a set comes before it: a set that reaches the share and contains none of those found is minimal.
"""

from dataclasses import dataclass, field
from itertools import accumulate
from math import comb
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.partitions import Partition, Refiner

MAX_SETS_IN_A_LIST: Final = 32  # found sets up to which a loop beats an array
MIN_COLUMNS_TO_LOOK_AHEAD: Final = 4  # columns left from which a count of all of them at once may pay
MANY: Final = 1 << 62  # classes of a set, where a bound on them would not fit 64 bits


@dataclass(frozen=True)
class ColumnSet:
    """A minimal set of columns, by their places, and what is counted on it."""

    places: tuple[int, ...]
    unique: int  # records, or people
    classes: int


@dataclass(frozen=True)
class Search:
    """What a search found: every minimal set of at most `covered` columns, the smallest first.

    Where `is_complete`, there is none of more columns, up to the size asked for.
    """

    sets: list[ColumnSet]
    covered: int
    is_complete: bool
    counted: int  # sets of columns that were counted


class _LimitReachedError(Exception):
    """More sets of columns would have to be counted than are allowed."""


def find_minimal_sets(
    table: Refiner, least: int, max_size: int, max_sets: int, *, is_smallest_enough: bool = False
) -> Search:
    """Find the minimal sets of at most `max_size` columns by which `least` records, or people, are unique.

    Counts at most `max_sets` sets of columns. Where all sets of all sizes may be more, the search goes size
    by size, so that what it covers is every set up to a size; so it does where `is_smallest_enough`, and ends
    with the first size of which there is a set.

    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> [each.places for each in find_minimal_sets(Refiner.of(three), 3, 2, 100).sets]
    [(0, 1)]
    """
    search = _Search(table, least, max_sets)
    width = len(table.codes)
    largest = min(max_size, width)
    at_once = not is_smallest_enough and sum(comb(width, size) for size in range(1, largest + 1)) <= max_sets
    covered = 0
    try:
        for size in [largest] if at_once else range(1, largest + 1):
            is_cut = search.visit_all(size)
            covered = size
            if not is_cut or (is_smallest_enough and search.found):
                break
    except _LimitReachedError:
        return _answer(search, covered, is_complete=False)
    return _answer(search, covered, is_complete=True)


def _answer(search: "_Search", covered: int, *, is_complete: bool) -> Search:
    sets = [each for each in search.found if is_complete or len(each.places) <= covered]
    ordered = sorted(sets, key=lambda each: (len(each.places), -each.unique, each.places))
    return Search(ordered, covered, is_complete, search.counted)


class _Search:
    """A search depth first; a set is extended by columns before its first one.

    Columns of more values come last: their sets have the most supersets, and reach the share first.
    """

    def __init__(self, table: Refiner, least: int, max_sets: int) -> None:
        self.table, self.least, self.max_sets = table, least, max_sets
        self.columns = sorted(range(len(table.codes)), key=lambda place: (table.levels[place], place))
        self.levels = [table.levels[place] for place in self.columns]
        # Classes that the first columns can make at most, for a bound on who can be unique.
        self.products = list(accumulate(self.levels, lambda a, b: min(a * b, MANY), initial=1))
        self.known = [_Known() for _ in self.columns]  # found sets by their first column
        self.found: list[ColumnSet] = []
        self.counted = 0
        self.size = 0
        self.is_cut = False

    def visit_all(self, size: int) -> bool:
        """Visit the sets of up to `size` columns; say whether larger sets may reach the share."""
        self.size, self.is_cut = size, False
        self._extend(self.table.whole(), 0, 0, len(self.columns))
        return self.is_cut

    def _extend(self, partition: Partition, mask: int, size: int, end: int) -> None:
        """Visit the set with each of the columns before `end`, and then those sets' own extensions."""
        is_last = size + 1 == self.size
        for place in range(end):
            if self._is_hopeless(partition, place, 1 if is_last else self.size - size):
                self.is_cut |= not self._is_hopeless(partition, place, place + 1)
                continue
            if self.known[place].has_part_of(mask):
                continue
            self._count(mask | 1 << place)
            column = self.columns[place]
            if is_last and self.table.count_unique(partition, column) < self.least:
                self.is_cut |= place > 0
                continue
            finer = self.table.refine(partition, column)
            if finer.unique >= self.least:
                self._add(mask | 1 << place, finer)
            elif not self._falls_short(finer, size + 1, place):
                self._extend(finer, mask | 1 << place, size + 1, place)

    def _is_hopeless(self, partition: Partition, place: int, more: int) -> bool:
        """Whether this column and `more` − 1 columns before it cannot make enough classes.

        Each class of one record is a class more, and a class of s values splits into at most s.
        """
        first = max(0, place + 1 - more)
        made = self.products[place + 1] if first == 0 else self._product(first, place)
        return partition.unique + partition.classes * made < self.least

    def _product(self, first: int, last: int) -> int:
        product = 1
        for place in range(last, first - 1, -1):
            product *= self.levels[place]
            if product > self.least:
                break
        return product

    def _falls_short(self, partition: Partition, size: int, end: int) -> bool:
        """Whether the set with all columns before its first falls short; then all of its extensions do."""
        if end < MIN_COLUMNS_TO_LOOK_AHEAD or self.size - size < MIN_COLUMNS_TO_LOOK_AHEAD:
            return False
        for place in range(end - 1, -1, -1):
            self._count(0)
            partition = self.table.refine(partition, self.columns[place])
            if partition.unique >= self.least:
                return False
        return True

    def _count(self, mask: int) -> None:
        """Count a set against the limit, and let the search be interrupted."""
        self.counted += 1
        if self.counted > self.max_sets:
            raise _LimitReachedError
        checkpoint(mask / (1 << len(self.columns)) if mask else None)

    def _add(self, mask: int, partition: Partition) -> None:
        first = (mask & -mask).bit_length() - 1
        self.known[first].add(mask ^ 1 << first)
        places = (place for place in range(len(self.columns)) if mask >> place & 1)
        chosen = tuple(sorted(self.columns[place] for place in places))
        self.found.append(ColumnSet(chosen, partition.unique, self.table.count_classes(partition, chosen)))


@dataclass
class _Known:
    """The found sets with the same first column, without it."""

    masks: list[int] = field(default_factory=list)
    packed: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def add(self, mask: int) -> None:
        self.masks.append(mask)

    def has_part_of(self, mask: int) -> bool:
        """Whether a found set lies within the columns of the mask and the first column."""
        start = len(self.packed)
        if len(self.masks) - start > MAX_SETS_IN_A_LIST:
            self.packed = np.array(self.masks, dtype=np.uint64)
            start = len(self.masks)
        outside = ~mask
        if any(not each & outside for each in self.masks[start:]):
            return True
        return start > 0 and bool((self.packed & np.uint64(outside & (1 << 64) - 1) == 0).any())


def least_of_share(at_least: float, total: int) -> int:
    """The fewest of `total` that are at least such a share of them, as their quotient in doubles compares.

    >>> least_of_share(0.1, 30), least_of_share(1.0, 7), least_of_share(1e-9, 7)
    (3, 7, 1)
    """
    least = max(1, int(at_least * total))
    while least > 1 and (least - 1) / total >= at_least:
        least -= 1
    while least / total < at_least:
        least += 1
    return least
