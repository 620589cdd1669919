"""The quasi-identifiers of p columns of a table: all of them, or a seeded sample.

A table comes as codes: for each column a small whole number per record, equal where the values are equal, 0
for NULL.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.parameters import MAX_COLUMNS, SEED, Number

Integers = npt.NDArray[np.integer[Any]]
Numbers = npt.NDArray[Any]  # whole ones of records, others of people

NO_PEOPLE: Final = np.empty(0, dtype=np.int64)  # in place of people, where each record is one
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
class Codes:
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
class RemoteCodes(Codes):
    """A table that stayed with its engine, which counts distinct values of choices of columns.

    No codes are here.
    """

    record_count: int
    # Places of columns, (choices, p), to their distinct values and the right matches to expect, (choices,).
    count: Callable[[Integers], tuple[Integers, Numbers]]

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.record_count


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


def choose_quasi_identifiers(table: Codes, p: int = 3, sample: int = 0, seed: int = 0) -> QuasiIdentifiers:
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
        raise NoRecordsError(NO_RECORDS)
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
