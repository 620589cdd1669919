"""Special uniques (SUDA): how much a record stands out, by the sets of columns that single it out.

Elliot, Manning, Mayes, Gurd & Bane 2005: a minimal unique set of k of the A columns scores Π (A − i) for i
from k to min(M, A − 1), where M is the size up to which sets are looked for; a record scores the sum. Elliot
& Manning 2003 share a risk of the file, the chance that a unique match is right (DIS), among the records by
their scores.
"""

from dataclasses import dataclass
from math import prod
from typing import Annotated, Final

import numpy as np

from reid_sql.models.classes.minimal_uniques import MinimalUniques
from reid_sql.parameters import Floats, Integers, NameLists, Number, TextColumn

DIS: Final = Number(
    "a probability between 0 and 1",
    "pass the chance that a unique match with the table is right, such as 0.1",
    0.0,
    1.0,
)
Dis = Annotated[float, DIS]


@dataclass(frozen=True)
class UniqueSubsets:
    """A record with a smallest set of columns that singles it out, one row each."""

    record: Integers
    columns: NameLists  # the columns that together single the record out, while no smaller set of them does
    size: Integers  # how many columns
    score: Floats  # the set's part of the record's SUDA score


@dataclass(frozen=True)
class SudaScores:
    """A record that some set of columns singles out, one row each."""

    record: Integers
    subsets: Integers  # smallest sets of columns that single the record out
    smallest_size: Integers  # columns in the smallest of them
    suda_score: Floats  # sum of the scores of these sets
    dis_suda: Floats  # the record's part of `dis`: its chance that a unique match is right, by its score


@dataclass(frozen=True)
class ColumnContributions:
    """A record with a column that singles it out, alone or with others, one row each."""

    record: Integers
    column_name: TextColumn  # the column
    subsets: Integers  # smallest sets that single the record out and have this column
    score: Floats  # sum of the scores of these sets
    contribution: Floats  # their share of the record's SUDA score; shares of several columns overlap


def set_scores(found: MinimalUniques) -> Floats:
    """Give each set its score, Π (A − i) for i from its size k to min(M, A − 1).

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes
    >>> none = np.empty(0, dtype=np.int64)
    >>> set_scores(MinimalUniques(["a", "b", "c", "d"], 3, [(0,), (0, 1), (0, 1, 2)], none, none)).tolist()
    [6.0, 2.0, 1.0]
    """
    width = len(found.names)
    last = min(found.largest, width - 1)
    by_size = [float(prod(width - i for i in range(size, last + 1))) for size in range(width + 1)]
    return np.array(by_size)[found.sizes]


def subsets(found: MinimalUniques) -> UniqueSubsets:
    """Give every record its sets, the smallest first.

    >>> none = np.empty(0, dtype=np.int64)
    >>> one = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([7]), np.array([2]))
    >>> subsets(one).columns[0], subsets(one).score.tolist()
    (['a', 'b'], [1.0])
    """
    names = np.empty(len(found.sets), dtype=np.object_)
    names[:] = [[found.names[place] for place in each] for each in found.sets]
    place = found.place
    return UniqueSubsets(found.record, names[place], found.sizes[place], set_scores(found)[place])


def scores(found: MinimalUniques, dis: float = 0.1) -> SudaScores:
    """Give every record that has a set its score, and its part of the file's risk.

    `dis` is the mean over these records: dis · score / mean score, and at most 1.

    >>> two = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([0, 0, 4]), np.array([0, 1, 2]))
    >>> scores(two).suda_score.tolist(), scores(two).dis_suda.round(4).tolist()
    ([2.0, 1.0], [0.1333, 0.0667])
    """
    risk = float(DIS.check("dis", dis))
    record, first, count = np.unique(found.record, return_index=True, return_counts=True)
    if not len(record):
        return SudaScores(record, count, count, np.empty(0), np.empty(0))
    total = np.add.reduceat(set_scores(found)[found.place], first)
    part = np.minimum(1.0, risk * total / total.mean())
    return SudaScores(record, count, found.sizes[found.place[first]], total, part)


def contributions(found: MinimalUniques) -> ColumnContributions:
    """Give every record the columns that are in its sets, each with the score of the sets that have it.

    >>> two = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([0, 0, 4]), np.array([0, 1, 2]))
    >>> contributions(two).contribution.tolist()
    [0.5, 0.5, 1.0, 1.0]
    """
    record, place = np.unique(found.record, return_inverse=True)
    width = len(found.names)
    of_set = set_scores(found)[found.place]
    total = np.bincount(place, of_set, minlength=len(record))
    held, mass = (np.empty((len(record), width)) for _ in range(2))
    members = found.members
    for column in range(width):
        inside = members[found.place, column]
        held[:, column] = np.bincount(place[inside], minlength=len(record))
        mass[:, column] = np.bincount(place[inside], of_set[inside], minlength=len(record))
    row, column_place = np.nonzero(held)
    score = mass[row, column_place]
    names = np.array(found.names)[column_place]
    sets = held[row, column_place].astype(np.int64)
    return ColumnContributions(record[row], names, sets, score, score / total[row])
