"""The search for minimal combinations of values that too few records, or people, share.

A combination is minimal if enough share each part of it. If too few share a part, all who share the whole are
among them. So the sets of columns are searched by size, each for the records that no smaller set within it
leaves with too few: none of those left out shares the whole combination with one of these. With two as enough
the combinations are the minimal sample uniques (SUDA2's search, Manning, Haglin & Keane 2008).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.class_keys import combine_columns, require_memory, run_for_each
from reid_sql.models.classes.disclosure import OK, search_status
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.classes.partitions import Integers
from reid_sql.models.classes.quasi_identifiers import MAX_COUNTED
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import SUBSET_SIZE, Number, Numbers, Places

LEAST_SHARED: Final = Number(
    "a whole number of records from 2 to 1e+9",
    "pass how many records must share each combination of values, such as 5",
    2.0,
    1e9,
    whole=True,
)
LeastShared = Annotated[int, LEAST_SHARED]
Bits = npt.NDArray[np.uint8]  # a row each, eight of them a byte
ROW_BYTES: Final = 80  # of the keys, their order and the counts, for a row of a set


@dataclass(frozen=True)
class CodedRows:
    """Rows as codes, with how many records each is, or whose it is where people are counted."""

    columns: Sequence[Integers]  # columns × (rows,)
    records: Integers | None = None  # (rows,), else one each
    people: Integers | None = None  # (rows,): from 0, without gaps

    def count_sharing(self, chosen: Places, rows: Integers) -> tuple[Integers, Integers]:
        """Number the combination of each row, and count the records, or people, that share each.

        >>> two = CodedRows([np.array([7, 7, 8])], people=np.array([0, 0, 1]))
        >>> [each.tolist() for each in two.count_sharing((0,), np.arange(3))]
        [[0, 0, 1], [1, 1]]
        """
        columns = [self.columns[place].take(rows) for place in chosen]
        ids, sizes = combine_columns(columns, len(rows)).numbered()
        if self.people is not None:
            number = int(self.people.max()) + 1
            pairs = np.unique(ids * number + self.people.take(rows))
            return ids, np.bincount(pairs // number, minlength=len(sizes))
        if self.records is not None:
            return ids, np.bincount(ids, self.records.take(rows), len(sizes)).astype(np.int64)
        return ids, sizes


@dataclass(frozen=True)
class RareCombinations:
    """The minimal combinations of a set of columns that too few share."""

    columns: Places
    rows: Integers  # those that have one of the combinations, ascending
    before: Bits  # rows that a smaller set of these columns leaves with too few
    combinations: int
    fewest: int  # records, or people, that share the rarest


def list_sets(width: int, largest: int) -> list[Places]:
    """List the sets of up to `largest` columns, smaller sets first; refuse more than 200,000.

    >>> list_sets(2, 2)
    [(0,), (1,), (0, 1)]
    """
    count = sum(comb(width, size) for size in range(1, largest + 1))
    if count > MAX_COUNTED:
        raise OutOfDomainError(
            f"the number of sets of columns to look at must be at most {MAX_COUNTED}, got {count}; pass fewer columns or a smaller max_size"
        )
    return [each for size in range(1, largest + 1) for each in combinations(range(width), size)]


def find_rare_combinations(
    table: CodedRows, sets: Sequence[Places], least: Sequence[int], memory_limit: int
) -> Iterator[RareCombinations]:
    """Find the minimal combinations of each of the sets, which are listed by size.

    Fewer than `least[0]` share a combination of one column, `least[1]` of two, and so on. The sets of one
    size are searched on all processors.

    >>> three = CodedRows([np.array([1, 1, 2]), np.array([1, 2, 2])])
    >>> rare = find_rare_combinations(three, list_sets(2, 2), [2, 2], 10**6)
    >>> [(each.columns, each.rows.tolist()) for each in rare]
    [((0,), [2]), ((1,), [0]), ((0, 1), [1])]
    """
    height, width = len(table.columns[0]), len(table.columns)
    widest = max(comb(width, size) for size in range(len(least) + 1))
    need = height * (ROW_BYTES + 2 * widest // 8)
    require_memory(need, memory_limit, f"{height} records and {widest} sets of columns of one size")
    smaller: dict[Places, Bits] = {}
    for size, enough in enumerate(least, 1):
        places = [place for place, each in enumerate(sets) if len(each) == size]
        search = partial(_search_set, table, sets, smaller, enough)
        answers = run_for_each(search, places, height)
        yield from (rare for rare, _ in answers if rare is not None)
        smaller = {sets[at]: bits for at, (_, bits) in zip(places, answers, strict=True)}


def _search_set(
    table: CodedRows,
    sets: Sequence[Places],
    smaller: Mapping[Places, Bits],
    enough: int,
    place: int,
) -> tuple[RareCombinations | None, Bits]:
    """The minimal combinations of one set, and all rows that it or a part of it leaves with too few."""
    checkpoint(place / len(sets))
    chosen = sets[place]
    height = len(table.columns[0])
    before = np.zeros(-(-height // 8), dtype=np.uint8)
    for column in chosen if len(chosen) > 1 else ():
        before |= smaller[tuple(each for each in chosen if each != column)]
    is_rare_row = np.unpackbits(before, count=height)
    rows = np.flatnonzero(is_rare_row == 0)
    if not len(rows):
        return None, before
    ids, shared = table.count_sharing(chosen, rows)
    is_rare = shared < enough
    if not is_rare.any():
        return None, before
    rare = rows[is_rare[ids]]
    is_rare_row[rare] = 1
    number, fewest = int(np.count_nonzero(is_rare)), int(shared.min())
    return RareCombinations(chosen, rare, before, number, fewest), np.packbits(is_rare_row)


# Minimal combinations of values that fewer than k records, or people, share, by their columns.

LEAST_SHARED_BY_SIZE: Final = Numbers(LEAST_SHARED, is_one_enough=True, example="5 or [20, 5]")
LeastSharedBySize = Annotated[float | Sequence[float], LEAST_SHARED_BY_SIZE]


@dataclass(frozen=True)
class UnsafeCombinations:
    """A set of columns with combinations of values that fewer than k records share, and k each part."""

    columns: list[str]  # the columns that the combinations are of
    size: int  # how many columns
    # combinations of values that fewer than k records share, while k share each part
    combinations: int
    records: int  # records, or people, that have one of these combinations
    share: float  # their share of all records, or people
    fewest: int | None  # records, or people, that share the rarest of these combinations
    status: str  # ok, or that sets of more columns were not searched


def find_unsafe_combinations(
    table: DistinctCodes, k: float | Sequence[float] = 5, max_size: int = 3
) -> list[UnsafeCombinations]:
    """Count, for every set of columns, its minimal combinations of values that fewer than k records share.

    `k` is one threshold, or one for each size. The smallest sets come first, of one size those with the most
    records. Sets without one are left out; where none is left and larger sets were not searched, one row
    without columns says so.

    >>> four = DistinctCodes(["a", "b"], [np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([2, 1, 1]))
    >>> [(row.columns, row.combinations, row.records) for row in find_unsafe_combinations(four, 2)]
    [(['a'], 1, 1), (['a', 'b'], 1, 1)]
    """
    largest = int(SUBSET_SIZE.check("max_size", max_size))
    least = _thresholds(k, largest)[: len(table.names)]
    if not len(table.records):
        raise NoRecordsError
    columns, people = [each.astype(np.int64) for each in table.codes], None
    if len(table.people):
        people = np.unique(table.people, return_inverse=True)[1].ravel()
    rows = CodedRows(columns, table.records, people)
    sets = list_sets(len(table.names), len(least))
    status = search_status(len(least), len(table.names))
    total = int(table.records.sum(dtype=np.int64)) if people is None else int(people.max()) + 1
    answer = []
    for rare in find_rare_combinations(rows, sets, least, table.memory_limit):
        records = int(table.records[rare.rows].sum(dtype=np.int64))
        records = records if people is None else len(np.unique(people[rare.rows]))
        names = [table.names[place] for place in rare.columns]
        row = (names, len(names), rare.combinations, records, records / total, rare.fewest, status)
        answer.append(UnsafeCombinations(*row))
    if not answer and status != OK:
        return [UnsafeCombinations([], 0, 0, 0, 0.0, None, status)]
    return sorted(answer, key=lambda row: (row.size, -row.records))


def _thresholds(k: float | Sequence[float], max_size: int) -> list[int]:
    """Give the threshold of each size, or refuse another number of thresholds."""
    checked = LEAST_SHARED_BY_SIZE.check("k", k)
    thresholds = [] if checked is None else checked.astype(np.int64).tolist()
    if len(thresholds) not in {1, max_size}:
        raise OutOfDomainError(
            f"k must be one number, or one for each of the {max_size} sizes up to max_size, got {len(thresholds)}; write it like 5 or [20, 10, 3]"
        )
    return thresholds * max_size if len(thresholds) == 1 else thresholds
