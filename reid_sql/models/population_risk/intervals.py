"""The 95 % interval of one share, on the log-odds scale g(x) = ln((x + ε)/(1 − x + ε)), ε = 0.2/n.

    σ² = V + v/(n (M + ε)² (1 − M + ε)²) + (p (g(s) − m))² + 1/(n (M + ε)(1 − M + ε)) + (d/(1 + |d|/c))²

m and V are mean and variance of g over the shapes of the residual, v the variance over persons (delta
method) and over populations, M the estimate, s the share in the sample, d the distance from the model's
records to the sample's. The interval is g⁻¹(m ± z σ) ± 0.0005, at most the provable upper bound, with a z for
each end.

The constants p, c, z and the factor of half-widths are chosen in benchmarks/accuracy/people.py, on tables of
people and generators of tables, so that intervals contain the truth of tables that they were not chosen on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.parameters import Floats

MARGIN_RECORDS: Final = 0.2  # ε n, by which shares stay off 0 and 1 on the log-odds scale
PADDING: Final = 0.0005  # share added at both ends of an interval
BEYOND_SAMPLE: Final = 0.03  # p, of the way from the share in the sample to the estimate
MAX_DISTANCE: Final = 1.5  # c, log-odds that a distance d approaches: greater ones tell no more
MAX_ABOVE_MAIN_EFFECTS: Final = 0.02  # of Ξ, around which a table becomes unlike tables of people
OVERDISPERSION_STEP: Final = 0.25  # nats, from which on an overdispersed table has the whole factor
# of both its half-widths, of the upper one of a table unlike tables of people, and of the lower one of a
# sample with weights: its own records do not correct the estimate, 1.7 points too high on tables for choosing
STRETCH: Final = 1.5


@dataclass(frozen=True)
class IntervalWidth:
    """Standard deviations to the ends of one share's interval."""

    z_low: float
    z_high: float


WIDTHS: Final[Mapping[str, IntervalWidth]] = {
    "uniqueness": IntervalWidth(2.2, 2.1),
    "correctness": IntervalWidth(1.5, 1.8),
    "below_k": IntervalWidth(1.3, 2.4),
}


@dataclass(frozen=True)
class Share:
    """A share of people with the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class SharesByShape:
    """One share for each shape, and its uncertainty."""

    values: Floats  # (shapes,)
    variance: float  # over persons of the model at the mean of ln a
    distance: float = 0.0  # log-odds from the model's records to the sample's


@dataclass(frozen=True)
class SampleShare:
    """How many records of a sample have a share, of how many, from how many people."""

    counted: float
    records: int
    people: float
    effective_records: float | None = None  # without weights that show as much; None: all


@dataclass(frozen=True)
class Comparison:
    """How a table compares with tables of people."""

    # the shares by them; None where they predict nothing
    main_effects: Mapping[str, float] | None = None
    above_main_effects: float = 0.0  # Ξ of the model less that of main effects
    overdispersion: float = 0.0  # nats beyond nearly all tables of people; at most 0 in those


NO_COMPARISON: Final = Comparison()


def estimate_interval(
    name: str,
    by_shape: SharesByShape,
    weights: Floats,
    sample: SampleShare,
    width: IntervalWidth,
    *,
    comparison: Comparison = NO_COMPARISON,
    has_upper_bound: bool = True,
) -> Share:
    """Interval of the share of this name, from its values by shape and the weights of the shapes.

    Where the model is above main effects, as in hardly any table of people, the lower end goes all the way to
    them, and the upper half-width is greater.
    """
    spread = measure_spread(by_shape, weights, sample)
    # From 0 at half the limit to 1 at one and a half, so that intervals do not jump as populations grow.
    unlike = _clip(comparison.above_main_effects / MAX_ABOVE_MAIN_EFFECTS - 0.5)
    to_main_effects = 0.0
    if comparison.main_effects is not None:
        target = float(log_odds(np.array(comparison.main_effects[name]), spread.margin))
        to_main_effects = min(target - spread.centre, 0.0) * unlike
    both = 1 + (STRETCH - 1) * _clip(comparison.overdispersion / OVERDISPERSION_STEP)
    upper = both * (1 + (STRETCH - 1) * unlike)
    lower = both * (STRETCH if sample.effective_records else 1)
    low = spread.centre + to_main_effects - width.z_low * lower * spread.deviation
    high = spread.centre + width.z_high * upper * spread.deviation
    highest = clopper_pearson_upper(sample.counted, sample.records) if has_upper_bound else 1.0
    return padded_interval(spread.estimate, (low, high), spread.margin, highest)


def padded_interval(
    estimate: float, log_ends: tuple[float, float], margin: float, highest: float
) -> Share:
    """An interval around an estimate from ends on the log-odds scale, at most `highest`."""
    low, high = (float(share_of(end, margin)) for end in log_ends)
    estimate = min(estimate, highest)
    return Share(
        estimate,
        max(min(low - PADDING, estimate), 0.0),
        max(min(high + PADDING, highest), estimate),
    )


def _clip(part: float) -> float:
    return min(max(part, 0.0), 1.0)


def log_odds(values: Floats, margin: float) -> Floats:
    """g(x) = ln((x + ε)/(1 − x + ε)).

    >>> float(log_odds(np.array(0.5), 0.1))
    0.0
    """
    return np.asarray(np.log((values + margin) / (1 - values + margin)))


def share_of(log: Floats | float, margin: float) -> Floats:
    """Inverse of log_odds.

    >>> round(float(share_of(log_odds(np.array(0.3), 0.1), 0.1)), 6)
    0.3
    """
    p = 1 / (1 + np.exp(-np.asarray(log)))
    return np.asarray(np.clip(p * (1 + 2 * margin) - margin, 0, 1))


@dataclass(frozen=True)
class Spread:
    """The estimate M, and centre m and deviation σ on the log-odds scale, before the factor z."""

    estimate: float
    centre: float
    deviation: float
    margin: float  # ε


def measure_spread(by_shape: SharesByShape, weights: Floats, sample: SampleShare) -> Spread:
    """Spread of a share, by the formula of the module."""
    margin = MARGIN_RECORDS / sample.records
    estimate = float(weights @ by_shape.values)
    logs = log_odds(by_shape.values, margin)
    centre = float(weights @ logs)
    slope = (estimate + margin) * (1 - estimate + margin)  # of the inverse of g
    fraction = sample.records / sample.people
    variance = add_population_variance(by_shape.variance, estimate, fraction)
    in_sample = float(log_odds(np.array(sample.counted / sample.records), margin))
    distance = abs(by_shape.distance)
    n = sample.effective_records or sample.records
    parts = (
        float(weights @ (logs - centre) ** 2),
        variance / (n * slope**2),
        (BEYOND_SAMPLE * (in_sample - centre)) ** 2,
        1 / (n * slope),
        (distance / (1 + distance / MAX_DISTANCE)) ** 2,
    )
    return Spread(estimate, centre, float(np.sqrt(sum(parts))), margin)


def add_population_variance(variance: float, estimate: float, fraction: float) -> float:
    """Add that a population of N is itself random: n/N M (1 − M).

    >>> add_population_variance(0.1, 0.5, 0.4)
    0.2
    """
    return variance + fraction * estimate * (1 - estimate)
