"""The smallest sets of columns that single a record out (minimal sample uniques), and the scores of SUDA."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.class_keys import MEMORY, Key, require_memory, run_for_each
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.classes.quasi_identifiers import MAX_COUNTED, Codes, sort_records
from reid_sql.parameters import SUBSET_SIZE, Floats, Integers, NameLists, Number, TextColumn

# The smallest sets of columns that single a record out: minimal sample uniques, exactly.
# A set of columns that singles a record out does so with any column more; of people, a record
# from those of all others. So the sets are looked through by their size, and for each of them only the
# records that no smaller set within it singles out: none of the records that are left out is like one of
# these.

Bits = npt.NDArray[np.uint8]  # a record each, eight of them a byte
ColumnSet = tuple[int, ...]  # places of columns, ascending
SinglingSets = tuple[Integers, Integers]  # records, and the places of the sets that single them out

RECORD_BYTES: Final = 80  # of the keys, their order and the answers, for a record of a set
MaxSize = Annotated[int, SUBSET_SIZE]


@dataclass(frozen=True)
class EngineCodes(Codes):
    """A table that stayed with its engine, which looks itself for what singles records out."""

    record_count: int
    singled: Callable[[Sequence[ColumnSet]], SinglingSets]  # the records ascending

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.record_count


@dataclass(frozen=True)
class MinimalUniques:
    """Records with the sets that single them out, by record, then in the order of the sets."""

    names: Sequence[str]  # (columns,)
    largest: int  # columns of the largest sets that were looked at
    sets: Sequence[ColumnSet]
    record: Integers  # (uniques,)
    place: Integers  # (uniques,): of the set

    @property
    def sizes(self) -> Integers:
        """How many columns each set has."""
        return np.array([len(each) for each in self.sets], dtype=np.int64)

    @property
    def members(self) -> npt.NDArray[np.bool_]:
        """Which columns are in which sets, (sets, columns)."""
        is_member = np.zeros((len(self.sets), len(self.names)), dtype=np.bool_)
        for row, each in zip(is_member, self.sets, strict=True):
            row[list(each)] = True
        return is_member


def find_minimal_uniques(table: Codes, max_size: int = 4, memory_mb: int = 1024) -> MinimalUniques:
    """Find the sets of at most `max_size` columns that single a record out while no smaller set in them does.

    Refuses an empty table, and more than 200,000 sets.

    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> answer = find_minimal_uniques(table)
    >>> answer.record.tolist(), [answer.sets[place] for place in answer.place]
    ([0, 1, 2], [(1,), (0, 1), (0,)])
    """
    largest = min(int(SUBSET_SIZE.check("max_size", max_size)), len(table.names))
    bound = int(MEMORY.check("memory_mb", memory_mb))
    if not table.records:
        raise NoRecordsError(NO_RECORDS)
    count = sum(comb(len(table.names), size) for size in range(1, largest + 1))
    if count > MAX_COUNTED:
        rule = f"the number of sets of columns to look at must be at most {MAX_COUNTED}, got {count}"
        raise OutOfDomainError(f"{rule}; pass fewer columns or a smaller max_size")
    places = range(len(table.names))
    sets = [each for size in range(1, largest + 1) for each in combinations(places, size)]
    if isinstance(table, EngineCodes):
        return MinimalUniques(table.names, largest, sets, *table.singled(sets))
    return MinimalUniques(table.names, largest, sets, *_search_sets(table, sets, largest, bound))


def _search_sets(table: Codes, sets: Sequence[ColumnSet], largest: int, memory_mb: int) -> SinglingSets:
    """Records, and the places of the sets that single them out."""
    widest = max(comb(len(table.names), size) for size in range(largest + 1))
    records = len(table.position)
    need = records * (RECORD_BYTES + 2 * widest // 8)
    require_memory(need, memory_mb, f"{records} records and {widest} sets of columns of one size")
    ordered = sort_records(table)
    columns, people = [codes.astype(np.int64) for codes in ordered.codes], People.of(ordered)
    sets_found: list[Integers] = []
    smaller: dict[ColumnSet, Bits] = {}
    for size in range(1, largest + 1):
        level = [each for each in sets if len(each) == size]
        alone, unique = zip(*_search_size(columns, level, smaller, people), strict=True)
        sets_found.extend(alone)
        smaller = dict(zip(level, unique, strict=True))
    singled = np.concatenate(sets_found)
    places = np.repeat(np.arange(len(sets)), [len(each) for each in sets_found])
    by_record = np.argsort(singled, kind="stable")
    return singled[by_record], places[by_record]


def _search_size(
    columns: Sequence[Integers],
    level: Sequence[ColumnSet],
    smaller: Mapping[ColumnSet, Bits],
    people: "People | None",
) -> list[tuple[Integers, Bits]]:
    """What each set of one size singles out, on all processors."""
    answers: list[Any] = [None] * len(level)

    def look(number: int) -> None:
        answers[number] = _search_set(columns, level[number], smaller, people)

    run_for_each(look, range(len(level)), len(columns[0]))
    return answers


def _search_set(
    columns: Sequence[Integers], chosen: ColumnSet, smaller: Mapping[ColumnSet, Bits], people: "People | None"
) -> tuple[Integers, Bits]:
    """The records that the set alone singles out, no set of one column less; and all of them, as bits.

    Of people, the first record of each represents them, and all of their lone records are among the bits.
    """
    records = len(columns[0])
    known = np.zeros(-(-records // 8), dtype=np.uint8)
    for column in chosen if len(chosen) > 1 else ():
        known |= smaller[tuple(each for each in chosen if each != column)]
    open_to = np.flatnonzero(np.unpackbits(known, count=records) == 0)
    if not len(open_to):
        return open_to, known
    key = _combine_codes([columns[place][open_to] for place in chosen])
    both = np.unpackbits(known, count=records)
    if people is None:
        ids, sizes = key.classes()
        alone = open_to[(sizes == 1)[ids]]
        both[alone] = 1
        return alone, np.packbits(both)
    alone = open_to[people.alone(key, open_to)]
    before = people.first[np.flatnonzero(both)]
    both[alone] = 1
    return np.setdiff1d(people.first[alone], before), np.packbits(both)


@dataclass(frozen=True)
class People:
    """Whose each record is."""

    first: Integers  # (records,): the first record of its person

    @classmethod
    def of(cls, table: Codes) -> "People | None":
        """The people of the table; None where each record is a person."""
        if not len(table.people):
            return None
        _, first, person = np.unique(table.people, return_index=True, return_inverse=True)
        return cls(first[person])

    def alone(self, key: Key, records: Integers) -> npt.NDArray[np.bool_]:
        """Which of the records are in a class of one person.

        >>> People(np.array([0, 0, 2])).alone(Key(np.array([1, 1, 0]), 2), np.arange(3)).tolist()
        [True, True, True]
        """
        ids, sizes = key.numbered()
        owner = self.first[records]
        least, most = np.full(len(sizes), len(self.first)), np.full(len(sizes), -1)
        np.minimum.at(least, ids, owner)
        np.maximum.at(most, ids, owner)
        alone: npt.NDArray[np.bool_] = least == most
        return alone[ids]


def _combine_codes(codes: Sequence[Integers]) -> Key:
    """The values of the columns as one number, without a collision."""
    key = Key(codes[0], int(codes[0].max()) + 1)
    for column in codes[1:]:
        key = key.with_column(column, int(column.max()) + 1)
    return key


# Special uniques (SUDA): how conspicuous a record is, by the sets of columns that single it out.
# Elliot, Manning, Mayes, Gurd & Bane 2005: a minimal unique set of k of the A columns scores Π (A − i) for
# i from k to min(M, A − 1), where M is the size up to which sets are looked for; a record scores the sum.
# Elliot & Manning 2003 share a risk of the file, the chance that a unique match is right (DIS), among the
# records by their scores.

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
    place = minimal_uniques.place
    return UniqueSubsets(
        minimal_uniques.record, names[place], minimal_uniques.sizes[place], score_sets(minimal_uniques)[place]
    )


def score_records(minimal_uniques: MinimalUniques, dis: float = 0.1) -> SudaScores:
    """Give every record that has a set its score, and its part of the file's risk.

    `dis` is the mean over these records: dis · score / mean score, and at most 1.

    >>> two = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([0, 0, 4]), np.array([0, 1, 2]))
    >>> score_records(two).suda_score.tolist(), score_records(two).dis_suda.round(4).tolist()
    ([2.0, 1.0], [0.1333, 0.0667])
    """
    risk = float(DIS.check("dis", dis))
    record, first, count = np.unique(minimal_uniques.record, return_index=True, return_counts=True)
    if not len(record):
        return SudaScores(record, count, count, np.empty(0), np.empty(0))
    total = np.add.reduceat(score_sets(minimal_uniques)[minimal_uniques.place], first)
    part = np.minimum(1.0, risk * total / total.mean())
    return SudaScores(record, count, minimal_uniques.sizes[minimal_uniques.place[first]], total, part)


def score_columns(minimal_uniques: MinimalUniques) -> ColumnContributions:
    """Give every record the columns that are in its sets, each with the score of the sets that have it.

    >>> two = MinimalUniques(["a", "b"], 2, [(0,), (1,), (0, 1)], np.array([0, 0, 4]), np.array([0, 1, 2]))
    >>> score_columns(two).contribution.tolist()
    [0.5, 0.5, 1.0, 1.0]
    """
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
    return ColumnContributions(record[row], names, sets, score, score / total[row])
