"""One column of a model of people: its values, those that the sample may have missed, and its bins.

Pairs of values of two columns are counted by bin. Values with an order have a position on a scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError, TooFewRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.copula.marginals import parse_number, parse_numbers
from reid_sql.models.fitted_model import Doubt, doubts_at
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.parameters import ColumnNames, Floats, Integers, TextColumn

DECIMALS: Final = 6  # that a step of a scale may have
MAX_GAP: Final = 1e9  # of which a double still shows whether it is a multiple of the step
MAX_POSITION: Final = 1e15  # distance of a number from 0
WHOLE_TOLERANCE: Final = 1e-3  # in units of the last decimal
DATE_LENGTH: Final = 10  # characters of 2024-02-29
EPOCH: Final = date(1970, 1, 1)


def position(text: str | None) -> float | None:
    """Position of a value on its scale, None for a value that has none.

    >>> position("1.5"), position("1970-01-03"), position("old"), position(None)
    (1.5, 2.0, None, None)
    """
    as_number = parse_number(text)
    if as_number is not None:
        return as_number if abs(as_number) <= MAX_POSITION else None
    if text is None or len(text) < DATE_LENGTH or text[4:5] != "-":
        return None
    try:
        if len(text) == DATE_LENGTH:
            return float(date.fromisoformat(text).toordinal() - EPOCH.toordinal())
        timestamp = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
    return (timestamp - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001  # both are without a zone


def positions(values: Sequence[str | None]) -> Floats:
    """Positions of values on their scale, NaN for values that have none.

    >>> positions(["1.5", None, "old"])
    array([1.5, nan, nan])
    """
    as_numbers = parse_numbers(values)
    if as_numbers is not None:
        return np.where(np.abs(as_numbers) <= MAX_POSITION, as_numbers, np.nan)
    return np.array([np.nan if at is None else at for at in map(position, values)])


def scale_step(ascending: Floats) -> float:
    """Greatest distance of which all distances of these positions are multiples; else the smallest of them.

    >>> scale_step(np.array([0.0, 2.0, 5.0])), scale_step(np.array([0.25, 0.5, 1.5]))
    (1.0, 0.25)
    """
    gaps = np.diff(ascending)
    if gaps.max() > MAX_GAP:
        return float(gaps.min())
    scaled = np.round(gaps * 10.0**DECIMALS)
    if (np.abs(gaps * 10.0**DECIMALS - scaled) < WHOLE_TOLERANCE).all() and scaled.min() >= 1:
        return float(Fraction(gcd(*scaled.astype(np.int64).tolist()), 10**DECIMALS))
    return float(gaps.min())


def format_position(at: float, like: Sequence[str | None]) -> str:
    """Text of a position on the scale of values like these.

    >>> format_position(2.0, ["1970-01-01"]), format_position(7.0, ["3"]), format_position(0.5, ["1.5"])
    ('1970-01-03', '7', '0.5')
    """
    dates = [
        text
        for text in like
        if text is not None and parse_number(text) is None and position(text) is not None
    ]
    if not dates:
        return repr(round(at, DECIMALS)).removesuffix(".0")
    if len(dates[0]) == DATE_LENGTH:
        return date.fromordinal(round(at) + EPOCH.toordinal()).isoformat()
    return str(np.datetime64(round(at), "s")).replace("T", dates[0][DATE_LENGTH])


@dataclass(frozen=True)
class Scale:
    """Positions that a column's values can have: up to one widest gap beyond those of the sample."""

    low: float
    high: float
    has_texts: bool  # whether the sample also contains values without a position

    def excludes(self, value: str | None) -> bool:
        """Whether a value is unlike the sample's: too far away, or without a position where all have one."""
        at = position(value)
        if at is None:
            return value is not None and not self.has_texts
        return not self.low <= at <= self.high


def scale_of(values: Sequence[str | None]) -> Scale | None:
    """Scale of a column's values; None where fewer than two of them have a position.

    >>> ages = scale_of(["30", "33", "35", None])
    >>> [ages.excludes(value) for value in ("27", "38", "39", "old", None)]
    [False, False, True, True, False]
    """
    located = positions(values)
    ascending = np.unique(located[~np.isnan(located)]).tolist()
    if len(ascending) < 2:  # noqa: PLR2004  # without a gap
        return None
    gap = max(after - before for before, after in pairwise(ascending))
    texts = sum(value is not None for value in values) > int((~np.isnan(located)).sum())
    return Scale(ascending[0] - gap, ascending[-1] + gap, texts)


MIN_SHARE: Final = 1e-300


@dataclass(frozen=True)
class Rarity:
    """Distribution of the share of an unseen value relative to the mean, over the people who have one."""

    weight: Floats  # (classes,), adds up to 1
    log_ratio: Floats  # (classes,), of the share to the category's share


EQUALLY_RARE: Final = Rarity(np.ones(1), np.zeros(1))


@dataclass(frozen=True)
class Column:
    """Categories of a column: first the values seen, in the order of their codes, then the unseen ones.

    A category of `multiplicity` values, which the model does not distinguish, shares its `mass` equally among
    them; masses add up to 1. The last category is any other value. `unseen_places` are the ascending
    positions of the unseen categories before it.
    """

    name: str
    seen: tuple[str | None, ...]
    ordered: bool
    mass: Floats  # (categories,)
    multiplicity: Floats  # (categories,)
    bins: Integers  # (categories,)
    kernel: Floats | None  # (bins, bins), rows add up to 1; None where the column has no order
    # (values seen,), share of a value to a record that has it, without that record
    left_out: Floats
    unseen_places: Floats = field(default_factory=lambda: np.empty(0))
    rarity: Rarity = EQUALLY_RARE  # of the last category

    def draw_log_rarity(self, codes: Integers, rng: np.random.Generator) -> Floats:
        """Draw ln of the share of each value relative to its category's; 0 but for the last category."""
        log_ratio = np.zeros(len(codes))
        if len(self.rarity.weight) > 1:
            rows = codes == self.other_code
            log_ratio[rows] = rng.choice(
                self.rarity.log_ratio, int(rows.sum()), p=self.rarity.weight
            )
        return log_ratio

    @property
    def other_code(self) -> int:
        """Code of a value of no other category."""
        return len(self.mass) - 1

    @cached_property
    def bin_mass(self) -> Floats:
        """Share of each bin."""
        return np.bincount(self.bins, self.mass).astype(np.float64)

    @cached_property
    def log_share(self) -> Floats:
        """Ln of the share of one value of each category."""
        return np.log(self.mass / self.multiplicity)

    @cached_property
    def log_within(self) -> Floats:
        """Ln P(one value of the category | its bin)."""
        return self.log_share - np.log(self.bin_mass[self.bins])

    @cached_property
    def log_left_out(self) -> Floats:
        """Ln of the share of a value seen, without the record that has it."""
        return np.log(np.maximum(self.left_out, MIN_SHARE))

    @cached_property
    def bin_left_out(self) -> Floats:
        """Share of each bin without one of its records: the mean over the values seen in it."""
        mass, bins = np.zeros(len(self.bin_mass)), self.bins[: len(self.seen)]
        np.add.at(mass, bins, self.mass[: len(self.seen)] - self.left_out)
        values = np.maximum(np.bincount(bins, minlength=len(mass)), 1)
        return np.asarray(np.maximum(self.bin_mass - mass / values, MIN_SHARE))

    @cached_property
    def log_within_left_out(self) -> Floats:
        """Ln P(value | its bin) without the record that has the value."""
        return np.minimum(
            self.log_left_out - np.log(self.bin_left_out[self.bins[: len(self.seen)]]), 0.0
        )

    @cached_property
    def _code_by_position(self) -> dict[float, int]:
        located = ((position(value), code) for code, value in reversed(list(enumerate(self.seen))))
        return {at: code for at, code in located if at is not None}

    @cached_property
    def _scale(self) -> Scale | None:
        return scale_of(self.seen) if self.ordered else None

    @cached_property
    def _code_by_value(self) -> dict[str | None, int]:
        return {value: code for code, value in enumerate(self.seen)}

    def codes(self, values: Sequence[str | None]) -> Integers:
        """Codes of values given as text or None; that of a value without a share is above `other_code`."""
        codes = self._code_by_value
        return np.array(
            [codes[v] if v in codes else self._nearest_code(v) for v in values],
            dtype=np.int64,
        )

    def _nearest_code(self, value: str | None) -> int:
        """Code of the same number in another notation, of the nearest unseen position, or of other values.

        The code after that of other values is for a value that is unlike the sample's.
        """
        if self._scale is not None and self._scale.excludes(value):
            return self.other_code + 1
        at = position(value) if self.ordered else parse_number(value)
        if at is None:
            return self.other_code
        if at in self._code_by_position:
            return self._code_by_position[at]
        if not len(self.unseen_places):
            return self.other_code
        return len(self.seen) + int(np.abs(self.unseen_places - at).argmin())

    @cached_property
    def values(self) -> tuple[str | None, ...]:
        """Text of each category: a value seen, a position on the scale, and None for other values."""
        unseen = (format_position(at, self.seen) for at in self.unseen_places.tolist())
        return (*self.seen, *unseen, None)

    def texts(self, codes: Integers) -> list[str | None]:
        """Texts of codes."""
        return list(np.array(self.values, dtype=object)[codes])

    @cached_property
    def _categories_by_bin(self) -> tuple[Integers, Floats, Floats, Integers, Integers]:
        """Categories by bin and their cumulated mass; for each bin the mass before it, first and last."""
        order = np.argsort(self.bins, kind="stable")
        first = np.searchsorted(self.bins[order], np.arange(len(self.bin_mass)))
        before = np.cumsum(self.bin_mass) - self.bin_mass
        return (
            order,
            np.cumsum(self.mass[order]),
            before,
            first,
            np.append(first[1:], len(order)) - 1,
        )

    def draw_in_bins(self, bins: Integers, rng: np.random.Generator) -> Integers:
        """Draw a category of each of these bins."""
        order, cumulated, before, first, last = self._categories_by_bin
        level = before[bins] + rng.random(len(bins)) * self.bin_mass[bins]
        place = np.searchsorted(cumulated, level, side="right")
        return np.asarray(order[np.clip(place, first[bins], last[bins])])


# Cell probabilities of records, and what a score rests on where a value is not in the sample.
# There are two cases of such values. A new value of the same kind, such as an age that nobody in the sample
# has, has a share: the model estimates it by neighbouring values, or by how many values the sample contains
# once. A value unlike the sample's, such as a text among numbers or an age of 100,000, has none: nothing is
# known of how many people have it. Its probability is 0, so that ξ and κ are 1, the safe side. The status of
# the record reports both cases.

SEEN: Final = 0  # the sample contains the value
NEW: Final = 1  # it does not; its share is estimated
WITHOUT_SHARE: Final = 2  # nothing is known of its share
STATUS_NEW: Final = "new_value: the sample has no such value of {}, so its share is estimated"
STATUS_WITHOUT_SHARE: Final = (
    "unknown_value: the value of {} is unlike the sample's, so the record counts as unique"
)
REFUSAL_DOUBTS: Final = (
    "the sample must not contradict the model of a score without a status, got '{}'; "
    "use score_records, whose status reports it"
)
MIN_RECORDS: Final = 100  # of a sample, below which the share of a value is hardly known
STATUS_FEW_RECORDS: Final = "few_records: fewer than 100 records, so that risks may be far higher"
REFUSAL_ONE_RECORD: Final = (
    "the table must contain at least two records for a model, got 1, of which no share follows; "
    "pass a larger table"
)


@dataclass(frozen=True)
class RecordCells(Estimates):
    """Cell probabilities of records, the errors of their integration, and the status of each record."""

    status: TextColumn  # (records,)
    doubts: tuple[Doubt, ...] = field(default=(), kw_only=True)  # on the model

    def status_at(self, population: npt.ArrayLike) -> TextColumn:
        """Status of each record in a population, first the doubts on the model."""
        people = np.broadcast_to(np.asarray(population, dtype=np.float64), self.status.shape)
        places: list[tuple[Integers, TextColumn]] = []
        for each in np.unique(people[~np.isnan(people)] if self.doubts else []).tolist():
            rows = np.flatnonzero(people == each)
            statuses, place = np.unique(self.status[rows], return_inverse=True)
            doubts = doubts_at(self.doubts, each)
            joined = np.array([join_status(*doubts, status) for status in statuses.tolist()])
            places.append((rows, joined[place.ravel()]))
        status = self.status.astype(object)
        for rows, texts in places:
            status[rows] = texts
        return status.astype(str)

    def refuse_doubts(self, population: npt.ArrayLike) -> None:
        """Refuse scores without a status where the model understates them."""
        doubts = [doubt for doubt in self.doubts if doubt.understates]
        for people in np.unique(population).tolist() if doubts else []:
            for status in doubts_at(doubts, people):
                raise OutOfDomainError(REFUSAL_DOUBTS.format(status))

    def taken(self, rows: Integers) -> Self:
        """Give the cells of these records alone."""
        return replace(
            self,
            probability=self.probability[rows],
            standard_error=self.standard_error[rows],
            status=self.status[rows],
        )


def describe_records(columns: ColumnNames, cases: Integers, sample: int) -> TextColumn:
    """Status of each record by the case of each of its values, (records, columns), and the sample's size.

    >>> describe_records(["age", "sex"], np.array([[SEEN, SEEN], [NEW, SEEN]]), 100).tolist()
    ['ok', 'new_value: the sample has no such value of age, so its share is estimated']
    """
    patterns, place = np.unique(cases, axis=0, return_inverse=True)
    statuses = []
    for pattern in patterns:
        notes = [*describe_few_records(sample)]
        worst = int(pattern.max())
        if worst != SEEN:
            cases_by_column = zip(columns, pattern.tolist(), strict=True)
            names = ", ".join(column for column, case in cases_by_column if case == worst)
            notes.append((STATUS_NEW if worst == NEW else STATUS_WITHOUT_SHARE).format(names))
        statuses.append(join_status(*notes))
    return np.array(statuses)[place.ravel()]


def refuse_one_record(records: int) -> None:
    """Refuse a sample of one record: every value in it would be certain."""
    if records == 1:
        raise TooFewRecordsError(REFUSAL_ONE_RECORD)


def describe_few_records(records: int) -> list[str]:
    """What to report of a model whose sample is small."""
    return [STATUS_FEW_RECORDS] * (records < MIN_RECORDS)


def join_status(*parts: str) -> str:
    """Join what there is to report; ok if there is nothing.

    >>> join_status(), join_status("ok", "few records")
    ('ok', 'few records')
    """
    return "; ".join(part for part in parts if part != OK) or OK
