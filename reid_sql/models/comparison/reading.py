"""What an attacker makes of a column of a release: how likely each original value became each released one.

The attacker knows how the values were changed, but not of whom. A released value that a value never became
is none of its forms. Where numbers were disturbed, so that hardly a pair of values repeats, the pairs would
tell of whom: there the attacker knows the spread of the disturbance alone.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.comparison.paired_records import PairedColumn
from reid_sql.parameters import Floats, Integers

UNCHANGED: Final = "unchanged"
RECODED: Final = "recoded"
BY_FREQUENCY: Final = "by frequency"
BY_DISTANCE: Final = "by distance"
REPEATED: Final = 5  # records for each pair of values, from which the pairs are no more than a habit


@dataclass(frozen=True)
class Reading:
    """How a column is understood; `image` is what each value became, -2 for none, where that is one value."""

    words: str
    image: Integers | None  # (values of the original,)


def reading(column: PairedColumn) -> Reading:
    """Tell whether the column is as it was, recoded value by value, changed now and then, or disturbed."""
    kept = column.became.released >= 0
    mine, theirs = column.became.original[kept], column.became.released[kept]
    if _is_disturbed(column, mine, theirs):
        return Reading(BY_DISTANCE, None)
    image = np.full(len(column.original_values) + 1, -2)
    image[mine] = theirs
    if len(np.unique(mine)) < len(mine):
        return Reading(BY_FREQUENCY, None)
    return Reading(RECODED if column.differs.any() else UNCHANGED, image)


def _is_disturbed(column: PairedColumn, mine: Integers, theirs: Integers) -> bool:
    """Whether numbers became others out of order, and hardly a pair of them repeats."""
    records = column.became.records[column.became.released >= 0]
    if records.sum() >= REPEATED * len(mine):
        return False
    own, others = column.as_numbers(column.original_values), column.as_numbers(column.released_values)
    if own is None or others is None:
        return False
    told = ~(np.isnan(own[mine]) | np.isnan(others[theirs]))
    left, right = own[mine][told], others[theirs][told]
    order = np.lexsort([right, left])
    left, right = left[order], right[order]
    return bool((right[1:] < right[:-1]).any() or ((left[1:] == left[:-1]) & (right[1:] > right[:-1])).any())


class Frequencies:
    """log P(r | o): the share of the records of value o that became r."""

    def __init__(self, column: PairedColumn) -> None:
        kept = np.flatnonzero(column.became.released >= 0)
        order = kept[np.argsort(column.became.original[kept], kind="stable")]
        self.own, self.released = column.became.original[order], column.became.released[order]
        records = column.became.records[order]
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
        whole = np.full((len(own), self.width), -np.inf)
        whole[rows, self.released[places]] = self.log_share[places]
        found: Floats = whole[:, released]
        return found


class Distances:
    """log f(r | o) / f(r) where r is o and a normal disturbance, both of variances as they are in the pairs.

    Fellegi & Sunter 1969, the weight of agreement; 0, which tells nothing, where either is suppressed.
    """

    def __init__(self, column: PairedColumn) -> None:
        own, released = (column.as_numbers(each) for each in (column.original_values, column.released_values))
        self.own, self.released = np.asarray(own), np.asarray(released)
        became = column.became
        kept = (became.released >= 0) & ~np.isnan(self.own[became.original])
        kept[kept] = ~np.isnan(self.released[became.released[kept]])
        weights = became.records[kept].astype(np.float64)
        values = self.released[became.released[kept]]
        self.mean, self.variance = _moments(values, weights)
        self.shift, self.noise = _moments(values - self.own[became.original[kept]], weights)

    def scores(self, own: Integers, released: Integers) -> Floats:
        """The weights of some original values, (own, released)."""
        values = self.released[released]
        apart = values - self.own[own][:, None] - self.shift
        known = (values - self.mean) ** 2 / self.variance - apart**2 / self.noise
        weight = (np.log(self.variance / self.noise) + known) / 2
        found: Floats = np.where(np.isnan(weight), 0.0, weight)
        return found


def _moments(values: Floats, weights: Floats) -> tuple[float, float]:
    """The mean, and a variance that is not 0."""
    mean = float(np.average(values, weights=weights))
    variance = float(np.average((values - mean) ** 2, weights=weights))
    return mean, max(variance, np.finfo(np.float64).tiny)
