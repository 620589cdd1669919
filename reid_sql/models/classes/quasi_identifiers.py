"""The quasi-identifiers of p columns of a table, all of them or a seeded sample; minimal keys.

A table comes as codes: for each column a small whole number per record, equal where the values are equal, 0
for NULL.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from math import comb, inf
from operator import or_
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.partitions import WORD_BITS, Partition, Refiner
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import MAX_COLUMNS, SEED, Number

Integers = npt.NDArray[np.integer[Any]]
Numbers = npt.NDArray[Any]  # whole ones of records, others of people

NO_PEOPLE: Final = np.empty(0, dtype=np.int64)  # in place of people, where each record is one
DEFAULT_MEMORY: Final = np.array(
    [1024 * 10**6]
)  # bytes that a count takes at most, if no engine says
STATUS_SETS_DRAWN: Final = (
    "quasi_identifiers_drawn: measured on a sample of {} of the {} quasi-identifiers, seed {}"
)
REFUSAL_REPEATED_PEOPLE: Final = (
    "people must have one value in each column where they are left out one after the other, "
    "got people of several; pass a table with a row a person"
)
MAX_COUNTED: Final = 200_000  # quasi-identifiers; more only by an explicit sample

SIZE: Final = Number(
    "a whole number of columns from 1 to 64",
    "pass how many columns an attacker may know, such as 3",
    1.0,
    MAX_COLUMNS,
    whole=True,
)
CHOICES_DRAWN: Final = Number(
    f"a whole number of quasi-identifiers from 0 to {MAX_COUNTED}",
    "pass 0 to count all of them, or how many to draw, such as 10000",
    0.0,
    float(MAX_COUNTED),
    whole=True,
)

Size = Annotated[int, SIZE]
ChoicesDrawn = Annotated[int, CHOICES_DRAWN]
Seed = Annotated[int, SEED]


@dataclass(frozen=True)
class MemoryLimited:
    """Codes that are counted within a limit of memory."""

    memory: Integers = field(default_factory=lambda: DEFAULT_MEMORY, kw_only=True)  # (1,): in bytes

    @property
    def memory_limit(self) -> int:
        """How many bytes a count takes at most."""
        return int(self.memory[0])


@dataclass(frozen=True)
class Codes(MemoryLimited):
    """A table as codes, one array a column; ordinal codes ascend with values.

    `position` orders the records. If a column identifies people, `people` has its codes, and a person
    may have several records; people are then what is counted.
    """

    names: Sequence[str]  # (columns,)
    ordinal: Sequence[bool]  # (columns,)
    codes: Sequence[Integers]  # columns × (records,)
    position: Integers  # (records,)
    people: Integers = field(default_factory=lambda: NO_PEOPLE, kw_only=True)  # (records,), else ()

    @property
    def records(self) -> int:
        """How many records, or people, there are."""
        return len(np.unique(self.people)) if len(self.people) else len(self.position)


@dataclass(frozen=True)
class QuasiIdentifiers:
    """A table, its records in order, and the quasi-identifiers to measure as places of columns.

    The quasi-identifiers are in lexical order.
    """

    table: Codes
    places: Integers  # (quasi-identifiers, p)
    possible: int
    seed: int

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.table.records

    def __len__(self) -> int:
        return len(self.places)

    def names(self, index: int) -> list[str]:
        """Give the columns of one quasi-identifier."""
        return [self.table.names[place] for place in self.places[index]]

    @property
    def remark(self) -> list[str]:
        """A remark if not all quasi-identifiers were measured."""
        if len(self) == self.possible:
            return []
        return [STATUS_SETS_DRAWN.format(len(self), self.possible, self.seed)]


def choose_quasi_identifiers(
    table: Codes, p: int = 3, sample: int = 0, seed: int = 0
) -> QuasiIdentifiers:
    """Choose the quasi-identifiers of p columns: all, or `sample` of them, equally likely and none twice.

    Refuses an empty table, p beyond the number of columns, and more than 200,000 quasi-identifiers without a
    sample.

    >>> table = Codes(["a", "b", "c"], [True] * 3, [np.array([1, 2])] * 3, np.array([0, 1]))
    >>> choose_quasi_identifiers(table, 2).places.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    count = int(SIZE.check("p", p))
    drawn, start = int(CHOICES_DRAWN.check("sample", sample)), int(SEED.check("seed", seed))
    width = len(table.names)
    if not table.records:
        raise NoRecordsError
    if count > width:
        rule = f"p must be at most the {width} column{'s' * (width > 1)} given, got {count}"
        raise OutOfDomainError(f"{rule}; pass more columns or a smaller p")
    possible = comb(width, count)
    if not drawn and possible > MAX_COUNTED:
        rule = f"the number of quasi-identifiers to count must be at most {MAX_COUNTED}, got {possible}"
        raise OutOfDomainError(
            f"{rule}; pass sample := 10000 to measure so many of them drawn "
            "at random, fewer columns or another p"
        )
    if not drawn or drawn >= possible:
        places = np.array(list(combinations(range(width), count)), dtype=np.int64)
    else:
        ranks = _draw_ranks(possible, drawn, start)
        places = np.array([_unrank(rank, width, count) for rank in ranks], dtype=np.int64)
    return QuasiIdentifiers(sort_records(table), places, possible, start)


def require_one_record_per_person(table: Codes) -> Codes:
    """The table with its people as records, which each is; refuses people of several.

    >>> twice = Codes(["a"], [True], [np.array([1, 2])], np.arange(2), people=np.array([7, 7]))
    >>> require_one_record_per_person(replace(twice, people=np.array([7, 8]))).records
    2
    """
    if table.records < len(table.people):
        raise OutOfDomainError(REFUSAL_REPEATED_PEOPLE)
    return replace(table, people=NO_PEOPLE) if len(table.people) else table


def sort_records(table: Codes) -> Codes:
    """Put the records in the order of their positions; an engine hands them over as its threads finish.

    Where each person has one record, records are as good as people.
    """
    if len(table.people) and table.records == len(table.people):
        table = replace(table, people=NO_PEOPLE)
    if (table.position[1:] > table.position[:-1]).all():
        return table
    order = np.argsort(table.position)
    people = table.people[order] if len(table.people) else NO_PEOPLE
    codes = [each[order] for each in table.codes]
    return replace(table, codes=codes, position=table.position[order], people=people)


def _draw_ranks(possible: int, count: int, seed: int) -> list[int]:
    """Draw so many different numbers below `possible`, ascending."""
    generator = np.random.default_rng(seed)
    if possible <= 2 * count:
        return sorted(generator.permutation(possible)[:count].tolist())
    distinct_ranks: dict[int, None] = {}
    while len(distinct_ranks) < count:
        distinct_ranks |= dict.fromkeys(generator.integers(0, possible, count).tolist())
    return sorted(list(distinct_ranks)[:count])


def _unrank(rank: int, width: int, count: int) -> list[int]:
    """Give the combination at this place of the lexical order."""
    chosen: list[int] = []
    place = 0
    while len(chosen) < count:
        after = comb(width - place - 1, count - len(chosen) - 1)
        if rank < after:
            chosen.append(place)
        else:
            rank -= after
        place += 1
    return chosen


# All minimal keys of distinct records, where the sets of columns below them are too many to count.
#
# Two records agree on a set of columns unless it contains one of those in which they differ. So a key is
# a set that hits the difference set of every pair of records, and the minimal keys are the minimal
# hitting sets of these (Mannila & Räihä 1987). Few of the pairs decide: the minimal hitting sets of some
# difference sets are tested on the records, and where one is no key, the pairs that it leaves alike bring
# new difference sets ("dualize and advance", Gunopulos, Khardon, Mannila & Toivonen 1997; on samples of
# pairs, Birnick et al. 2020). The hitting sets are searched depth first, and only sets each of whose
# columns is the only one to hit some difference set are extended (MMCS, Murakami & Uno 2014). What is
# tested is a key, and what hits all known difference sets minimally has no smaller key within it: so the
# answer is exact. A difference set that comes to be known during a search may be what a set needed that
# was left out before, so the search is repeated until it brings none.


Masks = npt.NDArray[np.uint64]
MAX_PAIRS: Final = 2_000  # pairs of alike records from which difference sets are taken at once
MAX_NEW_SETS: Final = 64  # of the smallest, that a set that is no key brings


RECORDS_A_SET: Final = 4_000  # that take as long to read as a set takes besides its records


class _LimitReachedError(Exception):
    """More sets would have to be visited, or records read, than are allowed."""


@dataclass(frozen=True)
class KeySearch:
    """Minimal keys as masks of columns, the smallest first: all of at most `covered` columns, or more."""

    keys: list[int]
    covered: int
    visited: int  # sets of columns until the search ended or stopped


def find_minimal_keys(
    table: Refiner, max_size: int, max_sets: float = inf, max_records: float = inf
) -> KeySearch:
    """Find the minimal keys of at most `max_size` columns of records that all differ.

    Stops where more than `max_sets` sets would have to be visited, or more than `max_records` read: most sets
    are told from difference sets alone, and read none. Then it goes on size by size, for as much again.

    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> find_minimal_keys(Refiner.of(three), 2, 100)
    KeySearch(keys=[3], covered=2, visited=3)
    """
    search = _Search(_Similar(table), len(table.codes), max_sets, max_records)
    covered = 0
    try:
        search.visit_all(max_size)
        covered, visited = max_size, search.visited
    except _LimitReachedError:
        visited = search.visited
        search.visited = search.similar.read = 0
        with suppress(_LimitReachedError):
            while covered < max_size:
                search.visit_all(covered + 1)
                covered = covered + 1 if search.is_cut else max_size
    keys = sorted(search.keys, key=lambda each: (each.bit_count(), each))
    return KeySearch(keys, covered, visited)


class _Search:
    """A search for the minimal hitting sets of difference sets, which are known as far as it needed them."""

    def __init__(
        self,
        similar: "_Similar",
        width: int,
        max_sets: float,
        max_records: float,
    ) -> None:
        self.similar, self.max_size = similar, 0
        self.max_sets, self.max_records = max_sets, max_records
        self.keys: set[int] = set()
        self.differences: list[int] = []
        self.having = [0] * width  # difference sets with each column, as bits
        self.visited = 0
        self.has_left_out = False  # a set of columns, for want of a difference set
        self.is_complete = self.is_cut = False

    def visit_all(self, max_size: int) -> None:
        """Visit the sets of up to `max_size` columns until they bring no difference set that a set needed.

        `is_cut` says whether larger sets may be keys.
        """
        self.max_size, self.is_complete = max_size, False
        while not self.is_complete:
            self.is_complete, self.has_left_out, self.is_cut = True, False, False
            self.extend([], (1 << len(self.having)) - 1)

    def extend(self, columns: list[int], candidates: int) -> None:
        """Visit a set of columns, and extend it by candidates until it hits every difference set.

        Of a difference set that is missed, the last column to be added is tried with all before it, so that
        no set is visited twice.
        """
        if (
            self.visited >= self.max_sets
            or self.similar.read + self.visited * RECORDS_A_SET > self.max_records
        ):
            raise _LimitReachedError
        self.visited += 1
        checkpoint()
        missed = self._find_missed(columns) or self._test(columns)
        if not missed:
            return
        if len(columns) == self.max_size:
            self.is_cut = True
            return
        choices = self.differences[(missed & -missed).bit_length() - 1] & candidates
        candidates &= ~choices
        for column in _bits(choices):
            if self._needs_all([*columns, column]):
                self.extend([*columns, column], candidates)
            else:
                self.has_left_out = True
            candidates |= 1 << column

    def _find_missed(self, columns: Sequence[int]) -> int:
        hit = reduce(or_, (self.having[column] for column in columns), 0)
        return (1 << len(self.differences)) - 1 & ~hit

    def _needs_all(self, columns: Sequence[int]) -> bool:
        """Whether each of the columns is the only one of them in some known difference set."""
        once = twice = 0
        for column in columns:
            twice |= once & self.having[column]
            once |= self.having[column]
        return all(self.having[column] & ~twice for column in columns)

    def _test(self, columns: Sequence[int]) -> int:
        """Note a key, or find difference sets that the columns miss."""
        mask = sum(1 << column for column in columns)
        if mask in self.keys:
            return 0
        shared = reduce(or_, (each for each in self.differences if each.bit_count() == 1), 0)
        partition = self.similar.refine(mask, shared)
        if not len(partition.rows):
            self.keys.add(mask)
            return 0
        self.is_complete = self.is_complete and not self.has_left_out
        for difference in self.similar.differences(partition):
            for column in _bits(difference):
                self.having[column] |= 1 << len(self.differences)
            self.differences.append(difference)
        return self._find_missed(columns)


def _bits(mask: int) -> list[int]:
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


class _Similar:
    """Records in an order in which neighbours are similar, for pairs that differ in few columns."""

    def __init__(self, table: Refiner) -> None:
        self.table = table
        self.codes = table.codes
        self.by_levels = sorted(range(len(table.codes)), key=lambda place: -table.levels[place])
        order = np.lexsort(self._pack())
        self.rank = np.empty(len(order), dtype=np.int64)
        self.rank[order] = np.arange(len(order))
        self.shared, self.start = 0, table.whole()
        self.read = 0  # records, each once a column

    def _pack(self) -> list[Integers]:
        """The columns in as few numbers as their codes fit in, for each of which a sort takes as long."""
        words: list[Integers] = []
        bits = WORD_BITS
        for place in self.by_levels:
            width = self.table.levels[place].bit_length()
            if bits + width > WORD_BITS:
                words.append(np.zeros(len(self.codes[place]), dtype=np.int64))
                bits = 0
            words[-1] |= self.codes[place].astype(np.int64) << bits
            bits += width
        return words

    def refine(self, mask: int, shared: int) -> Partition:
        """The partition on a set, from the one on the columns that every key has.

        Columns of many values come first: most records are soon alone.
        """
        if shared != self.shared:
            begun = (
                (self.shared, self.start) if not self.shared & ~shared else (0, self.table.whole())
            )
            self.shared, self.start = shared, self._refine(shared, *begun)
        return self._refine(mask, self.shared, self.start)

    def _refine(self, mask: int, refined: int, partition: Partition) -> Partition:
        for place in self.by_levels:
            if (mask & ~refined) >> place & 1:
                self.read += len(partition.rows)
                partition = self.table.refine(partition, place)
        return partition

    def differences(self, partition: Partition) -> list[int]:
        """The smallest difference sets of neighbours in the classes of the partition, none within another."""
        self.read += len(partition.rows)
        order = np.lexsort((self.rank[partition.rows], partition.ids))
        rows, ids = partition.rows[order], partition.ids[order]
        pairs = np.flatnonzero(ids[1:] == ids[:-1])
        pairs = pairs[:: -(-len(pairs) // MAX_PAIRS)]
        # Those that contain no other, the smallest first.
        left, right = rows[pairs], rows[pairs + 1]
        masks = np.zeros(len(left), dtype=np.uint64)
        for place, codes in enumerate(self.codes):
            masks |= (codes[left] != codes[right]).astype(np.uint64) << np.uint64(place)
        minimal_masks: list[int] = []
        for mask in sorted(np.unique(masks).tolist(), key=int.bit_count):
            if not any(each & mask == each for each in minimal_masks):
                minimal_masks.append(mask)
        return minimal_masks[:MAX_NEW_SETS]
