"""What a release is still good for: how well a target is predicted, and how much cross tables change.

A table of the target by some columns predicts each record from all others (leave one out): shares within the
cell, drawn towards those of the whole by one record's weight (Cestnik 1990, m = 1). Columns are taken one by
one, the one that tells most first, as long as the others' values tell more. A record that is alone in
its cell so tells nothing, whatever it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from reid_sql.models.classes.class_keys import number_columns
from reid_sql.models.generalization.boxes import NULL, Boxes, PartitionColumn
from reid_sql.models.generalization.criteria import ValueCounts
from reid_sql.models.generalization.lattice import DistinctRecords, LevelCodes
from reid_sql.parameters import Flags, Floats, Integers

WEIGHT: Final = 1.0  # of the whole table's shares in a cell, in records


@dataclass(frozen=True)
class Prediction:
    """The columns that predict best, by their places; bits predicted over all records, and shares.

    `information` is the share of the target's bits that is predicted, `error` that of the records whose value
    is not the predicted one. `log_loss` is the mean of -log2 of the share that is predicted for a record's
    own value.
    """

    columns: tuple[int, ...]
    bits: float
    information: float
    error: float
    log_loss: float


def predict_target(
    distinct: DistinctRecords, values: Integers, gone: int = 0, everyone: Floats | None = None
) -> Prediction:
    """Predict the target by the best table; `gone` records are left out, and expected to be as the others.

    `values` are the target's codes of the distinct records; `everyone` the records of each value in the
    table as it was, if some are gone.

    >>> sex, ill = np.array([[0, 1]]), np.array([0, 1])
    >>> prediction = predict_target(DistinctRecords(sex, np.array([50, 50])), ill)
    >>> prediction.columns, prediction.error, prediction.information > 0.98
    ((0,), 0.0, True)
    """
    whole = (
        np.bincount(values, distinct.counts).astype(np.float64) if everyone is None else everyone
    )
    chosen: tuple[int, ...] = ()
    best, error = 0.0, _error(distinct, values, (), gone, whole)
    while len(chosen) < len(distinct.codes):
        left = [at for at in range(len(distinct.codes)) if at not in chosen]
        tried = {at: information_bits(distinct, values, (*chosen, at), whole) for at in left}
        most = max(tried, key=lambda at: tried[at])
        if tried[most] <= best + 1e-9:
            break
        chosen, best = (*chosen, most), tried[most]
        error = _error(distinct, values, chosen, gone, whole)
    bits = _bits(whole)
    return Prediction(chosen, best, best / (bits or inf), error, (bits - best) / float(whole.sum()))


def information_bits(
    distinct: DistinctRecords, values: Integers, columns: Sequence[int], whole: Floats
) -> float:
    """Bits of the target that a table of the columns predicts beyond the overall shares, leaving one out."""
    shares = whole / whole.sum()
    place = number_columns(distinct.codes[list(columns)])
    pair = number_columns(np.stack([place, values]))
    inside, same_value = (np.bincount(at, distinct.counts)[at] for at in (place, pair))
    overall = np.log2(shares[values])
    expected = (same_value - 1 + WEIGHT * shares[values]) / (inside - 1 + WEIGHT)
    return float(distinct.counts @ (np.log2(np.maximum(expected, 1e-300)) - overall))


def _error(
    distinct: DistinctRecords, values: Integers, columns: Sequence[int], gone: int, whole: Floats
) -> float:
    """Give the share of records that are not of the value that the others of their cell let expect."""
    shares = whole / whole.sum()
    counts = _count_values(distinct, number_columns(distinct.codes[list(columns)]), values)
    cell, value, cells = counts.place, counts.value, np.arange(len(counts.sizes))
    score = np.zeros((len(cells), len(whole))) + WEIGHT * shares
    score[cell, value] += counts.records
    first = score.argmax(axis=1)
    best = score[cells, first]
    # rounded as other scores are, so that ties are exact
    without_record = WEIGHT * shares[value] + (counts.records - 1)
    score[cells, first] = -inf
    of_rest = np.where(first[cell] == value, score.max(axis=1)[cell], best[cell])
    wrong = float(counts.records[without_record <= of_rest].sum())
    missed = gone - gone * float(shares.max())
    return (wrong + missed) / float(distinct.counts.sum() + gone)


def _bits(whole: Floats) -> float:
    """Bits that the values tell of all records."""
    present = whole[whole > 0]
    return float(present @ np.log2(present.sum() / present))


def misfits(distinct: DistinctRecords, place: Integers, values: Integers, gone: int) -> float:
    """Give the share of records of another value than most of their class, and of those that are left out.

    `place` is the class of each distinct record. Source: Iyengar 2002 (classification metric).
    """
    counts = _count_values(distinct, place, values)
    most = np.zeros(len(counts.sizes))
    np.maximum.at(most, counts.place, counts.records)
    return float(distinct.counts.sum() - most.sum() + gone) / float(distinct.counts.sum() + gone)


def _count_values(distinct: DistinctRecords, place: Integers, values: Integers) -> ValueCounts:
    return ValueCounts.count(place, values, distinct.counts, np.bincount(place, distinct.counts))


# How much the table of two columns by each other changes when their values become coarser.
#
# What a record shows is a set of values. A reader who knows how frequent each value is spreads the record
# over the set in proportion, in each column on its own: this is the table that the release still shows,
# and it is compared with the original one.


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


def column_at_level(column: LevelCodes, level: int, codes: Integers, blank: Flags) -> RecodedColumn:
    """A column at a level of its hierarchy; a blank cell shows every value.

    >>> ages = LevelCodes((np.arange(3), np.array([0, 0, 1]), np.zeros(3, dtype=int)), np.array([3, 1, 4]))
    >>> column_at_level(ages, 1, np.array([0, 1]), np.array([False, True])).spread.tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0], [0.375, 0.125, 0.5]]
    """
    within = np.arange(column.sizes[level])[:, None] == column.codes[level]
    everything = np.ones((1, len(column.records)), dtype=np.bool_)
    spread = _spread(np.concatenate([within, everything]), column.records)
    return RecodedColumn(np.where(blank, column.sizes[level], codes), spread)


def recode_by_boxes(column: PartitionColumn, boxes: Boxes, place: Integers) -> RecodedColumn:
    """A column as each class shows it; `place` is the class of each row."""
    kinds, shown = np.unique(
        np.array([boxes.low, boxes.high, boxes.level]), axis=1, return_inverse=True
    )
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


def _spread(within: Flags, records: Integers) -> Floats:
    weighted = within * records.astype(np.float64)
    return np.asarray(
        weighted / np.maximum(weighted.sum(axis=1, keepdims=True), 1.0), dtype=np.float64
    )


def cross_table_change(
    before: tuple[Integers, Integers, Integers],
    after: tuple[RecodedColumn, RecodedColumn, Integers],
) -> CrossTableChange:
    """Compare two columns before, by codes and counts of rows, and after; each as shares of its records.

    >>> codes, counts = np.array([0, 1]), np.array([1, 1])
    >>> unchanged = unchanged_column(2, codes)
    >>> hidden = RecodedColumn(np.array([0, 0]), np.array([[0.5, 0.5]]))
    >>> cross_table_change((codes, codes, counts), (unchanged, hidden, counts))
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
