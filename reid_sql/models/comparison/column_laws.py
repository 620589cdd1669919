"""How a column's values were changed: one image each, shares of changes, or densities of distances."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from reid_sql.models.comparison.paired_records import PairedColumn
from reid_sql.parameters import Floats, Integers

MAX_RECORDS_PER_PAIR: Final = 5  # of values, up to which pairs of disturbed numbers would identify people
NO_IMAGE: Final = -2
UNCHANGED: Final = "unchanged"
RECODED: Final = "recoded"
BY_FREQUENCY: Final = "by frequency"
BY_DISTANCE: Final = "by distance"


@dataclass(frozen=True)
class ColumnLaw:
    """What the attacker knows of a column's changes; `image` is what each value became, if always one."""

    kind: str
    image: Integers | None  # (values of the original,), NO_IMAGE where the release has none


def classify_column(column: PairedColumn) -> ColumnLaw:
    """Decide whether a column is unchanged, recoded value by value, changed at random, or disturbed."""
    remains = column.changes.released >= 0
    own, released = column.changes.original[remains], column.changes.released[remains]
    if _is_disturbed(column, own, released):
        return ColumnLaw(BY_DISTANCE, None)
    image = np.full(len(column.original_values) + 1, NO_IMAGE)
    image[own] = released
    if len(np.unique(own)) < len(own):
        return ColumnLaw(BY_FREQUENCY, None)
    return ColumnLaw(RECODED if column.differs.any() else UNCHANGED, image)


def _is_disturbed(column: PairedColumn, own: Integers, released: Integers) -> bool:
    """Whether numbers became others out of order, and hardly a pair of them repeats.

    The shares of such pairs would say whose values they are: the attacker knows the disturbance alone.
    """
    records = column.changes.records[column.changes.released >= 0]
    if records.sum() >= MAX_RECORDS_PER_PAIR * len(own):
        return False
    before, after = column.as_numbers(column.original_values), column.as_numbers(column.released_values)
    if before is None or after is None:
        return False
    known = ~(np.isnan(before[own]) | np.isnan(after[released]))
    left, right = before[own][known], after[released][known]
    order = np.lexsort([right, left])
    left, right = left[order], right[order]
    falls = right[1:] < right[:-1]
    return bool((falls | ((left[1:] == left[:-1]) & (right[1:] > right[:-1]))).any())


class Frequencies:
    """Log P(r | o): the share of the records of value o that became r."""

    def __init__(self, column: PairedColumn) -> None:
        changes = column.changes
        remaining = np.flatnonzero(changes.released >= 0)
        order = remaining[np.argsort(changes.original[remaining], kind="stable")]
        self.own, self.released = changes.original[order], changes.released[order]
        records = changes.records[order]
        values = len(column.original_values) + 1
        totals = np.bincount(self.own, weights=records, minlength=values)
        self.log_share = np.log(records / totals[self.own])
        self.starts = np.searchsorted(self.own, np.arange(values + 1))
        self.width = len(column.released_values) + 1

    def scores(self, own: Integers, released: Integers) -> Floats:
        """The logarithms of some original values, (own, released)."""
        counts = self.starts[own + 1] - self.starts[own]
        rows = np.repeat(np.arange(len(own)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(self.starts[own], counts) + within
        of_all_values = np.full((len(own), self.width), -np.inf)
        of_all_values[rows, self.released[places]] = self.log_share[places]
        scores: Floats = of_all_values[:, released]
        return scores


# Densities of distances between numbers: constant between edges, so that a block is scored by counting.

MIN_RECORDS_PER_BIN: Final = 20  # so that no bin describes a person
MAX_EQUAL_BINS: Final = 200  # of a histogram, besides the values that have a bin of their own
NARROW_BINS: Final = 400  # of a normal or Laplace law, within so many standard deviations of its mean
NARROW_REACH: Final = 6.0
RESOLUTION: Final = 2.0**-40  # of the range of the values, below which two values are the same


@dataclass(frozen=True)
class Histogram:
    """Bins of about as many records each; a value that many records share has a bin of its own.

    >>> law = Histogram.fit(np.array([0.0, 1.0, 2.0]), np.array([30.0, 60.0, 30.0]))
    >>> law.edges.tolist(), law.heights(np.array([30.0, 60.0, 30.0])).tolist()
    ([-0.5, 0.5, 1.5, 2.5], [0.25, 0.5, 0.25])
    """

    edges: Floats
    bin_of_value: Integers

    @classmethod
    def fit(cls, values: Floats, records: Floats) -> "Histogram":
        """Choose the edges, halfway between neighbouring values."""
        # Differences of equal numbers differ by rounding errors, which would be a bin without a width.
        unit = max(float(np.ptp(values)), np.finfo(np.float64).tiny) * RESOLUTION
        points, place = np.unique(np.rint((values - values.min()) / unit), return_inverse=True)
        points = points * unit + values.min()
        weights = np.bincount(place, weights=records)
        target = max(MIN_RECORDS_PER_BIN, weights.sum() / MAX_EQUAL_BINS)
        full = (np.cumsum(weights) - weights) // target
        alone = (weights >= MIN_RECORDS_PER_BIN) | (weights == 0)
        starts = (np.diff(full) > 0) | alone[1:] | alone[:-1]
        gaps = np.diff(points)
        first, last = (gaps[0], gaps[-1]) if len(gaps) else (1.0, 1.0)
        middles = (points[:-1] + gaps / 2)[starts]
        edges = np.concatenate([[points[0] - first / 2], middles, [points[-1] + last / 2]])
        return cls(edges, np.concatenate([[0], np.cumsum(starts)])[place])

    @classmethod
    def from_distances(cls, values: Floats, records: Floats) -> "Histogram":
        """Choose the edges of distances that are not 0: a number that did not move is no part of the law."""
        with_zero = cls.fit(np.append(values, 0.0), np.append(records, 0.0))
        return cls(with_zero.edges, with_zero.bin_of_value[:-1])

    @property
    def parameters(self) -> int:
        """Free heights."""
        return len(self.edges) - 2

    def heights(self, records: Floats) -> Floats:
        """Height of each bin where the values have so many records, (bins,)."""
        widths = np.diff(self.edges)
        masses = np.bincount(self.bin_of_value, weights=records, minlength=len(widths))
        heights: Floats = masses / records.sum() / widths
        return heights


@dataclass(frozen=True)
class Normal:
    """A normal law; its bins are so narrow that the height hardly changes within one."""

    edges: Floats
    bin_of_value: Integers
    values: Floats
    parameters: int = 2

    @classmethod
    def fit(cls, values: Floats, records: Floats) -> Self:
        """Divide what is within reach of the mean into narrow bins; equal values have no such law."""
        mean, deviation = weighted_moments(values, records)
        low, high = mean - NARROW_REACH * deviation, mean + NARROW_REACH * deviation
        edges = np.linspace(low, high, NARROW_BINS + 1)
        place = np.searchsorted(edges, values, side="right") - 1
        return cls(edges, np.clip(place, 0, NARROW_BINS - 1), values)

    def heights(self, records: Floats) -> Floats:
        """Height of each bin where the values have so many records, (bins,)."""
        mean, deviation = weighted_moments(self.values, records)
        heights: Floats = np.exp(-(self._scale_distances(mean, deviation) ** 2) / 2) / np.sqrt(2 * np.pi)
        return heights / self._scale(deviation)

    def _scale(self, deviation: float) -> float:
        """The deviation, or the width of a bin if this is more."""
        return max(deviation, float(self.edges[1] - self.edges[0]))

    def _scale_distances(self, mean: float, deviation: float) -> Floats:
        """Distance of each bin's centre from the mean."""
        centres = (self.edges[1:] + self.edges[:-1]) / 2
        scaled: Floats = (centres - mean) / self._scale(deviation)
        return scaled


class Laplace(Normal):
    """A law with a peak and long tails: that of noise for differential privacy."""

    def heights(self, records: Floats) -> Floats:
        """Height of each bin where the values have so many records, (bins,)."""
        mean = float(np.average(self.values, weights=records))
        deviation = float(np.average(np.abs(self.values - mean), weights=records))
        heights: Floats = np.exp(-np.abs(self._scale_distances(mean, deviation))) / 2
        return heights / self._scale(deviation)


def weighted_moments(values: Floats, records: Floats) -> tuple[float, float]:
    """Mean and standard deviation, which is not 0.

    >>> weighted_moments(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    (2.0, 1.4142135623730951)
    """
    mean = float(np.average(values, weights=records))
    variance = float(np.average((values - mean) ** 2, weights=records))
    return mean, max(float(np.sqrt(variance)), float(np.finfo(np.float64).tiny) ** 0.5)
