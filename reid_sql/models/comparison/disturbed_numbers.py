"""The law by which numbers were changed for some records: left as they were, recoded, moved, or replaced.

A column has one image of each value, shares of changes, or densities of distances; the last are a law.
A released number r of a person with the original number o is o itself with probability s. Else it is a
recoded o, o moved by a random distance, a number that replaces many, or anybody's number. The score of a pair
is the logarithm of P(r | o) / P(r), the weight of agreement: Fellegi & Sunter 1969. The shares of the parts
are fitted by expectation–maximization: Dempster, Laird & Rubin 1977.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from reid_sql.models.comparison.paired_records import PairedColumn
from reid_sql.parameters import Floats, Integers

# of values, up to which pairs of disturbed numbers would identify people
MAX_RECORDS_PER_PAIR: Final = 5
NO_IMAGE: Final = -2
UNCHANGED: Final = "unchanged"
RECODED: Final = "recoded"
BY_FREQUENCY: Final = "by frequency"
BY_DISTANCE: Final = "by distance"

STEPS: Final = 25  # of expectation–maximization
MAX_FITTED: Final = 50_000  # pairs of values that the law is fitted to
MIN_SHARE: Final = 1e-9  # of anybody's number: no number is impossible


@dataclass(frozen=True)
class ColumnLaw:
    """What the attacker knows of a column's changes; `image` is what each value became, if always one."""

    kind: str
    image: Integers | None  # (values of the original,), NO_IMAGE where the release has none


def classify_column(column: PairedColumn) -> ColumnLaw:
    """Decide whether a column is unchanged, recoded value by value, changed at random, or disturbed."""
    remains = column.changes.released >= 0
    original, released = column.changes.original[remains], column.changes.released[remains]
    if _is_disturbed(column, original, released):
        return ColumnLaw(BY_DISTANCE, None)
    image = np.full(len(column.original.values) + 1, NO_IMAGE)
    image[original] = released
    if len(np.unique(original)) < len(original):
        return ColumnLaw(BY_FREQUENCY, None)
    return ColumnLaw(RECODED if column.differs.any() else UNCHANGED, image)


def _is_disturbed(column: PairedColumn, original: Integers, released: Integers) -> bool:
    """Whether numbers became others out of order, and hardly a pair of them repeats.

    The shares of such pairs would say whose values they are: the attacker knows the disturbance alone.
    """
    records = column.changes.records[column.changes.released >= 0]
    if records.sum() >= MAX_RECORDS_PER_PAIR * len(original):
        return False
    if column.original.numbers is None or column.released.numbers is None:
        return False
    left, right = column.original.numbers[original], column.released.numbers[released]
    are_numbers = ~(np.isnan(left) | np.isnan(right))
    left, right = left[are_numbers], right[are_numbers]
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
        self.original, self.released = changes.original[order], changes.released[order]
        records = changes.records[order]
        values = len(column.original.values) + 1
        totals = np.bincount(self.original, weights=records, minlength=values)
        self.log_share = np.log(records / totals[self.original])
        self.starts = np.searchsorted(self.original, np.arange(values + 1))
        self.width = len(column.released.values) + 1

    def scores(self, original: Integers, released: Integers) -> Floats:
        """The logarithms of some original values, (original, released)."""
        counts = self.starts[original + 1] - self.starts[original]
        rows = np.repeat(np.arange(len(original)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(self.starts[original], counts) + within
        of_all_values = np.full((len(original), self.width), -np.inf)
        of_all_values[rows, self.released[places]] = self.log_share[places]
        scores: Floats = of_all_values[:, released]
        return scores


# Densities of distances between numbers: constant between edges, so that a block is scored by counting.

MIN_RECORDS_PER_BIN: Final = 20  # so that no bin describes a person
MAX_EQUAL_BINS: Final = 200  # of a histogram, besides the values that have a bin of their own
# of a normal or Laplace law, within so many standard deviations of its mean
NARROW_BINS: Final = 400
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
        heights: Floats = np.exp(-(self._scale_distances(mean, deviation) ** 2) / 2) / np.sqrt(
            2 * np.pi
        )
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


FitLaw = Callable[[Floats, Floats], Histogram | Normal]


def weighted_moments(values: Floats, records: Floats) -> tuple[float, float]:
    """Mean and standard deviation, which is not 0.

    >>> weighted_moments(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    (2.0, 1.4142135623730951)
    """
    mean = float(np.average(values, weights=records))
    variance = float(np.average((values - mean) ** 2, weights=records))
    return mean, max(float(np.sqrt(variance)), float(np.finfo(np.float64).tiny) ** 0.5)


@dataclass(frozen=True)
class Scale:
    """The numbers of both tables on a scale on which distances are measured."""

    original: Floats  # (values of the original,)
    released: Floats  # (numbers of the release,), ascending


@dataclass(frozen=True)
class ChangedNumbers:
    """Pairs of an original value and another number that it became."""

    original: Integers  # (pairs,), codes
    released: Integers  # (pairs,), places among the numbers of the release
    records: Floats  # (pairs,)

    def thin(self, numbers: Floats) -> "ChangedNumbers":
        """So many of the pairs, evenly by their numbers, that a fit is quick."""
        step = -(-len(self.original) // MAX_FITTED)
        order = np.lexsort([self.records, self.released, numbers[self.original]])[::step]
        return ChangedNumbers(self.original[order], self.released[order], self.records[order])


@dataclass(frozen=True)
class Mixture:
    """Law of the changed records on one scale."""

    scale: Scale
    edges: Floats  # (bins + 1,), of distances
    heights: Floats  # (bins,), times the share of moved numbers
    criterion: float  # log-likelihood less ½ ln n a parameter: Schwarz 1978
    shares: Floats  # (parts,): moved, replaced by one that replaces many, by anybody's, recoded
    replacements: Floats  # (numbers of the release,), how often each replaces others


class DisturbedNumbers:
    """Log P(r | o) / P(r) where numbers were changed at random for some records or all."""

    def __init__(self, column: PairedColumn) -> None:
        self.original = np.asarray(column.original.numbers)
        self.is_number = ~np.isnan(self.original)
        # Distinct numbers in ascending order, and the place of each code's; behind the last if it has none.
        numbers = np.asarray(column.released.numbers)
        is_number = ~np.isnan(numbers)
        self.values, place = np.unique(numbers[is_number], return_inverse=True)
        self.place = np.full(len(numbers), len(self.values))
        self.place[is_number] = place
        self.counts = np.bincount(self.place, column.released.counts)[:-1].clip(1.0)
        self.share = self.counts / self.counts.sum()
        changes = column.changes
        remains = changes.released >= 0
        mine, theirs = changes.original[remains], self.place[changes.released[remains]]
        records = changes.records[remains].astype(np.float64)
        # Log P(b | a) / P(b) of whether a value has no information after and before, (2, 2).
        pairs = 2 * ~self.is_number[mine] + (theirs == len(self.values))
        table = np.bincount(pairs, records, 4).reshape(2, 2)
        rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.log(table * table.sum() / (rows * columns))
        self.suppression: Floats = np.nan_to_num(weights, nan=0.0, neginf=-np.inf)
        are_numbers = self.is_number[mine] & (theirs < len(self.values))
        mine, theirs, records = mine[are_numbers], theirs[are_numbers], records[are_numbers]
        same = self.original[mine] == self.values[theirs]
        self.unchanged = float(records[same].sum() / records.sum())
        changed = ChangedNumbers(mine[~same], theirs[~same], records[~same])
        self._fit(changed.thin(self.original), column.original.counts)

    def _fit(self, changed: ChangedNumbers, original_counts: Floats) -> None:
        """Fit the law on each scale, and keep the one that describes the changed records best."""
        self.image = monotone_image(self.original, changed)
        recoded = (self.image[changed.original] == changed.released) / self.share[changed.released]
        mixtures = []
        for scale in self._scales(original_counts):
            laws: list[FitLaw] = [Histogram.from_distances]
            distances = scale.released[changed.released] - scale.original[changed.original]
            # laws with a deviation, if the distances differ by more than rounding errors
            if float(np.ptp(distances)) > RESOLUTION * float(np.abs(distances).max()):
                laws += [Normal.fit, Laplace.fit]
            mixtures += [self._fit_mixture(scale, law, changed, recoded) for law in laws]
        self.mixture = max(mixtures, key=lambda each: each.criterion)
        _, replaced, anybody, self.recoded = self.mixture.shares * (1 - self.unchanged)
        self.base = replaced * self.mixture.replacements / self.share + max(anybody, MIN_SHARE)
        density = Histogram.fit(self.mixture.scale.released, self.counts)
        at_values = density.heights(self.counts)[density.bin_of_value]
        self.inverse_density = (1 - self.unchanged) / at_values
        self.width = len(self.mixture.edges) + 1

    def _scales(self, original_counts: Floats) -> Iterator[Scale]:
        """The numbers as they are, their ranks as shares of the records, and their logarithms."""
        yield Scale(self.original, self.values)
        ranks = np.full(len(self.original), np.nan)
        values, place = np.unique(self.original[self.is_number], return_inverse=True)
        counts = np.bincount(place, original_counts[self.is_number])
        ranks[self.is_number] = middle_ranks(counts)[place]
        yield Scale(ranks, middle_ranks(self.counts))
        if min(self.values[0], values[0]) > 0:
            yield Scale(np.log(self.original), np.log(self.values))

    def _fit_mixture(
        self, scale: Scale, fit_law: FitLaw, changed: ChangedNumbers, recoded: Floats
    ) -> Mixture:
        """Fit the shares of the parts and their laws, weighting each pair by its expected part."""
        became, whole = changed.released, float(changed.records.sum())
        marginal = Histogram.fit(scale.released, self.counts)
        density = marginal.heights(self.counts)[marginal.bin_of_value][became]
        law = fit_law(scale.released[became] - scale.original[changed.original], changed.records)
        heights = law.heights(changed.records)
        replacements = self._replacements(changed, changed.records)
        shares, anybody = np.full(4, 1 / 4), np.ones(len(became))
        for _ in range(STEPS):
            frequent = (replacements / self.share)[became]
            joint = shares[:, None] * np.stack(
                [heights[law.bin_of_value] / density, frequent, anybody, recoded]
            )
            total = np.maximum(joint.sum(axis=0), MIN_SHARE)
            expected = joint / total * changed.records
            shares = expected.sum(axis=1) / whole
            replacements = self._replacements(changed, expected[1])
            if shares[0] < MIN_SHARE:
                break
            heights = law.heights(expected[0])
        fit = float((changed.records * np.log(total)).sum()) - law.parameters * np.log(whole) / 2
        return Mixture(scale, law.edges, shares[0] * heights, fit, shares, replacements)

    def _replacements(self, changed: ChangedNumbers, records: Floats) -> Floats:
        """Share of each number among those that replace many, of many records.

        Fewer records would say whose number was replaced.
        """
        became = np.bincount(changed.released, changed.records, len(self.values))
        expected = np.bincount(changed.released, records, len(self.values))
        frequent = np.where(became >= MIN_RECORDS_PER_BIN, expected, 0.0)
        return frequent / max(float(frequent.sum()), MIN_SHARE)

    def scores(self, original: Integers, released: Integers) -> Floats:
        """The weights of some original values, (original, released)."""
        numbers, back = np.unique(self.place[released], return_inverse=True)
        scores = np.zeros((len(original), len(numbers)))
        rows, there = np.flatnonzero(self.is_number[original]), numbers[numbers < len(self.values)]
        mine = original[rows]
        # the weights of original numbers with numbers of the release, (original, numbers)
        ratios = self._heights(
            self.mixture.scale.original[mine], self.mixture.scale.released[there]
        )
        ratios *= self.inverse_density[there]
        ratios += self.base[there]
        image = self.image[mine]
        for value, share in (
            (self.original[mine], np.full(len(mine), self.unchanged)),
            (self.values[image.clip(0)], np.where(image >= 0, self.recoded, 0.0)),
        ):
            at = np.searchsorted(self.values[there], value)
            hit = np.flatnonzero(at < len(there))
            hit = hit[self.values[there][at[hit]] == value[hit]]
            ratios[hit, at[hit]] += share[hit] / self.share[there][at[hit]]
        scores[rows, : len(there)] = np.log(ratios, out=ratios)
        before = (~self.is_number[original]).astype(int)
        after = (numbers == len(self.values)).astype(int)
        scores += self.suppression[before[:, None], after]
        return scores[:, back]

    def _heights(self, original: Floats, released: Floats) -> Floats:
        """Height of the law at every distance; of ascending released numbers, (original, released).

        Where they are many, the edges are searched among them, not they among the edges.
        """
        edges = self.mixture.edges
        heights = np.concatenate([[0.0], self.mixture.heights, [0.0]])
        if len(released) < len(edges):
            heights_at: Floats = heights[
                np.searchsorted(edges, released - original[:, None], side="right")
            ]
            return heights_at
        ends = np.searchsorted(released, (original[:, None] + edges).ravel()).reshape(
            len(original), len(edges)
        )
        steps = np.diff(ends, axis=1, prepend=0, append=len(released))
        return np.repeat(np.tile(heights, len(original)), steps.ravel()).reshape(
            len(original), len(released)
        )


def monotone_image(numbers: Floats, changed: ChangedNumbers) -> Integers:
    """Place of the number that each value was recoded to; -1 where the changed numbers are out of order.

    Values that were not changed lie between changed ones: they have the image of the nearest one.

    >>> ages = np.array([np.nan, 21.0, 29.0, 31.0])
    >>> monotone_image(ages, ChangedNumbers(np.array([1, 3]), np.array([0, 1]), np.ones(2))).tolist()
    [-1, 0, 1, 1]
    """
    image = np.full(len(numbers), -1)
    order = np.lexsort([changed.released, numbers[changed.original]])
    original, released = numbers[changed.original][order], changed.released[order]
    several = (original[1:] == original[:-1]) & (released[1:] != released[:-1])
    if ((released[1:] < released[:-1]) | several).any():
        return image
    places = np.flatnonzero(~np.isnan(numbers))
    present = numbers[places]
    after = np.searchsorted(original, present).clip(0, len(original) - 1)
    before = (after - 1).clip(0)
    nearer = np.abs(original[after] - present) <= np.abs(original[before] - present)
    image[places] = released[np.where(nearer, after, before)]
    return image


def middle_ranks(counts: Integers | Floats) -> Floats:
    """The middle rank of values of so many records, in order, as a share of all."""
    return np.asarray((np.cumsum(counts) - counts / 2) / max(float(counts.sum()), 1.0))
