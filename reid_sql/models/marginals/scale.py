"""Positions of a column's values on a scale: numbers by size, dates by day, timestamps by second."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import Final

import numpy as np

from reid_sql.models.copula.marginals import parse_number, parse_numbers
from reid_sql.parameters import Floats

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
