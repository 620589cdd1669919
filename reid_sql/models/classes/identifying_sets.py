"""Which columns together identify people: all minimal quasi-identifiers of a table, and all minimal keys."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import comb, inf
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.class_keys import CODE_BYTES, require_memory
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.partitions import DistinctRecords, Partition, Refiner
from reid_sql.models.classes.quasi_identifiers import (
    NO_PEOPLE,
    RECORDS_A_SET,
    MemoryLimited,
    find_minimal_keys,
)
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import MAX_COLUMNS, SUBSET_SIZE, Choice, Integers, Number

# All minimal sets of columns by which at least a share of the records, or people, is unique.
#
# Whoever is unique on some columns is unique on any column more: the share never falls from a set to a
# superset. So no superset of a set that reaches it is minimal, and the search ends there (Mannila & Toivonen
# 1997, levelwise search). Sets are bitmasks and are visited in the order of these numbers, in which every
# subset of a set comes before it: a set that reaches the share and contains none of those found is minimal.

MAX_SETS_IN_A_LIST: Final = 32  # found sets up to which a loop beats an array
# columns left from which a count of all of them at once may pay
MIN_COLUMNS_TO_LOOK_AHEAD: Final = 4
MAX_CLASSES_COUNTED: Final = 1 << 62  # a bound on the classes of a set that fits 64 bits

# to compare columns; each column reads every record at most once
RECORDS_READ_IN_A_STEP: Final = 4_000_000
MIN_COMPARED_COLUMNS: Final = 4

Rank = Callable[[Partition], tuple[int, int]]


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
    # minimal sets of more columns, of which others may have been missed
    beyond: Sequence[ColumnSet] = ()


class _LimitReachedError(Exception):
    """More sets of columns would have to be counted than are allowed."""


def find_minimal_sets(
    table: Refiner,
    least: int,
    max_size: int,
    max_sets: float,
    max_records: float = inf,
    *,
    is_smallest_enough: bool = False,
) -> Search:
    """Find the minimal sets of at most `max_size` columns by which `least` records, or people, are unique.

    Counts at most `max_sets` sets of columns, and reads about `max_records` records for them. Where all
    sets of all sizes may be more, the search goes size by size, so that what it covers is every set up to a
    size; so it does where `is_smallest_enough`, and ends with the first size of which there is a set.

    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> [each.places for each in find_minimal_sets(Refiner.of(three), 3, 2, 100).sets]
    [(0, 1)]
    """
    search = _Search(table, least, max_sets, max_records)
    width = len(table.codes)
    largest = min(max_size, width)
    possible = sum(comb(width, size) for size in range(1, largest + 1))
    most_read = possible * (len(table.order) + RECORDS_A_SET)
    at_once = not is_smallest_enough and possible <= max_sets and most_read <= max_records
    covered = 0
    try:
        for size in [largest] if at_once else range(1, largest + 1):
            is_cut = search.visit_all(size)
            covered = size
            if not is_cut or (is_smallest_enough and search.sets):
                break
    except _LimitReachedError:
        return _answer(search.sets, covered, search.counted, is_complete=False)
    return _answer(search.sets, covered, search.counted, is_complete=True)


def _answer(found: list[ColumnSet], covered: int, counted: int, *, is_complete: bool) -> Search:
    sets = [each for each in found if is_complete or len(each.places) <= covered]
    beyond = [] if is_complete else [each for each in found if len(each.places) > covered]
    ordered = sorted(sets, key=lambda each: (len(each.places), -each.unique, each.places))
    return Search(ordered, covered, is_complete, counted, beyond)


class _Search:
    """A search depth first; a set is extended by columns before its first one.

    Columns of more values come last: their sets have the most supersets, and reach the share first.
    """

    def __init__(self, table: Refiner, least: int, max_sets: float, max_records: float) -> None:
        self.table, self.least = table, least
        self.max_sets, self.max_records, self.read = max_sets, max_records, 0
        self.columns = sorted(
            range(len(table.codes)), key=lambda place: (table.levels[place], place)
        )
        self.levels = [table.levels[place] for place in self.columns]
        # Classes that the first columns can make at most, for a bound on who can be unique.
        self.products = list(
            accumulate(self.levels, lambda a, b: min(a * b, MAX_CLASSES_COUNTED), initial=1)
        )
        self.by_first_column = [_SetsOfColumn() for _ in self.columns]
        self.sets: list[ColumnSet] = []
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
            if self.by_first_column[place].has_part_of(mask):
                continue
            self._count(partition, mask | 1 << place)
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
        first, values = max(0, place + 1 - more), 1
        if first == 0:
            values = self.products[place + 1]
        else:
            for levels in reversed(self.levels[first : place + 1]):
                values *= levels
                if values > self.least:
                    break
        return partition.unique + partition.classes * values < self.least

    def _falls_short(self, partition: Partition, size: int, end: int) -> bool:
        """Whether the set with all columns before its first falls short; then all of its extensions do."""
        if end < MIN_COLUMNS_TO_LOOK_AHEAD or self.size - size < MIN_COLUMNS_TO_LOOK_AHEAD:
            return False
        for place in range(end - 1, -1, -1):
            self._count(partition)
            partition = self.table.refine(partition, self.columns[place])
            if partition.unique >= self.least:
                return False
        return True

    def _count(self, partition: Partition, mask: int = 0) -> None:
        """Count a set and the records that it reads against the limits; let the search be interrupted."""
        self.read += len(partition.rows) + RECORDS_A_SET
        if self.counted >= self.max_sets or self.read > self.max_records:
            raise _LimitReachedError
        self.counted += 1
        checkpoint(mask / (1 << len(self.columns)) if mask else None)

    def _add(self, mask: int, partition: Partition) -> None:
        first = (mask & -mask).bit_length() - 1
        self.by_first_column[first].masks.append(mask ^ 1 << first)
        places = (place for place in range(len(self.columns)) if mask >> place & 1)
        chosen = tuple(sorted(self.columns[place] for place in places))
        self.sets.append(
            ColumnSet(chosen, partition.unique, self.table.count_classes(partition, chosen))
        )


@dataclass
class _SetsOfColumn:
    """The found sets with the same first column, without it."""

    masks: list[int] = field(default_factory=list)
    packed: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

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


def min_count(at_least: float, total: int) -> int:
    """The fewest of `total` that are at least such a share of them, as their quotient in doubles compares.

    >>> min_count(0.1, 30), min_count(1.0, 7), min_count(1e-9, 7)
    (3, 7, 1)
    """
    least = max(1, int(at_least * total))
    while least > 1 and (least - 1) / total >= at_least:
        least -= 1
    while least / total < at_least:
        least += 1
    return least


AT_LEAST: Final = Number(
    "a share above 0 and at most 1",
    "pass the share of records that a set of columns makes unique, such as 0.05, or 1 for keys",
    5e-324,
    1.0,
)
MAX_SETS: Final = Number(
    "a whole number of sets of columns from 0 to 1e+9",
    "pass how many sets of columns to count at most, such as 1000000, or 0 for those of a few seconds",
    0.0,
    1e9,
    whole=True,
)
SETS: Final = Choice(("minimal", "smallest"))
AtLeast = Annotated[float, AT_LEAST]
MaxSets = Annotated[int, MAX_SETS]
Sets = Annotated[str, SETS]
PARTITION_BYTES: Final = 16  # of a record in one partition: its row and its class
SPARE_BYTES: Final = 64  # of a record while one partition is made, and while codes are prepared
STATUS_NO_SET: Final = "no_set: no set of at most {} reaches at_least"
STATUS_INCOMPLETE: Final = (
    "incomplete: the list is complete up to {} of {} columns, with max_sets of {}"
)
STATUS_GREEDY: Final = "greedy: a set found by a greedy search, which does not count all sets"
STATUS_GREEDY_BELOW: Final = (
    "greedy_below: the best set of a greedy search, which is below at_least"
)
RECORDS_READ: Final = 200_000_000  # by a search without max_sets: a few seconds


@dataclass(frozen=True)
class DistinctCodes(MemoryLimited):
    """The distinct records of a table as codes, one array a column, 0 for NULL, with how many have each.

    If a column identifies people, the records are those of each person, and `people` has the person.
    """

    names: Sequence[str]  # (columns,)
    codes: Sequence[Integers]  # columns × (distinct,)
    records: Integers  # (distinct,)
    people: Integers = field(default_factory=lambda: NO_PEOPLE)  # (distinct,), else ()


@dataclass(frozen=True)
class QuasiIdentifier:
    """A set of columns by which at least a share of the records is unique, and by no smaller set in it."""

    columns: list[str]  # the set of columns; empty where no set reaches the share
    size: int | None  # how many columns
    share_unique: float | None  # share of the records, or people, that are unique by these columns
    unique_records: int | None  # records, or people, that are unique by these columns
    classes: int | None  # distinct combinations of values of these columns
    records: int  # records, or people
    # ok, or up to how many columns the list is complete, and which set a greedy search found
    status: str


def find_quasi_identifiers(
    table: DistinctCodes,
    at_least: float = 0.05,
    max_size: int = MAX_COLUMNS,
    max_sets: int = 0,
    *,
    sets: str = "minimal",
) -> list[QuasiIdentifier]:
    """Find every minimal set of columns by which at least such a share of the records, or people, is unique.

    The smallest sets come first; with `sets` "smallest", those of the fewest columns are all. Where none
    reaches the share, a row without columns says so. A search that stops, after `max_sets` sets or a few
    seconds' work, says so in every row, and where it found none, the row is the best of a greedy search.

    >>> names = DistinctCodes(["age", "sex"], [np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> [(each.columns, each.share_unique) for each in find_quasi_identifiers(names, 1.0)]
    [(['age', 'sex'], 1.0)]
    """
    share = AT_LEAST.check_one("at_least", float(at_least))
    largest = min(int(SUBSET_SIZE.check("max_size", max_size)), len(table.names))
    most = int(MAX_SETS.check("max_sets", max_sets))
    is_smallest_enough = SETS.check("sets", sets) == "smallest"
    _require(table, largest)
    # Of columns that are alike in all else, the name decides which is counted first, not the place.
    order = sorted(range(len(table.names)), key=lambda place: table.names[place])
    codes = [table.codes[place] for place in order]
    people = table.people if len(table.people) else None
    refiner = Refiner.of(DistinctRecords(codes, table.records, people))
    least = min_count(share, refiner.total)
    search = _search(refiner, least, largest, most, is_smallest_enough=is_smallest_enough)
    status = _status(search, largest)
    if not search.sets:
        if search.is_complete:
            status = STATUS_NO_SET.format(f"{search.covered} column{'s' * (search.covered > 1)}")
            return [QuasiIdentifier([], None, None, None, None, refiner.total, status)]
        best = _find_best(refiner, search, least, largest)
        greedy = STATUS_GREEDY if best.unique >= least else STATUS_GREEDY_BELOW
        search, status = replace(search, sets=[best]), f"{status}; {greedy}"
    fewest = len(search.sets[0].places) if is_smallest_enough else largest
    listed = [replace(each, places=_places_of(each, order)) for each in search.sets]
    listed.sort(key=lambda each: (len(each.places), -each.unique, each.places))
    return [_row(table, refiner, each, status) for each in listed if len(each.places) <= fewest]


def _places_of(column_set: ColumnSet, order: Sequence[int]) -> tuple[int, ...]:
    """The places of the columns of a set in the table as given."""
    return tuple(sorted(order[place] for place in column_set.places))


def _find_best(table: Refiner, search: Search, least: int, largest: int) -> ColumnSet:
    """The best set of a greedy search, or a smaller one that the other search counted."""
    places = find_greedy_set(table, least, largest)
    partition = table.refine_all(places)
    greedy = ColumnSet(places, partition.unique, table.count_classes(partition, places))
    reaching = [each for each in (greedy, *search.beyond) if each.unique >= least]
    return min(reaching or [greedy], key=lambda each: (len(each.places), -each.unique, each.places))


def _require(table: DistinctCodes, largest: int) -> None:
    """Refuse a table without records, of too many columns, or of too many records for the memory."""
    records, width = len(table.records), len(table.names)
    if not records:
        raise NoRecordsError
    if width > MAX_COLUMNS:
        raise OutOfDomainError(
            f"columns must be at most {MAX_COLUMNS} columns, got the {width} of the table; name those that an attacker may know"
        )
    need = bytes_of_search(records, width, largest)
    require_memory(need, table.memory_limit, f"{records} distinct records of {width} columns")


def bytes_of_search(records: int, width: int, largest: int) -> int:
    """How much memory a search of sets of up to `largest` of so many columns takes."""
    return records * (2 * CODE_BYTES * width + PARTITION_BYTES * largest + SPARE_BYTES)


def _search(
    table: Refiner, least: int, largest: int, max_sets: int, *, is_smallest_enough: bool
) -> Search:
    """Search the sets of columns; keys, of which the sets below may be too many, by their difference sets.

    Without `max_sets`, the records that are read bound the search: a count reads those that share a class,
    and a set that difference sets alone tell from a key reads none.
    """
    whole = table.refine_all(range(len(table.codes)))
    if whole.unique < least:
        return Search([], largest, is_complete=True, counted=1)
    most_sets, most_records = (max_sets, inf) if max_sets else (inf, RECORDS_READ)
    # one record is a key without a column
    may_be_keys = table.people is None and least == table.total > 1
    if len(whole.rows) or not may_be_keys:
        of_columns = len(table.codes) * (len(table.order) + RECORDS_A_SET)
        limits = most_sets, max(most_records, of_columns)
        return find_minimal_sets(
            table, least, largest, *limits, is_smallest_enough=is_smallest_enough
        )
    found = find_minimal_keys(table, largest, most_sets, most_records)
    width = range(len(table.codes))
    places = [tuple(place for place in width if key >> place & 1) for key in found.keys]
    sets = [ColumnSet(each, table.total, table.total) for each in places]
    return _answer(sets, found.covered, found.visited, is_complete=found.covered == largest)


def _status(search: Search, largest: int) -> str:
    if search.is_complete:
        return OK
    return STATUS_INCOMPLETE.format(search.covered, largest, search.counted)


def _row(
    table: DistinctCodes, refiner: Refiner, column_set: ColumnSet, status: str
) -> QuasiIdentifier:
    columns = [table.names[place] for place in column_set.places]
    share = column_set.unique / refiner.total
    return QuasiIdentifier(
        columns, len(columns), share, column_set.unique, column_set.classes, refiner.total, status
    )


def find_greedy_set(table: Refiner, least: int, max_size: int) -> tuple[int, ...]:
    """Find a set of at most `max_size` columns by which `least` records, or people, are unique.

    The columns that make most unique, or leave the fewest pairs alike, are added one by one, and those that
    were not needed leave again. So no smaller set within the answer reaches `least`, but others may be
    smaller. Where the search does not reach `least`, the answer is the best set of the search.

    >>> import numpy as np
    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> find_greedy_set(Refiner.of(three), 3, 2)
    (0, 1)
    """
    sets = {
        _drop_columns(table, _add_columns(table, least, max_size, rank), least) for rank in RANKS
    }
    unique = {each: table.refine_all(each).unique for each in sets}
    reaching = [each for each in sets if unique[each] >= least]
    if not reaching:
        return min(sets, key=lambda each: (-unique[each], len(each), each))
    return min(reaching, key=lambda each: (len(each), -unique[each], each))


def _count_pairs(partition: Partition) -> int:
    return int(partition.sizes @ partition.sizes)


RANKS: Final[tuple[Rank, ...]] = (
    lambda partition: (partition.unique, -_count_pairs(partition)),
    lambda partition: (-_count_pairs(partition), partition.unique),
)


def _add_columns(table: Refiner, least: int, max_size: int, rank: Rank) -> list[int]:
    """Add the best of the columns until the share is reached; those of many values are compared first."""
    compared = max(MIN_COMPARED_COLUMNS, RECORDS_READ_IN_A_STEP // max(1, len(table.order)))
    remaining = sorted(range(len(table.codes)), key=lambda place: (-table.levels[place], place))
    chosen: list[int] = []
    partition = table.whole()
    while remaining and len(chosen) < max_size and (partition.unique < least or not chosen):
        ranks = {}
        for place in remaining[:compared]:
            checkpoint()
            ranks[place] = rank(table.refine(partition, place))
        best = max(ranks, key=ranks.__getitem__)
        partition = table.refine(partition, best)
        chosen.append(best)
        remaining.remove(best)
    return chosen


def _drop_columns(table: Refiner, chosen: list[int], least: int) -> tuple[int, ...]:
    """Leave out each column without which the rest still reach what all of them reach, up to `least`."""
    reached = min(least, table.refine_all(chosen).unique)
    needed = sorted(chosen, key=lambda place: (table.levels[place], place))
    for place in list(needed):
        rest = [each for each in needed if each != place]
        checkpoint()
        if rest and table.refine_all(rest).unique >= reached:
            needed = rest
    return tuple(sorted(needed))
