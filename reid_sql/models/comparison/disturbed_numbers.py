"""The law by which numbers were changed for some records: left as they were, recoded, moved, or replaced.

A released number r of a person with the original number o is o itself with probability s. Else it is a
recoded o, o moved by a random distance, a number that replaces many, or anybody's number. The score of a pair
is the logarithm of P(r | o) / P(r), the weight of agreement: Fellegi & Sunter 1969. The shares of the parts
are fitted by expectation–maximization: Dempster, Laird & Rubin 1977.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.comparison.column_laws import MIN_RECORDS_PER_BIN, RESOLUTION, Histogram, Laplace, Normal
from reid_sql.models.comparison.paired_records import PairedColumn
from reid_sql.parameters import Floats, Integers

FitLaw = Callable[[Floats, Floats], Histogram | Normal]
STEPS: Final = 25  # of expectation–maximization
MAX_FITTED: Final = 50_000  # pairs of values that the law is fitted to
MIN_SHARE: Final = 1e-9  # of anybody's number: no number is impossible


@dataclass(frozen=True)
class Scale:
    """The numbers of both tables on a scale on which distances are measured."""

    own: Floats  # (values of the original,)
    released: Floats  # (numbers of the release,), ascending


@dataclass(frozen=True)
class ChangedNumbers:
    """Pairs of an original value and another number that it became."""

    own: Integers  # (pairs,), codes
    released: Integers  # (pairs,), places among the numbers of the release
    records: Floats  # (pairs,)

    def thin(self, numbers: Floats) -> "ChangedNumbers":
        """So many of the pairs, evenly by their numbers, that a fit is quick."""
        step = -(-len(self.own) // MAX_FITTED)
        order = np.lexsort([self.records, self.released, numbers[self.own]])[::step]
        return ChangedNumbers(self.own[order], self.released[order], self.records[order])


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
        own, released = (column.as_numbers(each) for each in (column.original_values, column.released_values))
        self.own = np.asarray(own)
        self.is_number = ~np.isnan(self.own)
        self.values, self.place = _number_places(np.asarray(released))
        self.counts = _count(self.place, column.released, column.records)[:-1].clip(1.0)
        self.share = self.counts / self.counts.sum()
        changes = column.changes
        remains = changes.released >= 0
        mine, theirs = changes.original[remains], self.place[changes.released[remains]]
        records = changes.records[remains].astype(np.float64)
        self.suppression = _weigh_suppression(~self.is_number[mine], theirs == len(self.values), records)
        known = self.is_number[mine] & (theirs < len(self.values))
        mine, theirs, records = mine[known], theirs[known], records[known]
        same = self.own[mine] == self.values[theirs]
        self.unchanged = float(records[same].sum() / records.sum())
        changed = ChangedNumbers(mine[~same], theirs[~same], records[~same])
        self._fit(changed.thin(self.own), _count(np.arange(len(self.own)), column.original, column.records))

    def _fit(self, changed: ChangedNumbers, own_counts: Floats) -> None:
        """Fit the law on each scale, and keep the one that describes the changed records best."""
        self.image = monotone_image(self.own, changed)
        recoded = (self.image[changed.own] == changed.released) / self.share[changed.released]
        mixtures = [
            self._fit_mixture(scale, law, changed, recoded)
            for scale in self._scales(own_counts)
            for law in _laws(scale, changed)
        ]
        self.mixture = max(mixtures, key=lambda each: each.criterion)
        _, replaced, anybody, self.recoded = self.mixture.shares * (1 - self.unchanged)
        self.base = replaced * self.mixture.replacements / self.share + max(anybody, MIN_SHARE)
        density = Histogram.fit(self.mixture.scale.released, self.counts)
        at_values = density.heights(self.counts)[density.bin_of_value]
        self.inverse_density = (1 - self.unchanged) / at_values
        self.width = len(self.mixture.edges) + 1

    def _scales(self, own_counts: Floats) -> Iterator[Scale]:
        """The numbers as they are, their ranks as shares of the records, and their logarithms."""
        yield Scale(self.own, self.values)
        ranks = np.full(len(self.own), np.nan)
        own_values, place = np.unique(self.own[self.is_number], return_inverse=True)
        ranks[self.is_number] = _middle_ranks(
            np.bincount(place, own_counts[self.is_number]).astype(np.float64)
        )[place]
        yield Scale(ranks, _middle_ranks(self.counts))
        if min(self.values[0], own_values[0]) > 0:
            yield Scale(np.log(self.own), np.log(self.values))

    def _fit_mixture(
        self, scale: Scale, fit_law: FitLaw, changed: ChangedNumbers, recoded: Floats
    ) -> Mixture:
        """Fit the shares of the parts and their laws, weighting each pair by its expected part."""
        became, whole = changed.released, float(changed.records.sum())
        marginal = Histogram.fit(scale.released, self.counts)
        density = marginal.heights(self.counts)[marginal.bin_of_value][became]
        law = fit_law(scale.released[became] - scale.own[changed.own], changed.records)
        heights, replacements = law.heights(changed.records), self._replacements(changed, changed.records)
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

    def scores(self, own: Integers, released: Integers) -> Floats:
        """The weights of some original values, (own, released)."""
        numbers, back = np.unique(self.place[released], return_inverse=True)
        scores = np.zeros((len(own), len(numbers)))
        rows, there = np.flatnonzero(self.is_number[own]), numbers[numbers < len(self.values)]
        scores[rows, : len(there)] = self._weigh_numbers(own[rows], there)
        before, after = (~self.is_number[own]).astype(int), (numbers == len(self.values)).astype(int)
        scores += self.suppression[before[:, None], after]
        return scores[:, back]

    def _weigh_numbers(self, own: Integers, numbers: Integers) -> Floats:
        """The weights of some original numbers with some numbers of the release, (own, numbers)."""
        ratios = self._heights(self.mixture.scale.own[own], self.mixture.scale.released[numbers])
        ratios *= self.inverse_density[numbers]
        ratios += self.base[numbers]
        image, mine = self.image[own], self.own[own]
        for value, share in (
            (mine, np.full(len(own), self.unchanged)),
            (self.values[image.clip(0)], np.where(image >= 0, self.recoded, 0.0)),
        ):
            at = np.searchsorted(self.values[numbers], value)
            hit = np.flatnonzero(at < len(numbers))
            hit = hit[self.values[numbers][at[hit]] == value[hit]]
            ratios[hit, at[hit]] += share[hit] / self.share[numbers][at[hit]]
        return np.log(ratios, out=ratios)

    def _heights(self, own: Floats, released: Floats) -> Floats:
        """Height of the law at every distance; of ascending released numbers, (own, released).

        Where they are many, the edges are searched among them, not they among the edges.
        """
        edges = self.mixture.edges
        heights = np.concatenate([[0.0], self.mixture.heights, [0.0]])
        if len(released) < len(edges):
            heights_at: Floats = heights[np.searchsorted(edges, released - own[:, None], side="right")]
            return heights_at
        ends = np.searchsorted(released, (own[:, None] + edges).ravel()).reshape(len(own), len(edges))
        steps = np.diff(ends, axis=1, prepend=0, append=len(released))
        return np.repeat(np.tile(heights, len(own)), steps.ravel()).reshape(len(own), len(released))


def _laws(scale: Scale, changed: ChangedNumbers) -> list[FitLaw]:
    """Laws that distances may have; those with a deviation, if they differ by more than rounding errors."""
    distances = scale.released[changed.released] - scale.own[changed.own]
    if float(np.ptp(distances)) > RESOLUTION * float(np.abs(distances).max()):
        return [Histogram.from_distances, Normal.fit, Laplace.fit]
    return [Histogram.from_distances]


def monotone_image(numbers: Floats, changed: ChangedNumbers) -> Integers:
    """Place of the number that each value was recoded to; -1 where the changed numbers are out of order.

    Values that were not changed lie between changed ones: they have the image of the nearest one.

    >>> ages = np.array([np.nan, 21.0, 29.0, 31.0])
    >>> monotone_image(ages, ChangedNumbers(np.array([1, 3]), np.array([0, 1]), np.ones(2))).tolist()
    [-1, 0, 1, 1]
    """
    image = np.full(len(numbers), -1)
    order = np.lexsort([changed.released, numbers[changed.own]])
    own, released = numbers[changed.own][order], changed.released[order]
    several = (own[1:] == own[:-1]) & (released[1:] != released[:-1])
    if ((released[1:] < released[:-1]) | several).any():
        return image
    known = np.flatnonzero(~np.isnan(numbers))
    after = np.searchsorted(own, numbers[known]).clip(0, len(own) - 1)
    before = (after - 1).clip(0)
    nearer = np.abs(own[after] - numbers[known]) <= np.abs(own[before] - numbers[known])
    image[known] = released[np.where(nearer, after, before)]
    return image


def _number_places(numbers: Floats) -> tuple[Floats, Integers]:
    """Distinct numbers in ascending order, and the place of each code's; behind the last if it has none."""
    known = ~np.isnan(numbers)
    values, place = np.unique(numbers[known], return_inverse=True)
    places = np.full(len(numbers), len(values))
    places[known] = place
    return values, places


def _count(place: Integers, codes: Integers, records: Integers) -> Floats:
    """Records of each place of the codes; the last place is counted too, if no record has it."""
    exists = codes >= 0
    weights = records[exists].astype(np.float64)
    return np.bincount(place[codes[exists]], weights, int(place.max()) + 1).astype(np.float64)


def _middle_ranks(counts: Floats) -> Floats:
    ranks: Floats = (np.cumsum(counts) - counts / 2) / counts.sum()
    return ranks


def _weigh_suppression(before: Integers, after: Integers, records: Floats) -> Floats:
    """Log P(b | a) / P(b) of whether a value has no information after and before, (2, 2)."""
    table = np.bincount(2 * before.astype(int) + after, records, 4).reshape(2, 2)
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.log(table * table.sum() / (rows * columns))
    known: Floats = np.nan_to_num(weights, nan=0.0, neginf=-np.inf)
    return known
