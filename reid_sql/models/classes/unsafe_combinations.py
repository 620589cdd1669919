"""Minimal combinations of values that fewer than k records, or people, share.

A combination is minimal if each part of it is shared by k or more. If fewer than k share a part, all who
share the whole are among them. So the sets of columns are looked at by size, each for the records that no
smaller set within it leaves with fewer than k: none of those left out shares the whole combination with one
of these (k = 2 is SUDA2's search, Manning, Haglin & Keane 2008).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.class_keys import MEMORY, Key, require_memory
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.classes.partitions import Integers
from reid_sql.models.classes.quasi_identifiers import MAX_COUNTED
from reid_sql.parameters import SUBSET_SIZE, Number

LEAST_SHARED: Final = Number(
    "a whole number of records from 2 to 1e+9",
    "pass how many records must share each combination of values, such as 5",
    2.0,
    1e9,
    whole=True,
)
LeastShared = Annotated[int, LEAST_SHARED]
Places = tuple[int, ...]
Bits = npt.NDArray[np.uint8]  # a distinct record each, eight of them a byte
RECORD_BYTES: Final = 80  # of the keys, their order and the counts, for a record of a set


@dataclass(frozen=True)
class UnsafeCombinations:
    """A set of columns with combinations of values that fewer than k records share, and k each part."""

    columns: list[str]  # the columns that the combinations are of
    size: int  # how many columns
    combinations: int  # combinations of values that fewer than k records share, while k share each part
    records: int  # records, or people, that have one of these combinations
    share: float  # their share of all records, or people
    fewest: int  # records, or people, that share the rarest of these combinations


def find_unsafe_combinations(
    table: DistinctCodes, k: int = 5, max_size: int = 3, memory_mb: int = 1024
) -> list[UnsafeCombinations]:
    """Count, for every set of columns, its minimal combinations of values that fewer than k records share.

    The smallest sets come first, of one size those with the most records. Sets without one are left out.

    >>> four = DistinctCodes(["a", "b"], [np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([2, 1, 1]))
    >>> [(row.columns, row.combinations, row.records) for row in find_unsafe_combinations(four, 2)]
    [(['a'], 1, 1), (['a', 'b'], 1, 1)]
    """
    least = int(LEAST_SHARED.check("k", k))
    largest = min(int(SUBSET_SIZE.check("max_size", max_size)), len(table.names))
    bound = int(MEMORY.check("memory_mb", memory_mb))
    width, records = len(table.names), len(table.records)
    if not records:
        raise NoRecordsError(NO_RECORDS)
    count = sum(comb(width, size) for size in range(1, largest + 1))
    if count > MAX_COUNTED:
        rule = f"the number of sets of columns to look at must be at most {MAX_COUNTED}, got {count}"
        raise OutOfDomainError(f"{rule}; pass fewer columns or a smaller max_size")
    widest = max(comb(width, size) for size in range(largest + 1))
    need = records * (RECORD_BYTES + 2 * widest // 8)
    require_memory(need, bound, f"{records} distinct records and {widest} sets of columns of one size")
    listed = list(_search(table, least, largest, count))
    return sorted(listed, key=lambda row: (row.size, -row.records))


def _search(table: DistinctCodes, least: int, largest: int, count: int) -> Iterator[UnsafeCombinations]:
    """Look at the sets of columns by their size."""
    smaller: dict[Places, Bits] = {}
    total = len(np.unique(table.people)) if len(table.people) else int(table.records.sum(dtype=np.int64))
    done = 0
    for size in range(1, largest + 1):
        level: dict[Places, Bits] = {}
        for chosen in combinations(range(len(table.names)), size):
            checkpoint(done / count)
            done += 1
            level[chosen], unsafe = _look(table, chosen, smaller, least)
            if unsafe is not None:
                number, records, fewest = unsafe
                columns = [table.names[place] for place in chosen]
                yield UnsafeCombinations(columns, size, number, records, records / total, fewest)
        smaller = level


def _look(
    table: DistinctCodes, chosen: Places, smaller: Mapping[Places, Bits], least: int
) -> tuple[Bits, tuple[int, int, int] | None]:
    """Which records have an unsafe combination within the set; and of minimal ones how many there are.

    Of these, the number of combinations, of records that have them, and of those that share the rarest.
    """
    height = len(table.records)
    known = np.zeros(-(-height // 8), dtype=np.uint8)
    for column in chosen if len(chosen) > 1 else ():
        known |= smaller[tuple(each for each in chosen if each != column)]
    is_unsafe = np.unpackbits(known, count=height)
    rows = np.flatnonzero(is_unsafe == 0)
    if not len(rows):
        return known, None
    ids, sizes = _count_sharing(table, chosen, rows)
    is_rare = sizes < least
    if not is_rare.any():
        return known, None
    rare = rows[is_rare[ids]]
    is_unsafe[rare] = 1
    people = table.people
    records = len(np.unique(people[rare])) if len(people) else int(table.records[rare].sum(dtype=np.int64))
    return np.packbits(is_unsafe), (int(np.count_nonzero(is_rare)), records, int(sizes.min()))


def _count_sharing(table: DistinctCodes, chosen: Places, rows: Integers) -> tuple[Integers, Integers]:
    """The combination of each row, and how many records, or people, share each combination."""
    key = Key(np.zeros(len(rows), dtype=np.int64), 1)
    for place in chosen:
        codes = table.codes[place][rows].astype(np.int64)
        key = key.with_column(codes, int(codes.max()) + 1)
    ids, sizes = key.numbered()
    if len(table.people):
        pairs = np.unique(np.stack((ids, table.people[rows]), axis=1), axis=0)
        return ids, np.bincount(pairs[:, 0], minlength=len(sizes))
    return ids, np.bincount(ids, table.records[rows], len(sizes)).astype(np.int64)
