"""Forecast correctness, uniqueness and k-anonymity violations from a sample to populations that contain it.

The sample's own classes remain: given its histogram, the n − n_s people still to come join its classes or
open new ones by the Pitman–Yor urn (Pitman 1995), so the forecast at the sample's own size is what was
counted. The interval joins the posterior of (entropy, tail) with the urn's own chance, and with how far the
model misses the sample's own curve.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK, Histogram, weigh_classes
from reid_sql.models.classes.uniqueness import check_population
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.special_functions import (
    gammaln,
    log_gamma_ratio,
    log_rising_ratio,
    ndtr,
)
from reid_sql.models.pyc.pitman_yor import (
    MIN_FITTED_PRODUCT,
    Prior,
    describe_misfit,
    fit_pitman_yor,
    measure_misfit,
    parameters,
    widen_interval,
)
from reid_sql.parameters import Floats

DRAWS: Final = 200
INTERVAL_ENDS: Final = (0.025, 0.975)
ROUNDING_MARGIN: Final = 1e3  # a difference must be so many times what rounding loses
STATUS_COVERAGE: Final = (
    "outside_interval: true uniqueness was below its interval in 26 of 120 samples, above in 10"
)
# smaller discounts count as this one, which changes answers by less than 1e-7
MIN_DISCOUNT: Final = 1e-9


@dataclass(frozen=True)
class PycForecast:
    """What to expect in a population, each with the ends of a 95 % interval."""

    population: float
    correctness: float
    correctness_low: float
    correctness_high: float
    uniqueness: float
    uniqueness_low: float
    uniqueness_high: float
    k_violation: float
    k_violation_low: float
    k_violation_high: float
    status: str


@dataclass(frozen=True)
class Urn:
    """The Pitman–Yor urn after the sample, one state a parameter point: discounts, concentrations, sample."""

    discount: Floats  # (points,)
    concentration: Floats  # (points,)
    records: float
    classes: float

    @property
    def mass(self) -> Floats:
        """α + K d: the weight of classes not yet seen."""
        return self.concentration + self.classes * self.discount

    @property
    def weight(self) -> Floats:
        """α + n_s: the weight of all that the next person can join or open."""
        return self.concentration + self.records

    def growth(self, more: float, power: float = 1) -> Floats:
        """Ln [(α + n_s + power·d)_m / (α + n_s)_m], m people more."""
        shift = power * self.discount
        start = np.maximum(self.weight + np.minimum(shift, 0.0), 1.0)
        return np.asarray(np.sign(shift) * log_rising_ratio(start, more, np.abs(shift)))


def forecast_pitman_yor(
    histogram: Histogram, populations: npt.ArrayLike, k: int = 5, prior: Prior = "archer"
) -> list[PycForecast]:
    """Forecast to each population; `k_violation` is the share of records in classes smaller than k.

    Refuses a population smaller than the sample.

    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> rows = forecast_pitman_yor(sample, [32, 3200])
    >>> rows[0].correctness == 15 / 32, rows[1].correctness < rows[0].correctness
    (True, True)
    """
    histogram = weigh_classes(histogram)
    classes = float(histogram.classes.sum())
    fit, posterior = fit_pitman_yor(histogram, prior)
    sizes = [check_population(population, fit.records) for population in np.atleast_1d(populations)]
    # Systematic resampling: equally weighted draws, without chance
    draws = np.searchsorted(np.cumsum(posterior.weight), (np.arange(DRAWS) + 0.5) / DRAWS).clip(
        max=len(posterior.weight) - 1
    )
    entropy = np.r_[fit.entropy, posterior.entropy[draws]]
    tail = np.r_[fit.tail, posterior.tail[draws]]
    d, alpha = parameters(entropy, np.maximum(tail, MIN_FITTED_PRODUCT / entropy))
    d = np.where(np.abs(d) < MIN_DISCOUNT, MIN_DISCOUNT, d)
    possible = np.r_[True, (alpha + classes * d)[1:] > 0]
    urn = Urn(d[possible], np.maximum(alpha, -d * classes)[possible], fit.records, classes)
    gap = measure_misfit(histogram, fit)
    notes = [part for part in (fit.status,) if part != OK] + describe_misfit(gap)
    rows = [_forecast_population(histogram, urn, size, k, gap) for size in sizes]
    beyond = [[STATUS_COVERAGE] * (row.population > fit.records) for row in rows]
    return [
        replace(row, status="; ".join(notes + more) or OK)
        for row, more in zip(rows, beyond, strict=True)
    ]


def _forecast_population(
    histogram: Histogram, urn: Urn, population: float, k: int, gap: float
) -> PycForecast:
    checkpoint()
    classes, spread = _expect_classes(urn, population)
    relative = spread / np.maximum(classes - urn.classes, 1e-300)
    unique, new_unique = _expect_records_of_size(histogram, urn, population, 1)
    small, new_small = unique.copy(), new_unique.copy()
    for size in range(2, k):
        expected, new = _expect_records_of_size(histogram, urn, population, size)
        small, new_small = small + expected, new_small + new
    if k == 1:
        small, new_small = np.zeros_like(small), np.zeros_like(small)
    correctness = _combine_moments(classes, spread**2, population)
    uniqueness = _combine_moments(unique, unique + (new_unique * relative) ** 2, population)
    violation = _combine_moments(small, k * small + (new_small * relative) ** 2, population)
    if population == urn.records:
        correctness, uniqueness, violation = (
            (value[0],) * 3 for value in (correctness, uniqueness, violation)
        )
    growth = population / urn.records
    kappa, xi, below_k = (
        widen_interval(answer, gap, growth) for answer in (correctness, uniqueness, violation)
    )
    return PycForecast(population, *kappa, *xi, *below_k, OK)


def _expect_classes(urn: Urn, population: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the number of classes, by two rising moments of α/d + K.

    The first two are known.
    """
    more, state = population - urn.records, urn.mass / urn.discount
    first, second = urn.growth(more), urn.growth(more, 2)
    new = np.clip(state * np.expm1(first), 0.0, more)
    variance = state**2 * (np.exp(second) - np.exp(2 * first)) + state * (
        np.exp(second) - np.exp(first)
    )
    # Where the moments cancel, people open and join nearly independently: whichever is rarer bounds the
    # variance.
    lost = np.finfo(float).eps * (state**2 * np.exp(2 * first)) * ROUNDING_MARGIN
    is_exact = (urn.weight + 2 * urn.discount > 1) & (variance > lost)
    spread = np.sqrt(np.where(is_exact, variance, np.minimum(new, more - new)))
    return urn.classes + new, spread


def _expect_records_of_size(
    histogram: Histogram, urn: Urn, population: float, size: int
) -> tuple[Floats, Floats]:
    """Expected records in classes of this size, altogether and in classes new to the sample."""
    new = size * _expect_new_classes(urn, population, size)
    grown = np.zeros_like(new)
    for sampled_size, count in zip(histogram.class_size, histogram.classes, strict=True):
        if sampled_size <= size:
            grown += size * count * _expect_grown_classes(urn, population, int(sampled_size), size)
    return grown + new, new


def _expect_new_classes(urn: Urn, population: float, size: int) -> Floats:
    """Expected new classes of this size among those drawn next.

    C(m, j) (α + K d) (1 − d)_{j−1} (α + n_s + d)_{m−j} / (α + n_s)_m.
    """
    more, d = population - urn.records, urn.discount
    if more < size:
        return np.zeros_like(d)
    rising = log_gamma_ratio(1 - d, size - 1.0) - log_gamma_ratio(
        urn.weight + (more - size), float(size)
    )
    return urn.mass * np.exp(_log_choose(more, size) + rising + urn.growth(more - size))


def _expect_grown_classes(urn: Urn, population: float, sampled_size: int, size: int) -> Floats:
    """Chance that a class of the sample grows to this size: beta-binomial, sampled_size − d against the rest.

    The rest is that of the urn.
    """
    more, joined = population - urn.records, size - sampled_size
    if more < joined:
        return np.zeros_like(urn.discount)
    mine, elsewhere = sampled_size - urn.discount, more - joined
    rising = log_gamma_ratio(mine, float(joined)) - log_gamma_ratio(
        urn.weight + elsewhere, float(joined)
    )
    # One class alone has no rest: then all who come join it, and none of them something else.
    rest = np.maximum(urn.weight - mine, 1e-6)
    return np.exp(_log_choose(more, joined) + rising - log_rising_ratio(rest, elsewhere, mine))


def _log_choose(count: float, chosen: int) -> float:
    """Ln C(count, chosen)."""
    return float(log_gamma_ratio(count - chosen + 1, float(chosen)) - gammaln(chosen + 1))


def _combine_moments(
    mean: Floats, variance: Floats, population: float
) -> tuple[float, float, float]:
    """Mode's value, and the ends of the 95 % interval of the mixture over the posterior's draws.

    The mixture is one of normals.
    """
    centre, spread = mean[1:] / population, np.sqrt(variance[1:]) / population + 1e-300
    low, high = np.array([-1.0, -1.0]), np.array([2.0, 2.0])
    for _ in range(60):
        middle = (low + high) / 2
        below = ndtr((middle[:, None] - centre) / spread).mean(axis=1) < INTERVAL_ENDS
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    point = min(float(mean[0] / population), 1.0)
    ends = np.clip((low + high) / 2, 0.0, 1.0)
    return point, min(point, float(ends[0])), max(point, float(ends[1]))
