"""One column of a model of people: its values, those that the sample may have missed, and its bins.

Pairs of values of two columns are counted by bin. Values with an order have a position on a scale.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self

import numpy as np

from reid_sql.errors import TooFewRecordsError
from reid_sql.models.classes.disclosure import OK, Integers
from reid_sql.models.copula.marginals import parse_number
from reid_sql.models.marginals.scale import Scale, format_position, position, scale_of
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.parameters import Floats, TextColumn

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
    left_out: Floats  # (values seen,), share of a value to a record that has it, without that record
    unseen_places: Floats = field(default_factory=lambda: np.empty(0))
    rarity: Rarity = EQUALLY_RARE  # of the last category

    def draw_log_rarity(self, codes: Integers, rng: np.random.Generator) -> Floats:
        """Draw ln of the share of each value relative to its category's; 0 but for the last category."""
        log_ratio = np.zeros(len(codes))
        if len(self.rarity.weight) > 1:
            rows = codes == self.other_code
            log_ratio[rows] = rng.choice(self.rarity.log_ratio, int(rows.sum()), p=self.rarity.weight)
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
        own, known = np.zeros(len(self.bin_mass)), self.bins[: len(self.seen)]
        np.add.at(own, known, self.mass[: len(self.seen)] - self.left_out)
        values = np.maximum(np.bincount(known, minlength=len(own)), 1)
        return np.asarray(np.maximum(self.bin_mass - own / values, MIN_SHARE))

    @cached_property
    def log_within_left_out(self) -> Floats:
        """Ln P(value | its bin) without the record that has the value."""
        return np.minimum(self.log_left_out - np.log(self.bin_left_out[self.bins[: len(self.seen)]]), 0.0)

    @cached_property
    def _code_by_value(self) -> dict[str | None, int]:
        return {value: code for code, value in enumerate(self.seen)}

    @cached_property
    def _code_by_position(self) -> dict[float, int]:
        located = ((position(value), code) for code, value in reversed(list(enumerate(self.seen))))
        return {at: code for at, code in located if at is not None}

    @cached_property
    def _scale(self) -> Scale | None:
        return scale_of(self.seen) if self.ordered else None

    def codes(self, values: Sequence[str | None]) -> Integers:
        """Codes of values given as text or None; that of a value without a share is above `other_code`."""
        known = self._code_by_value
        return np.array([known[v] if v in known else self._nearest_code(v) for v in values], dtype=np.int64)

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
        return order, np.cumsum(self.mass[order]), before, first, np.append(first[1:], len(order)) - 1

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

    def taken(self, rows: Integers) -> Self:
        """Give the cells of these records alone."""
        return replace(
            self,
            probability=self.probability[rows],
            standard_error=self.standard_error[rows],
            status=self.status[rows],
        )


def describe_records(columns: Sequence[str], cases: Integers, sample: int) -> TextColumn:
    """Status of each record by the case of each of its values, (records, columns), and the sample's size.

    >>> describe_records(["age", "sex"], np.array([[SEEN, SEEN], [NEW, SEEN]]), 100).tolist()
    ['ok', 'new_value: the sample has no such value of age, so its share is estimated']
    """
    patterns, place = np.unique(cases, axis=0, return_inverse=True)
    statuses = [
        join_status(*describe_few_records(sample), *_describe_pattern(columns, each)) for each in patterns
    ]
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


def _describe_pattern(columns: Sequence[str], pattern: Integers) -> Iterator[str]:
    """Yield the sentence on the columns of the worst case of a record."""
    worst = int(pattern.max())
    if worst == SEEN:
        return
    names = ", ".join(column for column, case in zip(columns, pattern.tolist(), strict=True) if case == worst)
    yield (STATUS_NEW if worst == NEW else STATUS_WITHOUT_SHARE).format(names)
