"""An original, a synthetic table and a holdout as codes: distinct records, with the people who have them.

Attacks see codes alone. A code is 0 for NULL, else the rank of the value among those of all tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.class_keys import number_columns
from reid_sql.parameters import Floats, Integers, order_by_name

Flags = npt.NDArray[np.bool_]
NOBODY: Final = -1
SEVERAL: Final = -2


@dataclass(frozen=True)
class AuditedTables:
    """The distinct records of three tables, as an engine lists them; without a holdout, `controls` are 0.

    Where `people` names the person of each in their own table, they are the distinct records of each person.
    """

    names: Sequence[str]  # (columns,)
    is_sensitive: Sequence[bool]  # (columns,), the others are the quasi-identifiers
    is_ordinal: Sequence[bool]  # (columns,), whether the order of the values has a meaning
    codes: Integers  # (columns, records)
    originals: Integers  # (records,), how many the original has
    synthetics: Integers  # (records,)
    controls: Integers  # (records,)
    has_holdout: Sequence[bool]  # (1,)
    people: Integers = field(default_factory=lambda: np.zeros(0, np.int64))  # (records,), or (0,)
    # Records of synthetic and holdout whose value original has in another writing: (columns, 2), or empty.
    written_otherwise: Sequence[Sequence[int]] = ()

    @property
    def is_judged(self) -> bool:
        """Whether there is a holdout."""
        return bool(self.has_holdout[0])

    def in_order(self) -> "OrderedTables":
        """The distinct records in the order of their codes, the same from every engine; refuses empty tables.

        Columns are in the order of their names, so that no figure depends on the order in which they come.

        >>> codes, one = np.array([[7, 2, 7]]), np.ones(3, dtype=int)
        >>> tables = AuditedTables(
        ...     ["a"], [False], [False], codes, one, one, 0 * one, [False], np.array([5, 5, 3])
        ... ).in_order()
        >>> tables.codes.tolist(), tables.originals.tolist(), tables.original_people.rows.tolist()
        ([[2, 7]], [1, 2], [0, 1, 1])
        """
        required = {"original": self.originals, "synthetic": self.synthetics}
        if self.is_judged:
            required["holdout"] = self.controls
        for name, records in required.items():
            if not np.sum(records):
                raise NoRecordsError(
                    f"{name} must contain at least one record, got 0; pass a table with records"
                )
        by_name = order_by_name(self.names)
        codes = np.asarray(self.codes, dtype=np.int64)[by_name]
        order = np.lexsort(codes[::-1])
        ordered = codes[:, order]
        is_first = np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)]
        row_of_record = np.empty(len(order), dtype=np.int64)
        row_of_record[order] = np.cumsum(is_first) - 1
        counts, people = [], []
        for records in map(np.asarray, (self.originals, self.synthetics, self.controls)):
            counts.append(np.bincount(row_of_record, records).astype(np.int64))
            people.append(self._people(row_of_record, records, counts[-1]))
        originals, synthetics, controls = counts
        original_people, synthetic_people, holdout_people = people
        return OrderedTables(
            [self.names[at] for at in by_name],
            [self.is_sensitive[at] for at in by_name],
            [self.is_ordinal[at] for at in by_name],
            ordered[:, is_first],
            originals,
            synthetics,
            controls,
            original_people,
            synthetic_people,
            holdout_people,
            self.is_judged,
            [self.written_otherwise[at] for at in by_name] if len(self.written_otherwise) else (),
        )

    def _people(self, row_of_record: Integers, records: Integers, counts: Integers) -> "Holders":
        """The people of one table, in the order of their first record."""
        if not len(self.people):
            rows = np.repeat(np.arange(len(counts)), counts)
            return Holders(rows, np.arange(len(rows)))
        places = np.flatnonzero(records)
        rows, numbers = row_of_record[places], np.asarray(self.people)[places]
        by_person = np.lexsort((rows, numbers))
        firsts = np.flatnonzero(np.diff(numbers[by_person], prepend=-1))
        person = np.searchsorted(numbers[by_person][firsts], numbers)
        rank = np.empty(len(firsts), dtype=np.int64)
        rank[np.argsort(rows[by_person][firsts], kind="stable")] = np.arange(len(firsts))
        in_order = np.lexsort((rows, rank[person]))
        return Holders(rows[in_order], np.flatnonzero(np.diff(rank[person][in_order], prepend=-1)))


@dataclass(frozen=True)
class Holders:
    """People, each with the distinct records that they have."""

    rows: Integers  # (records of all people,), person by person
    starts: Integers  # (people,), the place of each person's first

    def __len__(self) -> int:
        """How many people."""
        return len(self.starts)

    @cached_property
    def numbers(self) -> Integers:
        """The person of each record, from 0 up."""
        return np.repeat(np.arange(len(self)), np.diff(np.r_[self.starts, len(self.rows)]))

    def highest(self, values: Floats) -> Floats:
        """The highest value of each person's records: who knows their records knows the worst one.

        >>> Holders(np.array([0, 1, 0]), np.array([0, 2])).highest(np.array([0.1, 0.7])).tolist()
        [0.7, 0.1]
        """
        by_record = values[self.rows]
        return np.asarray(np.maximum.reduceat(by_record, self.starts)) if len(self) else by_record

    def count(self, flags: Flags) -> int:
        """Count the people of whom one record at least is flagged."""
        return int(np.count_nonzero(self.highest(flags)))  # type: ignore[arg-type]

    def ends(self, classes: Integers, size: int) -> tuple[Integers, Integers]:
        """The first and the last person with a record of each class; `len(self)` and NOBODY of none."""
        first, last = np.full(size, len(self)), np.full(size, NOBODY)
        of_record = classes[self.rows]
        last[of_record] = self.numbers
        first[of_record[::-1]] = self.numbers[::-1]
        return first, last

    def people_by_record(self, size: int) -> tuple[Integers, Integers]:
        """The people of each of so many distinct records, record by record, and the place of each's first."""
        order = np.argsort(self.rows, kind="stable")
        return self.numbers[order], np.r_[0, np.cumsum(np.bincount(self.rows, minlength=size))]

    def only_person(self, classes: Integers, size: int) -> Integers:
        """The one person with a record of each class, or NOBODY or SEVERAL, (size,).

        >>> Holders(np.array([0, 1, 1]), np.array([0, 2])).only_person(np.array([0, 1, 2]), 3).tolist()
        [0, -2, -1]
        """
        first, last = self.ends(classes, size)
        return np.where(last == NOBODY, NOBODY, np.where(first == last, first, SEVERAL))

    def take(self, people: Integers) -> "Holders":
        """Some of the people, by their numbers, which ascend."""
        sizes = np.diff(np.r_[self.starts, len(self.rows)])[people]
        is_taken = np.zeros(len(self), dtype=np.bool_)
        is_taken[people] = True
        return Holders(self.rows[is_taken[self.numbers]], np.cumsum(sizes) - sizes)


@dataclass(frozen=True)
class OrderedTables:
    """The distinct records of three tables in the order of their codes, with the people who have them.

    Where no column names people, each record is a person.
    """

    names: Sequence[str]  # (columns,)
    is_sensitive: Sequence[bool]  # (columns,)
    is_ordinal: Sequence[bool]  # (columns,)
    codes: Integers  # (columns, distinct records)
    originals: Integers  # (distinct records,), people of the original who have the record
    synthetics: Integers  # (distinct records,)
    controls: Integers  # (distinct records,)
    original_people: Holders
    synthetic_people: Holders
    holdout_people: Holders
    is_judged: bool  # whether there is a holdout
    written_otherwise: Sequence[Sequence[int]] = ()  # (columns, 2), or empty: see AuditedTables

    def places(self, *, sensitive: bool) -> list[int]:
        """Places of the sensitive columns, or of the quasi-identifiers."""
        return [
            at
            for at, is_sensitive in enumerate(self.is_sensitive)
            if bool(is_sensitive) is sensitive
        ]

    def classes_by(self, places: Sequence[int]) -> Integers:
        """Number the values that each distinct record has in some of the columns."""
        return number_columns(self.codes[list(places)])

    @cached_property
    def synthetic_medians(self) -> Integers:
        """The middle code of each column in the synthetic table, (columns,)."""
        order = np.argsort(self.codes, axis=1, kind="stable")
        ends = np.cumsum(self.synthetics[order], axis=1)
        middle = np.argmax(2 * ends >= ends[:, -1:], axis=1)
        columns = np.arange(len(order))
        medians: Integers = self.codes[columns, order[columns, middle]]
        return medians

    def synthetic_rows(self, draws: Floats) -> Integers:
        """Distinct records of the synthetic table at these shares, from 0 to 1, of its records."""
        ends = self._synthetic_ends
        rows: Integers = np.searchsorted(ends, (draws * ends[-1]).astype(ends.dtype), side="right")
        return rows

    @cached_property
    def _synthetic_ends(self) -> Integers:
        ends: Integers = np.cumsum(self.synthetics)
        return ends


@dataclass(frozen=True)
class People:
    """People of the original and of the holdout that attacks are tried on."""

    holders: Holders
    is_original: Flags  # (people,)

    @property
    def sizes(self) -> tuple[int, int]:
        """People of the original, and of the holdout."""
        originals = int(np.count_nonzero(self.is_original))
        return originals, len(self.is_original) - originals

    @cached_property
    def rows(self) -> Integers:
        """The distinct records of all, in order."""
        return np.unique(self.holders.rows)

    def highest(self, values: Floats) -> Floats:
        """The highest of the values, one for each of `rows`, of each person's records, (people,)."""
        places = np.searchsorted(self.rows, self.holders.rows)
        return Holders(places, self.holders.starts).highest(values)

    def shares(self, successes: Floats) -> tuple[float, float | None]:
        """Mean success of an attack, one for each of `rows`, on people of the original and of the holdout."""
        successful = self.highest(successes)
        control = successful[~self.is_original]
        return float(successful[self.is_original].mean()), float(control.mean()) if len(
            control
        ) else None


def draw_people(tables: OrderedTables, targets: int, rng: np.random.Generator) -> People:
    """Draw people of the original and of the holdout without replacement, or take all.

    So many of each that they have about `targets` records.

    >>> one = np.array([2, 0, 3])
    >>> tables = AuditedTables(["a"], [False], [False], np.array([[1, 2, 3]]), one, one, one[::-1], [True])
    >>> people = draw_people(tables.in_order(), 9, np.random.default_rng(0))
    >>> people.holders.rows.tolist(), people.sizes
    ([0, 0, 2, 2, 2, 0, 0, 0, 2, 2], (5, 5))
    """
    sides = []
    for holders in (tables.original_people, tables.holdout_people):
        most = max(1, targets * len(holders) // max(1, len(holders.rows)))
        some = holders
        if len(holders) > most:
            some = holders.take(np.sort(rng.choice(len(holders), most, replace=False)))
        sides.append(some)
    rows = np.concatenate([side.rows for side in sides])
    starts = np.r_[sides[0].starts, len(sides[0].rows) + sides[1].starts]
    return People(Holders(rows, starts), np.repeat([True, False], [len(side) for side in sides]))
