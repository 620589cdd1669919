"""Quantiles of values that weigh differently, and normal quantiles, which intervals are made of."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from reid_sql.parameters import Floats, Integers

NORMAL_95: Final = 1.959963984540054  # standard deviations to either side that hold 95 % of a normal variable


def of_repeated(values: Floats, records: Integers, shares: Sequence[float]) -> list[float]:
    """Quantiles of values that stand for so many records each, between two of them in proportion.

    >>> of_repeated(np.array([3.0, 1.0]), np.array([1, 2]), [0.5, 0.75])
    [1.0, 2.0]
    """
    order = np.argsort(values)
    ordered, last = values[order], np.cumsum(records[order]) - 1  # 0-based places among all records
    places = np.asarray(shares) * last[-1]
    low = ordered[np.searchsorted(last, np.floor(places))]
    high = ordered[np.searchsorted(last, np.ceil(places))]
    return [float(value) for value in low + (places - np.floor(places)) * (high - low)]


def of_weighted(values: Floats, weights: Floats, shares: Sequence[float]) -> Floats:
    """Quantiles of a distribution known at values of these weights, each in its weight's middle.

    The weights add up to 1.

    >>> of_weighted(np.array([3.0, 1.0]), np.array([0.5, 0.5]), [0.25, 0.5]).tolist()
    [1.0, 2.0]
    """
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order]) - weights[order] / 2
    found: Floats = np.interp(shares, cumulated, values[order])
    return found
