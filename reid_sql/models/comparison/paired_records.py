"""An original and its release as codes: which records are equal in each, and what each value became."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import eq
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.class_keys import number_columns
from reid_sql.models.classes.disclosure import Histogram, count_sizes
from reid_sql.models.columns.column_profile import PADDED_PATTERN
from reid_sql.models.columns.missing_value_codes import NUMBER_PATTERN
from reid_sql.parameters import Flags, Floats, Integers

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
        return count_sizes(self.sizes)


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
        raise NoRecordsError.of_table(table)
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


# Keys that were numbered anew: people of one key agree no better than strangers. Whoever shuffles a table and
# numbers its rows again pairs each person with another one. Every change is then that of two strangers, and
# no link is right, so that the release seems to protect everybody. People of one key are compared with the
# same people paired at random: in each column by equal values, by their order if they are numbers, and by how
# often two pairs have the same two values, as of 23 and "20 to 29".

STATUS_STRANGERS: Final = "not_comparable: people of one key agree no better than strangers"
MIN_PEOPLE: Final = 30  # in both, with fewer of whom strangers may agree as well
MAX_PEOPLE: Final = 20_000  # who are compared, drawn evenly
PAIRINGS: Final = 60  # at random, to which that of the key is compared
MIN_DISTANCE: Final = (
    3.5  # standard deviations of these, beyond which people agree better than strangers
)
SAME_ROWS: Final = (
    0.9  # of the rows that both tables have, from which one is the other in another order
)
MIN_COLUMNS: Final = 2  # of which no value was swapped alone
Measure = Callable[[Integers], float]  # of the order of one side


def agrees_as_strangers(paired: PairedRecords) -> bool:
    """Whether people of one key agree no better than strangers do; false if no column could show it.

    >>> ages, values = np.tile(np.arange(1, 5), 20), ["20", "30", "40", "50"]
    >>> def pair(original, released):
    ...     codes = (original[None], released[None], np.ones(80, dtype=int))
    ...     return PairedRecords(["age"], [True], *codes, [values], [values])
    >>> agrees_as_strangers(pair(ages, ages)), agrees_as_strangers(pair(ages, np.sort(ages)))
    (False, True)
    """
    both = np.flatnonzero(paired.in_original & paired.in_release)
    rows = np.repeat(both, paired.records[both])
    if len(rows) < MIN_PEOPLE:
        return False
    rows = rows[:: -(-len(rows) // MAX_PEOPLE)]
    rng = np.random.default_rng(len(rows))
    orders = [rng.permutation(len(rows)) for _ in range(PAIRINGS)]
    is_judged = False
    for column in paired.columns():
        original, released = column.original.codes[rows], column.released.codes[rows]
        for measure in _measures(column, original, released):
            by_chance = np.array([measure(order) for order in orders])
            if by_chance.std() > 0:
                is_judged = True
                distance = (measure(np.arange(len(rows))) - by_chance.mean()) / by_chance.std()
                if abs(distance) > MIN_DISTANCE:
                    return _has_same_rows(paired, rows)
    return is_judged


def _measures(column: PairedColumn, original: Integers, released: Integers) -> Iterator[Measure]:
    """How well two codes of each person agree, as functions of the order of the second ones."""
    place = {value: at for at, value in enumerate(column.original.canonical)}
    theirs = np.array([place.get(value, -1) for value in column.released.canonical])[released]
    yield lambda order: float((original == theirs[order]).sum())
    width = int(released.max()) + 1
    yield lambda order: float(
        (np.unique(original * width + released[order], return_counts=True)[1] ** 2.0).sum()
    )
    numbers = parse_numbers(column.original.values), parse_numbers(column.released.values)
    if numbers[0] is not None and numbers[1] is not None:
        mine, other = (
            _rank(np.concatenate([[np.nan], each])[codes])
            for each, codes in zip(numbers, (original, released), strict=True)
        )
        yield lambda order: float(mine @ other[order])


def _rank(numbers: Floats) -> Floats:
    """Ranks around 0; 0 for NULL."""
    is_known = ~np.isnan(numbers)
    ranks = np.zeros(len(numbers))
    places = np.unique(numbers[is_known], return_inverse=True)[1]
    ranks[is_known] = places - places.mean() if len(places) else 0.0
    return ranks


def _has_same_rows(paired: PairedRecords, rows: Integers) -> bool:
    """Whether the release has the rows of the original, most of them of other people.

    Rows that are sorted before they are numbered agree partly in the column that they are sorted by. Values
    of one column that were swapped, perhaps among people who agree in another, make the same rows, too.
    """
    columns = paired.columns()
    original = [_look_up(column.original, rows) for column in columns]
    released = [_look_up(column.released, rows) for column in columns]
    agreeing = [
        sum(map(eq, before, after))
        for before, after in zip(original, released, strict=True)
        if len(set(before)) > 1
    ]
    if len(agreeing) < MIN_COLUMNS or max(agreeing) >= SAME_ROWS * len(rows):
        return False
    first, second = list(zip(*original, strict=True)), list(zip(*released, strict=True))
    is_detailed = len(set(first)) > len(rows) / 2
    common = (Counter(first) & Counter(second)).total()
    same = sum(map(eq, first, second))
    return is_detailed and common >= SAME_ROWS * len(rows) and same < common / 2


def _look_up(column: CodedColumn, rows: Integers) -> list[str | float | None]:
    """The normal form of each of the rows' values."""
    return [column.canonical[code] for code in column.codes[rows].tolist()]
