"""How much the table of two columns by each other changes when their values become coarser.

What a record shows is a set of values. A reader who knows how frequent each value is spreads the record over
the set in proportion, in each column on its own: this is the table that the release still shows, and it is
compared with the original one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reid_sql.models.release.boxes import NULL, Boxes, PartitionColumn
from reid_sql.models.release.lattice import LevelCodes
from reid_sql.parameters import Floats, Integers


@dataclass(frozen=True)
class RecodedColumn:
    """What each record shows of a column, and the share of each original value in what is shown."""

    shown: Integers  # (rows,)
    spread: Floats  # (shown, values); each row sums to 1


@dataclass(frozen=True)
class CrossTableChange:
    """The distances between the shares p of the cells before and q after.

    `variation` is half the sum of |p - q|, the share of records that would have to move (total variation);
    `chi_square` half the sum of (p - q)²/(p + q), which is symmetric and at most 1 (Le Cam 1986, p. 47).
    """

    variation: float
    chi_square: float


def column_at_level(
    column: LevelCodes, level: int, codes: Integers, blank: NDArray[np.bool_]
) -> RecodedColumn:
    """A column at a level of its hierarchy; a blank cell shows every value.

    >>> ages = LevelCodes((np.arange(3), np.array([0, 0, 1]), np.zeros(3, dtype=int)), np.array([3, 1, 4]))
    >>> column_at_level(ages, 1, np.array([0, 1]), np.array([False, True])).spread.tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0], [0.375, 0.125, 0.5]]
    """
    within = np.arange(column.sizes[level])[:, None] == column.codes[level]
    everything = np.ones((1, len(column.records)), dtype=np.bool_)
    spread = _spread(np.concatenate([within, everything]), column.records)
    return RecodedColumn(np.where(blank, column.sizes[level], codes), spread)


def column_of_boxes(column: PartitionColumn, boxes: Boxes, place: Integers) -> RecodedColumn:
    """A column as each class shows it; `place` is the class of each row."""
    kinds, shown = np.unique(np.array([boxes.low, boxes.high, boxes.level]), axis=1, return_inverse=True)
    low, high, level = (each[:, None] for each in kinds)
    values = np.arange(len(column.levels.records))
    if column.ordered:
        within = ((values >= low) & (values <= high)) | ((low == NULL) & (high > NULL))
    else:
        within = column.table[level[:, 0]] == low
    return RecodedColumn(shown.ravel()[place], _spread(within, column.levels.records))


def unchanged_column(values: int, codes: Integers) -> RecodedColumn:
    """A column that every record shows as it is."""
    return RecodedColumn(codes, np.eye(values))


def _spread(within: NDArray[np.bool_], records: Integers) -> Floats:
    weighted = within * records.astype(np.float64)
    return np.asarray(weighted / np.maximum(weighted.sum(axis=1, keepdims=True), 1.0), dtype=np.float64)


def cross_table_change(
    before: tuple[Integers, Integers, Integers], after: tuple[RecodedColumn, RecodedColumn, Integers]
) -> CrossTableChange:
    """Compare two columns before, by codes and counts of rows, and after; each as shares of its records.

    >>> codes, counts = np.array([0, 1]), np.array([1, 1])
    >>> known = unchanged_column(2, codes)
    >>> unknown = RecodedColumn(np.array([0, 0]), np.array([[0.5, 0.5]]))
    >>> cross_table_change((codes, codes, counts), (known, unknown, counts))
    CrossTableChange(variation=0.5, chi_square=0.3333333333333333)
    """
    first, second, counts = after
    shape = first.spread.shape[1], second.spread.shape[1]
    original = _shares(*before, shape)
    shown = _shares(first.shown, second.shown, counts, (len(first.spread), len(second.spread)))
    released = first.spread.T @ shown @ second.spread
    both, difference = original + released, original - released
    squared = np.divide(difference**2, both, out=np.zeros_like(both), where=both > 0)
    return CrossTableChange(float(np.abs(difference).sum()) / 2, float(squared.sum()) / 2)


def _shares(first: Integers, second: Integers, counts: Integers, shape: tuple[int, int]) -> Floats:
    counted = np.bincount(first * shape[1] + second, counts, shape[0] * shape[1]).reshape(shape)
    return np.asarray(counted / max(counted.sum(), 1.0), dtype=np.float64)
