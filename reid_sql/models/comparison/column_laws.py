"""How a column's values were changed: one image of each value, shares of changes, or a mixture."""

from dataclasses import dataclass
from typing import Final

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
