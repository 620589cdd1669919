"""One column of a model of people: its values, those that the sample may have missed, and its bins.

Pairs of values of two columns are counted by bin. Values with an order have a position on a scale: numbers by
size, dates by day, timestamps by second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.copula.marginals import parse_number, parse_numbers
from reid_sql.parameters import Floats

MIN_SHARE: Final = 1e-300
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

    def codes(self, values: Sequence[str | None]) -> Integers:
        """Codes of values given as text or None."""
        known = self._code_by_value
        return np.array([known[v] if v in known else self._nearest_code(v) for v in values], dtype=np.int64)

    def _nearest_code(self, value: str | None) -> int:
        """Code of the same number in another notation, of the nearest unseen position, or of other values."""
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
