"""A share with its 95 % interval on a log-odds scale: scatter over shapes and persons, and model error.

Model error is what models miss. g(x) = ln((x + ε)/(1 − x + ε)), ε = 0.2/n; σ² = V + v/(n (M + ε)²(1 − M +
ε)²) + (p₂ |g(s) − m|)² + p₃²/(n (M + ε)(1 − M + ε)) + (p₄ d)²: m and V the mean and the variance of g over
shapes, v the variance over persons, M the estimate, s the same share in the sample itself, d how far the
sample's own persons, left out one by one, lie from persons of the model. v has n/N c M (1 − M) beside it: a
population of N comes out by chance, c people of a class at once. The interval is g⁻¹(m ± z σ) and a little
on both sides. z is conformal: the quantile of |g(truth) − m|/σ over tables of people, each
corpus with the same weight, that brings 95 % of the truths of other corpora within the interval.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.people.curves import log_odds, share_of
from reid_sql.parameters import Floats

NEAR_THE_ENDS: Final = 0.2  # records; ε
LITTLE: Final = 0.0005  # share on both sides


@dataclass(frozen=True)
class Width:
    """Constants of one share's interval, chosen in benchmarks/accuracy/people.py on tables of people."""

    beyond_sample: float  # p₂
    binomial: float  # p₃
    z: float
    together: float = 1.0  # people of a class that has the share, c
    apart: float = 1.5  # p₄, chosen on kinds of tables of benchmarks/accuracy/kinds.py


UNIQUENESS: Final = Width(0.2, 1.0, 0.85)
CORRECTNESS: Final = Width(0.1, 0.5, 0.95)
BELOW: Final = Width(0.05, 1.0, 1.54, 2.5)


@dataclass(frozen=True)
class Share:
    """A share of people with the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Spread:
    """Where a share lies on the log-odds scale, and how far off it may be but for z."""

    estimate: float
    centre: float
    deviation: float
    near: float  # ε


def spread(
    values: Floats,
    weights: Floats,
    variance: float,
    sample: tuple[float, int],
    width: Width,
    *,
    apart: float = 0.0,
) -> Spread:
    """Locate a share given its values for each shape and the weights of the shapes.

    `variance` is over persons at one shape, `sample` the same share in the sample, and its records, `apart`
    how far persons of the sample lie from those of the model on the log-odds scale.
    """
    counted, records = sample
    near = NEAR_THE_ENDS / records
    estimate = float(weights @ values)
    logs = log_odds(values, near)
    centre = float(weights @ logs)
    room = (estimate + near) * (1 - estimate + near)
    parts = (
        float(weights @ (logs - centre) ** 2),
        variance / (records * room**2),
        (width.beyond_sample * (float(log_odds(np.array(counted), near)) - centre)) ** 2,
        width.binomial**2 / (records * room),
        (width.apart * apart) ** 2,
    )
    return Spread(estimate, centre, float(np.sqrt(sum(parts))), near)


def with_chance(variance: float, estimate: float, fraction: float, together: float) -> float:
    """Add to the variance over persons that of the population itself, of which a fraction was sampled.

    >>> with_chance(0.1, 0.5, 0.2, 2.0)
    0.2
    """
    return variance + fraction * together * estimate * (1 - estimate)


def share(found: Spread, z: float, most: float) -> Share:
    """Give the interval; its upper end is at most what is provable."""
    low = float(share_of(found.centre - z * found.deviation, found.near)) - LITTLE
    high = min(float(share_of(found.centre + z * found.deviation, found.near)) + LITTLE, most)
    estimate = min(found.estimate, most)
    return Share(estimate, max(min(low, estimate), 0.0), max(high, estimate))
