"""The smallest sets of columns that single a record out: minimal sample uniques, exactly.

A set of columns that tells a record from all others does so with any column more; of people, a record from
those of all others. So the sets are looked
through by their size, and for each of them only the records that no smaller set within it singles out: none
of the records that are left out is like one of these.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.class_keys import MEMORY, Key, require, spread
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.extreme.quasi_identifiers import MAX_COUNTED, Codes, in_order
from reid_sql.parameters import SUBSET_SIZE, Integers

Bits = npt.NDArray[np.uint8]  # a record each, eight of them a byte
Set = tuple[int, ...]  # places of columns, ascending
Singled = tuple[Integers, Integers]  # records, and the places of the sets that single them out

RECORD_BYTES: Final = 80  # of the keys, their order and the answers, for a record of a set
MaxSize = Annotated[int, SUBSET_SIZE]


@dataclass(frozen=True)
class CodesInPlace(Codes):
    """A table that stayed with its engine, which looks itself for what singles records out."""

    held: int  # records
    singled: Callable[[Sequence[Set]], Singled]  # the records ascending

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.held


@dataclass(frozen=True)
class MinimalUniques:
    """Records with the sets that single them out, by records, then as the sets stand, the smallest first."""

    names: Sequence[str]  # (columns,)
    largest: int  # columns of the largest sets that were looked at
    sets: Sequence[Set]
    record: Integers  # (uniques,)
    place: Integers  # (uniques,): of the set

    @property
    def sizes(self) -> Integers:
        """How many columns each set has."""
        return np.array([len(each) for each in self.sets], dtype=np.int64)

    @property
    def members(self) -> npt.NDArray[np.bool_]:
        """Which columns are in which sets, (sets, columns)."""
        found = np.zeros((len(self.sets), len(self.names)), dtype=np.bool_)
        for row, each in zip(found, self.sets, strict=True):
            row[list(each)] = True
        return found


def minimal_uniques(table: Codes, max_size: int = 4, memory_mb: int = 1024) -> MinimalUniques:
    """Find the sets of at most `max_size` columns that single a record out while no smaller set in them does.

    Refuses an empty table, and more than 200,000 sets.

    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> found = minimal_uniques(table)
    >>> found.record.tolist(), [found.sets[place] for place in found.place]
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
    if isinstance(table, CodesInPlace):
        return MinimalUniques(table.names, largest, sets, *table.singled(sets))
    return MinimalUniques(table.names, largest, sets, *_searched(table, sets, largest, bound))


def _searched(table: Codes, sets: Sequence[Set], largest: int, memory_mb: int) -> Singled:
    """Records, and the places of the sets that single them out."""
    widest = max(comb(len(table.names), size) for size in range(largest + 1))
    records = len(table.position)
    need = records * (RECORD_BYTES + 2 * widest // 8)
    require(need, memory_mb, f"{records} records and {widest} sets of columns of one size")
    ordered = in_order(table)
    columns, people = [codes.astype(np.int64) for codes in ordered.codes], People.of(ordered)
    found: list[Integers] = []
    smaller: dict[Set, Bits] = {}
    for size in range(1, largest + 1):
        level = [each for each in sets if len(each) == size]
        alone, unique = zip(*_level(columns, level, smaller, people), strict=True)
        found.extend(alone)
        smaller = dict(zip(level, unique, strict=True))
    singled = np.concatenate(found)
    places = np.repeat(np.arange(len(sets)), [len(each) for each in found])
    by_record = np.argsort(singled, kind="stable")
    return singled[by_record], places[by_record]


def _level(
    columns: Sequence[Integers], level: Sequence[Set], smaller: Mapping[Set, Bits], people: "People | None"
) -> list[tuple[Integers, Bits]]:
    """What each set of one size singles out, on all processors."""
    answers: list[Any] = [None] * len(level)

    def look(number: int) -> None:
        answers[number] = _singled(columns, level[number], smaller, people)

    spread(look, range(len(level)), len(columns[0]))
    return answers


def _singled(
    columns: Sequence[Integers], chosen: Set, smaller: Mapping[Set, Bits], people: "People | None"
) -> tuple[Integers, Bits]:
    """The records that the set alone singles out, no set of one column less; and all of them, as bits.

    Of people, the first record of each stands for them, and all of theirs that are alone are among the bits.
    """
    records = len(columns[0])
    known = np.zeros(-(-records // 8), dtype=np.uint8)
    for column in chosen if len(chosen) > 1 else ():
        known |= smaller[tuple(each for each in chosen if each != column)]
    open_to = np.flatnonzero(np.unpackbits(known, count=records) == 0)
    if not len(open_to):
        return open_to, known
    key = _key([columns[place][open_to] for place in chosen])
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


def _key(codes: Sequence[Integers]) -> Key:
    """The values of the columns as one number, without a collision."""
    key = Key(codes[0], int(codes[0].max()) + 1)
    for column in codes[1:]:
        key = key.with_column(column, int(column.max()) + 1)
    return key
