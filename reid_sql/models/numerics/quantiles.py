"""Quantiles, the exact end of a share, and how figures are rounded and written."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from reid_sql.models.numerics.special_functions import betaincinv
from reid_sql.parameters import Floats, Integers

# Quantiles of values that weigh differently, and normal quantiles, which intervals are made of.

# a normal variable is within so many standard deviations with 95 %
NORMAL_95: Final = 1.959963984540054


def quantiles_by_count(values: Floats, records: Integers, shares: Sequence[float]) -> list[float]:
    """Quantiles of values with numbers of records, interpolated between two values.

    >>> quantiles_by_count(np.array([3.0, 1.0]), np.array([1, 2]), [0.5, 0.75])
    [1.0, 2.0]
    """
    order = np.argsort(values)
    ordered, last = values[order], np.cumsum(records[order]) - 1  # 0-based places among all records
    places = np.asarray(shares) * last[-1]
    low = ordered[np.searchsorted(last, np.floor(places))]
    high = ordered[np.searchsorted(last, np.ceil(places))]
    return [float(value) for value in low + (places - np.floor(places)) * (high - low)]


def quantiles_by_weight(values: Floats, weights: Floats, shares: Sequence[float]) -> Floats:
    """Quantiles of a distribution known at values of these weights, each in its weight's middle.

    The weights add up to 1.

    >>> quantiles_by_weight(np.array([3.0, 1.0]), np.array([0.5, 0.5]), [0.25, 0.5]).tolist()
    [1.0, 2.0]
    """
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order]) - weights[order] / 2
    quantiles: Floats = np.interp(shares, cumulated, values[order])
    return quantiles


# The exact upper end of a share that was counted in a sample (Clopper & Pearson 1934).

UPPER_TAIL: Final = 0.975


def clopper_pearson_upper(count: float, records: float) -> float:
    """Upper end of the share of `count` in `records`: the truth is below it in 97.5 % of samples.

    A sample without replacement varies less than the binomial, so the end is on the safe side.

    >>> round(clopper_pearson_upper(2, 10), 4), clopper_pearson_upper(10, 10)
    (0.5561, 1.0)
    """
    return float(betaincinv(count + 1.0, records - count, UPPER_TAIL)) if count < records else 1.0


# Shares as people read them.


def percent(share: float) -> str:
    """Write a share as a percentage, never rounding a small one to nothing or nearly all to all.

    >>> percent(0.104), percent(0.00001), percent(0.999999), percent(1.0)
    ('10.4 %', 'below 0.1 %', 'above 99.9 %', '100.0 %')
    """
    if 0 < share < 0.001:  # noqa: PLR2004 - one decimal
        return "below 0.1 %"
    return "above 99.9 %" if 0.999 < share < 1 else f"{100 * share:.1f} %"  # noqa: PLR2004 - one decimal


# How far figures may differ by rounding alone.

ROUNDING_TOLERANCE: Final = 1e-12  # relative: figures that differ by less differ by rounding
