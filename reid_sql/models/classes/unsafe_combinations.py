"""Minimal combinations of values that fewer than k records, or people, share, by their columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.class_keys import MEMORY
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.classes.rare_combinations import (
    LEAST_SHARED,
    CodedRows,
    find_rare_combinations,
    list_sets,
)
from reid_sql.parameters import SUBSET_SIZE, Numbers

LEAST_SHARED_BY_SIZE: Final = Numbers(LEAST_SHARED, is_one_enough=True)
LeastSharedBySize = Annotated[float | Sequence[float], LEAST_SHARED_BY_SIZE]


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
    table: DistinctCodes, k: float | Sequence[float] = 5, max_size: int = 3, memory_mb: int = 1024
) -> list[UnsafeCombinations]:
    """Count, for every set of columns, its minimal combinations of values that fewer than k records share.

    `k` is one threshold, or one for each size. The smallest sets come first, of one size those with the most
    records. Sets without one are left out.

    >>> four = DistinctCodes(["a", "b"], [np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([2, 1, 1]))
    >>> [(row.columns, row.combinations, row.records) for row in find_unsafe_combinations(four, 2)]
    [(['a'], 1, 1), (['a', 'b'], 1, 1)]
    """
    asked, bound = int(SUBSET_SIZE.check("max_size", max_size)), int(MEMORY.check("memory_mb", memory_mb))
    least = _thresholds(k, asked)[: len(table.names)]
    if not len(table.records):
        raise NoRecordsError(NO_RECORDS)
    columns, people = [each.astype(np.int64) for each in table.codes], None
    if len(table.people):
        people = np.unique(table.people, return_inverse=True)[1].ravel()
    rows = CodedRows(columns, table.records, people)
    sets = list_sets(len(table.names), len(least))
    total = int(table.records.sum(dtype=np.int64)) if people is None else int(people.max()) + 1
    answer = []
    for found in find_rare_combinations(rows, sets, least, bound):
        records = int(table.records[found.rows].sum(dtype=np.int64))
        records = records if people is None else len(np.unique(people[found.rows]))
        names = [table.names[place] for place in found.columns]
        row = (names, len(names), found.combinations, records, records / total, found.fewest)
        answer.append(UnsafeCombinations(*row))
    return sorted(answer, key=lambda row: (row.size, -row.records))


def _thresholds(k: float | Sequence[float], max_size: int) -> list[int]:
    """Give the threshold of each size, or refuse another number of thresholds."""
    checked = LEAST_SHARED_BY_SIZE.check("k", k)
    given = [] if checked is None else checked.astype(np.int64).tolist()
    if len(given) not in {1, max_size}:
        rule = f"k must be one number, or one for each of the {max_size} sizes up to max_size"
        raise OutOfDomainError(f"{rule}, got {len(given)}; write it like 5 or [20, 10, 3]")
    return given * max_size if len(given) == 1 else given
