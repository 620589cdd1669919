"""An original and its release as codes: which records are equal in each, and what each value became."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.class_keys import number_columns
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.columns.column_profile import PADDED_PATTERN
from reid_sql.models.columns.missing_value_codes import NUMBER_PATTERN
from reid_sql.parameters import Floats, Integers

Flags = npt.NDArray[np.bool_]
A_NUMBER: Final = re.compile(NUMBER_PATTERN)
A_PADDED_NUMBER: Final = re.compile(PADDED_PATTERN)
A_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
WITHOUT_INFORMATION: Final = re.compile(r"[\s*]*")
MAX_EXACT_INTEGER: Final = 2**53  # that every smaller whole number has a double of its own


def canonical(text: str | None) -> str | float | None:
    """Normal form of a value: numbers by size, all other values as they are written.

    >>> canonical("30.0") == canonical("30"), canonical("030") == canonical("30"), canonical("a")
    (True, False, 'a')
    """
    if text is None or A_PADDED_NUMBER.fullmatch(text) or not A_NUMBER.fullmatch(text):
        return text
    value = float(text)
    exact = "." in text or "e" in text.lower() or abs(value) < MAX_EXACT_INTEGER
    return value if exact else text


def is_suppressed(text: str | None) -> bool:
    """Whether a value contains no information: NULL, an empty text, or stars alone.

    >>> is_suppressed(None), is_suppressed("**"), is_suppressed("123**")
    (True, True, False)
    """
    return text is None or bool(WITHOUT_INFORMATION.fullmatch(text))


def parse_numbers(texts: Sequence[str]) -> Floats | None:
    """The values as numbers, dates as seconds; None if one of them is neither.

    >>> parse_numbers(["3", "4.5"]), parse_numbers(["3", "20 to 29"])
    (array([3. , 4.5]), None)
    """
    parsed = [_parse_number(text) for text in texts]
    numbers = [value for value in parsed if value is not None]
    return np.array(numbers) if len(numbers) == len(parsed) else None


def _parse_number(text: str) -> float | None:
    """The number; None for a code, which has leading zeros."""
    if A_PADDED_NUMBER.fullmatch(text):
        return None
    if A_NUMBER.fullmatch(text):
        value = float(text)
        return value if np.isfinite(value) else None
    if not A_DATE.fullmatch(text):
        return None
    try:
        return (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001 - no zones
    except ValueError:
        return None


@dataclass(frozen=True)
class PairedRecords:
    """Distinct pairs of a record of the original and a record of the release, and the count of each pair.

    Codes are 0 for NULL, -1 where there is no such record, else the place of the value, from 1. Without a key
    that identifies records, `keyed` is False, and each pair has one side only.
    """

    names: Sequence[str]  # (columns,)
    keyed: Sequence[bool]  # (1,)
    original_codes: Integers  # (columns, pairs)
    released_codes: Integers  # (columns, pairs)
    records: Integers  # (pairs,)
    original_values: Sequence[Sequence[str]]  # (columns,) × (values,)
    released_values: Sequence[Sequence[str]]  # (columns,) × (values,)
    # (pairs,): released records within a tolerance of the original, if any
    within: Integers | None = None
    is_within: Integers | None = None  # (pairs,): whether its own is

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
        original, released = (
            [
                CodedColumn(codes, of_column, self.records)
                for codes, of_column in zip(table, values, strict=True)
            ]
            for table, values in (
                (self.original_codes, self.original_values),
                (self.released_codes, self.released_values),
            )
        )
        return [
            PairedColumn(*column, self.records)
            for column in zip(self.names, original, released, strict=True)
        ]


@dataclass(frozen=True)
class EqualRecords:
    """The class of each pair's record in one of the tables, and the size and codes of each class."""

    class_of_pair: Integers  # (pairs,), -1 where there is no such record
    sizes: Integers  # (classes,)
    codes: Integers  # (columns, classes)

    @property
    def histogram(self) -> Histogram:
        """Classes and records by class size."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        return Histogram(sizes, classes, sizes * classes)


def group_records(codes: Integers, records: Integers, table: str) -> EqualRecords:
    """Group the records of one of the tables by their codes; refuses an empty table, by this name.

    >>> classes = group_records(np.array([[1, 2, 1, -1]]), np.array([1, 1, 2, 9]), "original")
    >>> classes.class_of_pair.tolist(), classes.sizes.tolist()
    ([0, 1, 0, -1], [3, 1])
    """
    exists = find_records(codes, table)
    original = codes[:, exists]
    ids = number_columns(original)
    class_of_pair = np.full(codes.shape[1], -1)
    class_of_pair[exists] = ids
    first = np.unique(ids, return_index=True)[1]
    return EqualRecords(class_of_pair, sum_records(ids, records[exists]), original[:, first])


def find_records(codes: Integers, table: str) -> Integers:
    """Find the pairs that have a record in one of the tables; refuses an empty table, by this name."""
    exists = np.flatnonzero(codes[0] >= 0)
    if not len(exists):
        raise NoRecordsError(
            f"{table} must contain at least one record, got 0; pass a table with records"
        )
    return exists


def sum_records(ids: Integers, records: Integers) -> Integers:
    """Records of each number; exact, where a sum of doubles need not be."""
    total = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(total, ids, records)
    return total


@dataclass(frozen=True)
class CodedColumn:
    """A column of one of the tables: the code of each pair's record, and what the codes stand for."""

    codes: Integers  # (pairs,)
    values: Sequence[str]  # (values,), those of codes from 1
    records: Integers  # (pairs,)

    @cached_property
    def canonical(self) -> list[str | float | None]:
        """The normal form of each code's value."""
        return [None, *map(canonical, self.values)]

    @cached_property
    def is_empty(self) -> Flags:
        """Of each code, whether its value contains no information."""
        return np.array([True, *map(is_suppressed, self.values)])

    @cached_property
    def numbers(self) -> Floats | None:
        """The number of each code, NaN for suppressed values; None if another value is no number."""
        parsed = parse_numbers(
            [text for text, none in zip(self.values, self.is_empty[1:], strict=True) if not none]
        )
        if parsed is None:
            return None
        numbers = np.full(len(self.is_empty), np.nan)
        numbers[~self.is_empty] = parsed
        return numbers

    @cached_property
    def counts(self) -> Floats:
        """The records of each code, (codes,)."""
        exists = self.codes >= 0
        counts = np.bincount(self.codes[exists], self.records[exists], len(self.values) + 1)
        return counts.astype(np.float64)


@dataclass(frozen=True)
class PairedColumn:
    """One column of both tables: which value became which, in how many records."""

    name: str
    original: CodedColumn
    released: CodedColumn
    records: Integers  # (pairs,)

    @cached_property
    def changes(self) -> "ValueChanges":
        """Each distinct value of the original and what it became."""
        rows = np.flatnonzero(self.original.codes >= 0)
        pairs = np.stack([self.original.codes[rows], self.released.codes[rows] + 1])
        ids = number_columns(pairs)
        first = np.unique(ids, return_index=True)[1]
        original, released = pairs[:, first]
        return ValueChanges(original, released - 1, sum_records(ids, self.records[rows]), rows, ids)

    @cached_property
    def differs(self) -> Flags:
        """Which changes are to another value; a removed record has none."""
        original, released = self.original.canonical, self.released.canonical
        changes = zip(self.changes.original.tolist(), self.changes.released.tolist(), strict=True)
        return np.array([r >= 0 and original[o] != released[r] for o, r in changes], dtype=bool)

    @cached_property
    def suppressed(self) -> Flags:
        """Which changes are from a value with information to one without."""
        was_empty = self.original.is_empty[self.changes.original]
        is_empty = self.released.is_empty[self.changes.released]
        return np.asarray(self.differs & is_empty & ~was_empty)


@dataclass(frozen=True)
class ValueChanges:
    """Distinct values with what they became, as codes; -1 where the record was removed."""

    original: Integers  # (changes,)
    released: Integers  # (changes,)
    records: Integers  # (changes,)
    rows: Integers  # (rows,), the pairs of records that are in the original
    of_row: Integers  # (rows,), the change of each


def common_codes(column: PairedColumn) -> tuple[Integers, Integers]:
    """Codes of both tables' values that are equal where the values are; 0 of NULL.

    >>> one = np.array([1])
    >>> original, released = CodedColumn(one, ["30"], one), CodedColumn(one + 1, ["29", "30.0"], one)
    >>> [codes.tolist() for codes in common_codes(PairedColumn("n", original, released, one))]
    [[0, 1], [0, 2, 1]]
    """
    codes: dict[str | float | None, int] = {None: 0}
    original, released = (
        np.array([codes.setdefault(value, len(codes)) for value in side.canonical])
        for side in (column.original, column.released)
    )
    return original, released
