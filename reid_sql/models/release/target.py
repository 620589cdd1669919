"""How well a target column is still predicted from the other columns, of the table and of its release.

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

from reid_sql.models.release.lattice import DistinctRecords, combine_codes
from reid_sql.parameters import Floats, Integers

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
    >>> made = predict_target(DistinctRecords(sex, np.array([50, 50])), ill)
    >>> made.columns, made.error, made.information > 0.98
    ((0,), 0.0, True)
    """
    whole = np.bincount(values, distinct.counts).astype(np.float64) if everyone is None else everyone
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
    place, cells = _cells(distinct, columns)
    same_value, inside = _cell_counts(place, values, distinct.counts, cells, len(whole))
    own = np.log2(shares[values])
    expected = (same_value - 1 + WEIGHT * shares[values]) / (inside - 1 + WEIGHT)
    return float(distinct.counts @ (np.log2(np.maximum(expected, 1e-300)) - own))


def _cells(distinct: DistinctRecords, columns: Sequence[int]) -> tuple[Integers, int]:
    if not columns:
        return np.zeros(len(distinct.counts), dtype=np.int64), 1
    codes = [distinct.codes[at] for at in columns]
    key = combine_codes(codes, [int(each.max()) + 1 for each in codes])
    cells, place = np.unique(key, return_inverse=True)
    return place.astype(np.int64), len(cells)


def _cell_counts(
    place: Integers, values: Integers, counts: Integers, cells: int, many: int
) -> tuple[Floats, Floats]:
    """Give, for each distinct record, the records of its cell with its value, and all of its cell."""
    pairs, inverse = np.unique(place * many + values, return_inverse=True)
    counted = np.bincount(inverse, counts, len(pairs))[inverse]
    return counted.astype(np.float64), np.bincount(place, counts, cells)[place].astype(np.float64)


def _error(
    distinct: DistinctRecords, values: Integers, columns: Sequence[int], gone: int, whole: Floats
) -> float:
    """Give the share of records that are not of the value that the others of their cell let expect."""
    shares = whole / whole.sum()
    place, cells = _cells(distinct, columns)
    pairs, inverse = np.unique(place * len(whole) + values, return_inverse=True)
    counted = np.bincount(inverse, distinct.counts, len(pairs))
    score = np.zeros((cells, len(whole))) + WEIGHT * shares
    cell, value = np.divmod(pairs, len(whole))
    score[cell, value] += counted
    first = score.argmax(axis=1)
    best = score[np.arange(cells), first]
    own = WEIGHT * shares[value] + (counted - 1)  # rounded as other scores are, so that ties are exact
    score[np.arange(cells), first] = -inf
    other = np.where(first[cell] == value, score.max(axis=1)[cell], best[cell])
    wrong = float(counted[own <= other].sum())
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
    many = int(values.max()) + 1
    pairs, inverse = np.unique(place * many + values, return_inverse=True)
    counted = np.bincount(inverse, distinct.counts, len(pairs))
    most = np.zeros(int(place.max()) + 1)
    np.maximum.at(most, pairs // many, counted)
    return float(distinct.counts.sum() - most.sum() + gone) / float(distinct.counts.sum() + gone)
