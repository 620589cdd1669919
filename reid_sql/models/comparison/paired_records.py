"""An original and its release, as codes: which records are alike in each, and what became of each value."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.class_keys import Key
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.comparison.written import canonical, is_suppressed, numbers
from reid_sql.parameters import Floats, Integers

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PairedRecords:
    """Distinct records of the original beside those of the release, and how many records are such a pair.

    Codes are 0 for NULL, -1 where there is no such record, else the place of the value, from 1. Where no key
    tells which belongs to which, `keyed` holds False, and each pair has one side alone.
    """

    names: Sequence[str]  # (columns,)
    keyed: Sequence[bool]  # (1,)
    original_codes: Integers  # (columns, pairs)
    released_codes: Integers  # (columns, pairs)
    records: Integers  # (pairs,)
    original_values: Sequence[Sequence[str]]  # (columns,) × (values,)
    released_values: Sequence[Sequence[str]]  # (columns,) × (values,)

    @property
    def is_keyed(self) -> bool:
        """Whether it is known which released record belongs to which original one."""
        return bool(self.keyed[0])

    @cached_property
    def in_original(self) -> Flags:
        """Which pairs have a record of the original."""
        return np.asarray(self.original_codes[0]) >= 0

    @cached_property
    def in_release(self) -> Flags:
        """Which pairs have a record of the release."""
        return np.asarray(self.released_codes[0]) >= 0

    def columns(self) -> list["PairedColumn"]:
        """The columns, each for itself."""
        both = zip(self.original_values, self.released_values, strict=True)
        return [
            PairedColumn(
                self.names[at], mine, theirs, self.original_codes[at], self.released_codes[at], self.records
            )
            for at, (mine, theirs) in enumerate(both)
        ]


@dataclass(frozen=True)
class Alike:
    """The class of each pair's record in one of the tables, and how many records each class has."""

    of_pair: Integers  # (pairs,), -1 where there is no such record
    sizes: Integers  # (classes,)
    codes: Integers  # (columns, classes)

    @property
    def histogram(self) -> Histogram:
        """How many classes, and how many records, have each size."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        return Histogram(sizes, classes, sizes * classes)


def alike(codes: Integers, records: Integers, words: str) -> Alike:
    """Give the classes of one of the tables, `words` for a refusal of one that is empty.

    >>> found = alike(np.array([[1, 2, 1, -1]]), np.array([1, 1, 2, 9]), "original")
    >>> found.of_pair.tolist(), found.sizes.tolist()
    ([0, 1, 0, -1], [3, 1])
    """
    there = np.flatnonzero(codes[0] >= 0)
    if not len(there):
        raise NoRecordsError(f"{words} must hold at least one record, got 0; pass a table with records")
    held = codes[:, there]
    ids, _ = numbered(held)
    of_pair = np.full(codes.shape[1], -1)
    of_pair[there] = ids
    first = np.unique(ids, return_index=True)[1]
    return Alike(of_pair, summed(ids, records[there]), held[:, first])


def numbered(codes: Integers) -> tuple[Integers, Integers]:
    """Number the distinct columns of a matrix of codes from 0 up, with how many there are of each."""
    key = Key(np.zeros(codes.shape[1], dtype=np.int64), 1)
    for row in codes:
        key = key.with_column(row, int(row.max(initial=0)) + 1)
    ids, sizes = key.numbered()
    return ids.astype(np.int64), sizes.astype(np.int64)


def summed(ids: Integers, records: Integers) -> Integers:
    """How many records there are of each number; exact, where a sum of doubles need not be."""
    found = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(found, ids, records)
    return found


@dataclass(frozen=True)
class PairedColumn:
    """One column of both tables: which value became which, of how many records."""

    name: str
    original_values: Sequence[str]  # (values,), those of codes from 1
    released_values: Sequence[str]  # (values,)
    original: Integers  # (pairs,)
    released: Integers  # (pairs,)
    records: Integers  # (pairs,)

    @cached_property
    def became(self) -> "Became":
        """Each distinct value with what it became, of records of the original."""
        rows = np.flatnonzero(self.original >= 0)
        pairs = np.stack([self.original[rows], self.released[rows] + 1])
        ids, _ = numbered(pairs)
        first = np.unique(ids, return_index=True)[1]
        mine, theirs = pairs[:, first]
        return Became(mine, theirs - 1, summed(ids, self.records[rows]), rows, ids)

    @cached_property
    def differs(self) -> Flags:
        """Of each value and what it became, whether that is another value; not where it was removed."""
        mine, theirs = (
            [None, *map(canonical, each)] for each in (self.original_values, self.released_values)
        )
        pairs = zip(self.became.original.tolist(), self.became.released.tolist(), strict=True)
        return np.array([r >= 0 and mine[o] != theirs[r] for o, r in pairs], dtype=bool)

    @cached_property
    def suppressed(self) -> Flags:
        """Of each value and what it became, whether it was told and is not any more."""
        nothing, told = self.untold(self.released_values), ~self.untold(self.original_values)
        found = self.differs & nothing[self.became.released] & told[self.became.original]
        return np.asarray(found, dtype=bool)

    @staticmethod
    def untold(values: Sequence[str]) -> Flags:
        """Of each code from 0, whether its value tells nothing."""
        return np.array([True, *map(is_suppressed, values)])

    def as_numbers(self, values: Sequence[str]) -> Floats | None:
        """The values of codes from 0 as numbers, NaN where nothing is told; None where one is no number."""
        untold = self.untold(values)
        told = numbers([value for value, nothing in zip(values, untold[1:], strict=True) if not nothing])
        if told is None:
            return None
        found = np.full(len(untold), np.nan)
        found[~untold] = told
        return found


@dataclass(frozen=True)
class Became:
    """Distinct values with what they became, as codes; -1 where the record was removed."""

    original: Integers  # (values and what they became,)
    released: Integers
    records: Integers
    rows: Integers  # the pairs of records that are in the original
    of_row: Integers  # which of these each of them is
