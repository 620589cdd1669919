"""The smallest sets of columns that single a record out (minimal sample uniques), and the scores of SUDA."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK, search_status
from reid_sql.models.classes.quasi_identifiers import Codes, sort_records
from reid_sql.models.classes.rare_combinations import (
    LEAST_SHARED,
    CodedRows,
    find_rare_combinations,
    list_sets,
)
from reid_sql.parameters import (
    SUBSET_SIZE,
    Flags,
    Floats,
    Integers,
    NameLists,
    Number,
    Places,
    TextColumn,
)

SinglingSets = tuple[Integers, Integers]  # records, and the places of the sets that single them out
MaxSize = Annotated[int, SUBSET_SIZE]
SINGLED_OUT: Final = 2  # records that share a combination, below which it singles one out


@dataclass(frozen=True)
class MinimalUniques:
    """Records with the sets that single them out, by record, then in the order of the sets."""

    names: Sequence[str]  # (columns,)
    largest: int  # columns of the largest sets that were looked at
    sets: Sequence[Places]
    record: Integers  # (uniques,)
    place: Integers  # (uniques,): of the set

    @property
    def status(self) -> str:
        """Whether larger sets may single records out, too."""
        return search_status(self.largest, len(self.names))

    @property
    def is_silent(self) -> bool:
        """Whether the answer would have no row, although larger sets may single records out."""
        return not len(self.record) and self.status != OK

    @property
    def sizes(self) -> Integers:
        """How many columns each set has."""
        return np.array([len(each) for each in self.sets], dtype=np.int64)

    @property
    def members(self) -> Flags:
        """Which columns are in which sets, (sets, columns)."""
        is_member = np.zeros((len(self.sets), len(self.names)), dtype=np.bool_)
        for row, each in zip(is_member, self.sets, strict=True):
            row[list(each)] = True
        return is_member


def find_minimal_uniques(table: Codes, max_size: int = 4, k: int = SINGLED_OUT) -> MinimalUniques:
    """Find the sets of at most `max_size` columns that single a record out while no smaller set in them does.

    With another `k`, those by which fewer than k records, or people, have the record's values. Refuses an
    empty table, and more than 200,000 sets.

    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> answer = find_minimal_uniques(table)
    >>> answer.record.tolist(), [answer.sets[place] for place in answer.place]
    ([0, 1, 2], [(1,), (0, 1), (0,)])
    """
    largest = min(int(SUBSET_SIZE.check("max_size", max_size)), len(table.names))
    least = int(LEAST_SHARED.check("k", k))
    if not table.records:
        raise NoRecordsError
    sets = list_sets(len(table.names), largest)
    return MinimalUniques(table.names, largest, sets, *_search_sets(table, sets, [least] * largest))


def _search_sets(table: Codes, sets: Sequence[Places], least: Sequence[int]) -> SinglingSets:
    """Records, ascending, and the places of the sets that single them out.

    Of people, the first record of each represents them; a set singles a person out where it does so in one of
    their records, and no smaller set in it does in any.
    """
    ordered = sort_records(table)
    first, people = None, None
    if len(ordered.people):
        _, starts, people = np.unique(ordered.people, return_index=True, return_inverse=True)
        people = people.ravel()
        first = starts[people]
    rows = CodedRows([codes.astype(np.int64) for codes in ordered.codes], people=people)
    number = {each: place for place, each in enumerate(sets)}
    nothing: Integers = np.empty(0, dtype=np.int64)
    singled, places = [nothing], [nothing]
    for rare in find_rare_combinations(rows, sets, least, table.memory_limit):
        alone: Integers = rare.rows.astype(np.int64, copy=False)
        if first is not None:  # the first records of the people whom this set alone singles out
            before = first[np.flatnonzero(np.unpackbits(rare.before, count=len(first)))]
            alone = np.setdiff1d(first[rare.rows], before)
        singled.append(alone)
        places.append(np.full(len(alone), number[rare.columns]))
    record = np.concatenate(singled)
    by_record = np.argsort(record, kind="stable")
    return record[by_record], np.concatenate(places)[by_record]


# Special uniques (SUDA): how conspicuous a record is, by the sets of columns that single it out.
# Elliot, Manning, Mayes, Gurd & Bane 2005: a minimal unique set of k of the A columns scores Π (A − i) for
# i from k to min(M, A − 1), where M is the size up to which sets are looked for; a record scores the sum.
# Elliot & Manning 2003 share a risk of the file, the chance that a unique match is right (DIS), among the
# records by their scores.

# in the row of a search that stopped and found nothing
NONE_FOUND: Final = np.zeros(1, dtype=np.int64)
NO_SCORE: Final = np.zeros(1)

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

    # the record; NULL in the one row of a search that stopped and found none
    record: Integers | None
    # the columns that together single the record out, while no smaller set of them does
    columns: NameLists
    size: Integers  # how many columns
    score: Floats  # the set's part of the record's SUDA score
    status: str  # ok, or that sets of more columns were not searched


@dataclass(frozen=True)
class SudaScores:
    """A record that some set of columns singles out, one row each."""

    # the record; NULL in the one row of a search that stopped and found none
    record: Integers | None
    subsets: Integers  # smallest sets of columns that single the record out
    smallest_size: Integers | None  # columns in the smallest of them
    suda_score: Floats  # sum of the scores of these sets
    # the record's part of `dis`: its chance that a unique match is right, by its score
    dis_suda: Floats
    status: str  # ok, or that sets of more columns were not searched


@dataclass(frozen=True)
class ColumnContributions:
    """A record with a column that singles it out, alone or with others, one row each."""

    # the record; NULL in the one row of a search that stopped and found none
    record: Integers | None
    column_name: TextColumn | None  # the column
    subsets: Integers  # smallest sets that single the record out and have this column
    score: Floats  # sum of the scores of these sets
    # their share of the record's SUDA score; shares of several columns overlap
    contribution: Floats
    status: str  # ok, or that sets of more columns were not searched


def score_sets(minimal_uniques: MinimalUniques) -> Floats:
    """Give each set its score, Π (A − i) for i from its size k to min(M, A − 1).

    >>> from reid_sql.models.classes.quasi_identifiers import Codes
    >>> none = np.empty(0, dtype=np.int64)
    >>> score_sets(MinimalUniques(["a", "b", "c", "d"], 3, [(0,), (0, 1), (0, 1, 2)], none, none)).tolist()
    [6.0, 2.0, 1.0]
    """
    width = len(minimal_uniques.names)
    last = min(minimal_uniques.largest, width - 1)
    by_size = [float(prod(width - i for i in range(size, last + 1))) for size in range(width + 1)]
    return np.array(by_size)[minimal_uniques.sizes]


def list_subsets(minimal_uniques: MinimalUniques) -> UniqueSubsets:
    """Give every record its sets, the smallest first.

    >>> none = np.empty(0, dtype=np.int64)
    >>> one = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([7]), np.array([2]))
    >>> list_subsets(one).columns[0], list_subsets(one).score.tolist()
    (['a', 'b'], [1.0])
    """
    names = np.empty(len(minimal_uniques.sets), dtype=np.object_)
    names[:] = [[minimal_uniques.names[place] for place in each] for each in minimal_uniques.sets]
    record, place, status = minimal_uniques.record, minimal_uniques.place, minimal_uniques.status
    if minimal_uniques.is_silent:
        names[:1] = [[]]
        return UniqueSubsets(None, names[:1], NONE_FOUND, NO_SCORE, status)
    scores = score_sets(minimal_uniques)
    return UniqueSubsets(record, names[place], minimal_uniques.sizes[place], scores[place], status)


def score_records(minimal_uniques: MinimalUniques, dis: float = 0.1) -> SudaScores:
    """Give every record that has a set its score, and its part of the file's risk.

    `dis` is the mean over these records: dis · score / mean score, and at most 1.

    >>> two = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([0, 0, 4]), np.array([0, 1, 2]))
    >>> score_records(two).suda_score.tolist(), score_records(two).dis_suda.round(4).tolist()
    ([2.0, 1.0], [0.1333, 0.0667])
    """
    risk, status = float(DIS.check("dis", dis)), minimal_uniques.status
    if minimal_uniques.is_silent:
        return SudaScores(None, NONE_FOUND, None, NO_SCORE, NO_SCORE, status)
    record, first, count = np.unique(minimal_uniques.record, return_index=True, return_counts=True)
    if not len(record):
        return SudaScores(record, count, count, np.empty(0), np.empty(0), status)
    total = np.add.reduceat(score_sets(minimal_uniques)[minimal_uniques.place], first)
    part = np.minimum(1.0, risk * total / total.mean())
    smallest = minimal_uniques.sizes[minimal_uniques.place[first]]
    return SudaScores(record, count, smallest, total, part, status)


def score_columns(minimal_uniques: MinimalUniques) -> ColumnContributions:
    """Give every record the columns that are in its sets, each with the score of the sets that have it.

    >>> two = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([0, 0, 4]), np.array([0, 1, 2]))
    >>> score_columns(two).contribution.tolist()
    [0.5, 0.5, 1.0, 1.0]
    """
    status = minimal_uniques.status
    if minimal_uniques.is_silent:
        return ColumnContributions(None, None, NONE_FOUND, NO_SCORE, NO_SCORE, status)
    record, place = np.unique(minimal_uniques.record, return_inverse=True)
    width = len(minimal_uniques.names)
    of_set = score_sets(minimal_uniques)[minimal_uniques.place]
    total = np.bincount(place, of_set, minlength=len(record))
    memberships, mass = (np.empty((len(record), width)) for _ in range(2))
    members = minimal_uniques.members
    for column in range(width):
        inside = members[minimal_uniques.place, column]
        memberships[:, column] = np.bincount(place[inside], minlength=len(record))
        mass[:, column] = np.bincount(place[inside], of_set[inside], minlength=len(record))
    row, column_place = np.nonzero(memberships)
    score = mass[row, column_place]
    names = np.array(minimal_uniques.names)[column_place]
    sets = memberships[row, column_place].astype(np.int64)
    return ColumnContributions(record[row], names, sets, score, score / total[row], status)
