"""Which columns together identify people: all minimal quasi-identifiers of a table, and all minimal keys."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.class_keys import CODE_BYTES, MEMORY, require_memory
from reid_sql.models.classes.column_sets import ColumnSet, Search, find_minimal_sets, least_of_share
from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.classes.minimal_keys import TooManySetsError, find_minimal_keys
from reid_sql.models.classes.partitions import DistinctRecords, Refiner
from reid_sql.parameters import MAX_COLUMNS, SUBSET_SIZE, Choice, Integers, Number

AT_LEAST: Final = Number(
    "a share above 0 and at most 1",
    "pass the share of records that a set of columns makes unique, such as 0.05, or 1 for keys",
    5e-324,
    1.0,
)
MAX_SETS: Final = Number(
    "a whole number of sets of columns from 1 to 1e+9",
    "pass how many sets of columns to count at most, such as 1000000",
    1.0,
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
STATUS_INCOMPLETE: Final = "incomplete: the list is complete up to {} of {} columns, with max_sets of {}"
STATUS_NO_SIZE_COUNTED: Final = (
    "incomplete: not available, since more than {} sets of columns have to be counted"
)
NO_PEOPLE: Final = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class DistinctCodes:
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
    status: str  # ok, or up to how many columns the list is complete, or why it is empty


def find_quasi_identifiers(
    table: DistinctCodes,
    at_least: float = 0.05,
    max_size: int = MAX_COLUMNS,
    max_sets: int = 1_000_000,
    memory_mb: int = 1024,
    *,
    sets: str = "minimal",
) -> list[QuasiIdentifier]:
    """Find every minimal set of columns by which at least such a share of the records, or people, is unique.

    The smallest sets come first; with `sets` "smallest", those of the fewest columns are all. Where none
    reaches the share, or not all sets could be counted, a row without columns or the status of every row says
    so.

    >>> names = DistinctCodes(["age", "sex"], [np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> [(each.columns, each.share_unique) for each in find_quasi_identifiers(names, 1.0)]
    [(['age', 'sex'], 1.0)]
    """
    share = AT_LEAST.check_one("at_least", float(at_least))
    largest = min(int(SUBSET_SIZE.check("max_size", max_size)), len(table.names))
    allowed = int(MAX_SETS.check("max_sets", max_sets))
    is_smallest_enough = SETS.check("sets", sets) == "smallest"
    _require(table, int(MEMORY.check("memory_mb", memory_mb)), largest)
    refiner = Refiner.of(
        DistinctRecords(table.codes, table.records, table.people if len(table.people) else None)
    )
    least = least_of_share(share, refiner.total)
    search = _search(refiner, least, largest, allowed, is_smallest_enough=is_smallest_enough)
    status = _status(search, largest, allowed)
    if not search.sets:
        most = f"{search.covered} column{'s' * (search.covered > 1)}"
        lacking = status if status != OK else STATUS_NO_SET.format(most)
        return [QuasiIdentifier([], None, None, None, None, refiner.total, lacking)]
    fewest = len(search.sets[0].places) if is_smallest_enough else largest
    return [_row(table, refiner, each, status) for each in search.sets if len(each.places) <= fewest]


def _require(table: DistinctCodes, memory_mb: int, largest: int) -> None:
    """Refuse a table without records, of too many columns, or of too many records for the memory."""
    records, width = len(table.records), len(table.names)
    if not records:
        raise NoRecordsError(NO_RECORDS)
    if width > MAX_COLUMNS:
        rule = f"columns must be at most {MAX_COLUMNS} columns, got the {width} of the table"
        raise OutOfDomainError(f"{rule}; name those that an attacker may know")
    need = records * (2 * CODE_BYTES * width + PARTITION_BYTES * largest + SPARE_BYTES)
    require_memory(need, memory_mb, f"{records} distinct records of {width} columns")


def _search(table: Refiner, least: int, largest: int, max_sets: int, *, is_smallest_enough: bool) -> Search:
    """Search the sets of columns; keys, of which the sets below may be too many, by their difference sets."""
    every = table.refine_all(range(len(table.codes)))
    if every.unique < least:
        return Search([], largest, is_complete=True, counted=1)
    may_be_keys = table.people is None and least == table.total > 1  # one record is a key without a column
    if len(every.rows) or not may_be_keys:
        return find_minimal_sets(table, least, largest, max_sets, is_smallest_enough=is_smallest_enough)
    try:
        keys = find_minimal_keys(table, largest, max_sets)
    except TooManySetsError:
        return Search([], 0, is_complete=False, counted=max_sets)
    places = [tuple(place for place in range(len(table.codes)) if key >> place & 1) for key in keys]
    sets = [ColumnSet(each, table.total, table.total) for each in places]
    return Search(
        sorted(sets, key=lambda key: (len(key.places), key.places)),
        largest,
        is_complete=True,
        counted=len(sets),
    )


def _status(search: Search, largest: int, max_sets: int) -> str:
    if search.is_complete:
        return OK
    if not search.covered:
        return STATUS_NO_SIZE_COUNTED.format(max_sets)
    return STATUS_INCOMPLETE.format(search.covered, largest, max_sets)


def _row(table: DistinctCodes, refiner: Refiner, column_set: ColumnSet, status: str) -> QuasiIdentifier:
    columns = [table.names[place] for place in column_set.places]
    share = column_set.unique / refiner.total
    return QuasiIdentifier(
        columns, len(columns), share, column_set.unique, column_set.classes, refiner.total, status
    )
