"""Heaps: values of a scale that far more records have than their neighbours, such as an income of 0.

Smoothing spreads a heap over its neighbours: its own share becomes too small, so its records seem to repeat
beyond chance. A heap is therefore a value of its own, without a place on the scale. Candidates are values of
many more records than the values around them; which ratio makes a heap is chosen by likelihood. Source:
Heitjan & Rubin 1990 (heaping of ages and incomes); Schwarz 1978 (the price of a parameter).
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import Floats

MIN_RECORDS: Final = 3  # of a heap: fewer at one value are common on a scale of small counts
NEIGHBOURS: Final = 6  # values on each side, among which other heaps are a minority
MIN_RATIOS: Final = (32.0, 16.0, 8.0, 4.0, 2.5)  # of a heap's records to the median of its neighbours'


def propose_heaps(located: Floats, counts: Floats) -> Iterator[npt.NDArray[np.bool_]]:
    """Sets of heaps, each with more values than the one before; the first has none.

    >>> ages = np.arange(20.0)
    >>> records = np.where(ages == 10, 60.0, 6.0)
    >>> [np.flatnonzero(heaps).tolist() for heaps in propose_heaps(ages, records)]
    [[], [10]]
    """
    size, ratio = -1, rate_values(located, counts)
    for least in (np.inf, *MIN_RATIOS):
        heaps = (ratio >= least) & (counts >= MIN_RECORDS)
        if int(heaps.sum()) > size:
            size = int(heaps.sum())
            yield heaps


def rate_values(located: Floats, counts: Floats) -> Floats:
    """Each value's records relative to the median of its neighbours on the scale; 0 without a place."""
    ratio, rows = np.zeros(len(located)), np.flatnonzero(~np.isnan(located))
    order = rows[np.argsort(located[rows], kind="stable")]
    if len(order) > 1:
        around = np.full((len(order) + 2 * NEIGHBOURS), np.nan)
        around[NEIGHBOURS:-NEIGHBOURS] = counts[order]
        windows = np.lib.stride_tricks.sliding_window_view(around, 2 * NEIGHBOURS + 1)
        median = np.nanmedian(np.delete(windows, NEIGHBOURS, axis=1), axis=1)
        ratio[order] = counts[order] / median
    return ratio


def price_heaps(counts: Floats, records: float) -> float:
    """Log-likelihood of the records of heaps, each left out of its own count, less ½ ln n for each heap.

    >>> round(price_heaps(np.array([51.0]), 100.0), 3)
    -37.653
    """
    own = np.maximum(counts - 1, 1e-300) / records
    return float(counts @ np.log(own)) - len(counts) * float(np.log(records)) / 2
