"""Population uniqueness by Pitman's sampling formula: an estimate with a 95 % interval.

Source: Hoshino 2001; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equation 12.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, sqrt
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.classes.uniqueness import check_population, count_records
from reid_sql.models.numerics.quadrature import class_quadrature
from reid_sql.models.numerics.quantiles import NORMAL_95, ROUNDING_TOLERANCE
from reid_sql.models.numerics.special_functions import (
    as_floats,
    gammaln,
    log_gamma_ratio,
    psi,
    zeta,
)
from reid_sql.models.population.classical_estimators import (
    NO_INTERVAL,
    STATUS_ALL_UNIQUE,
    Estimate,
    count_sample,
)
from reid_sql.parameters import Choice, Floats

# Population uniqueness by Pitman's model: how many people of the population are alone in their class.
# (θ, α) maximise the probability that Pitman's sampling formula gives to the classes of the sample, with
# 0 ≤ α < 1 and θ > −α: a negative α would bound the number of classes, which no sample can know. The search
# is Newton's, damped. Source: Hoshino 2001; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1,
# equation 12.

FORM: Final = Choice(("exact", "asymptotic"))
Form = Annotated[Literal["exact", "asymptotic"], FORM]

MAX_STEPS: Final = 100
MIN_STEP: Final = 1e-10  # a step of (α, σ) that no longer moves the answer
MIN_GAIN: Final = 1e-11  # nor one that would raise the log-likelihood by less than this
MAX_ALPHA: Final = 1 - 1e-9  # the largest α
MIN_DAMPING: Final = 1e-9
MAX_DAMPING: Final = 1e12
MAX_SIGMA: Final = 200.0
MAX_SINGLE_TERMS: Final = 256  # terms of a sum that are added one by one
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
STATUS_ALL_ALIKE: Final = "all_equal: all records are equal, so the sample shows no unique person"
STATUS_NOT_CONVERGED: Final = (
    "not_converged: the search for Pitman's parameters did not converge, so there is no estimate"
)


@dataclass(frozen=True)
class PitmanFit:
    """Parameters of Pitman's sampling formula; both None without a maximum, and the status says why.

    NaN is never among them.
    """

    theta: float | None
    alpha: float | None
    status: str


@dataclass(frozen=True)
class PitmanUniqueness:
    """Expected share of the population that is unique, None where there is no answer, and the status."""

    uniqueness: float | None
    status: str


def pitman_uniqueness(
    histogram: Histogram, population: float, form: Form = "exact"
) -> PitmanUniqueness:
    """Expected share Ξ unique in the population: Γ(θ+1) Γ(n+θ+α−1) / (Γ(θ+α) Γ(n+θ)), or its limit.

    The limit is Γ(θ+1)/Γ(θ+α) n^(α−1). `form` is 'exact' (the expectation at this n) or 'asymptotic'
    (equation 12, its limit for large n). Refuses a population smaller than the sample, an empty histogram and
    overlapping classes (NULL as a wildcard).

    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> answer = pitman_uniqueness(sample, 3200)
    >>> round(answer.uniqueness, 4), answer.status
    (0.0032, 'ok')
    """
    n = check_population(population, count_records(histogram))
    return evaluate_uniqueness(fit_pitman(histogram), n, form)


def evaluate_uniqueness(
    fitted: PitmanFit, population: float, form: Form = "exact"
) -> PitmanUniqueness:
    """Expected share of the population that is unique, by fitted parameters; the limits without them."""
    if fitted.theta is None or fitted.alpha is None:
        limits = {STATUS_ALL_UNIQUE: 1.0, STATUS_ALL_ALIKE: float(population == 1)}
        return PitmanUniqueness(limits.get(fitted.status), fitted.status)
    share = expected_uniqueness(fitted.theta, fitted.alpha, population, FORM.check("form", form))
    return PitmanUniqueness(share, fitted.status)


def expected_uniqueness(
    theta: float, alpha: float, population: float, form: str = "exact"
) -> float:
    """Expected share of unique people under known parameters, in log space."""
    opened = log_gamma_ratio(theta + alpha, 1 - alpha)
    thinned = (
        log_gamma_ratio(population + theta + alpha - 1, 1 - alpha)
        if form == "exact"
        else (1 - alpha) * np.log(population)
    )
    return float(np.exp(min(0.0, float(opened - thinned))))


def fit_pitman(histogram: Histogram) -> PitmanFit:
    """Fit (θ, α) by maximum likelihood to classes that do not overlap, with α from 0 on.

    >>> answer = fit_pitman(Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8])))
    >>> round(answer.theta, 3), round(answer.alpha, 3)
    (10.399, 0.0)
    """
    likelihood = Likelihood(histogram)
    if likelihood.classes == likelihood.records:
        return PitmanFit(None, None, STATUS_ALL_UNIQUE)
    if likelihood.classes == 1:
        return PitmanFit(None, None, STATUS_ALL_ALIKE)
    maximum = _maximize(likelihood)
    return PitmanFit(*maximum, OK) if maximum else PitmanFit(None, None, STATUS_NOT_CONVERGED)


class Likelihood:
    """Log-probability of the classes as a function of (α, σ), with its first two derivatives.

    σ = ln((θ + α)/(1 − α)): nearly unique classes fix their number of pairs, and thereby σ, but hardly α.
    ln L = Σ_{l<K} ln(θ + l α) − Σ_{l<n} ln(θ + l) + Σ_m s_m ln[Γ(m−α)/Γ(1−α)].
    """

    def __init__(self, histogram: Histogram) -> None:
        """Take the distinct class sizes, and how many classes have each."""
        sizes, counts = as_floats(histogram.class_size, histogram.classes)
        self.sizes, self.counts = class_quadrature(sizes, counts)
        self.records, self.classes = float(sizes @ counts), float(counts.sum())
        self.opened, self.opened_weight = sum_nodes(round(self.classes))
        self.drawn, self.drawn_weight = sum_nodes(round(self.records))

    def value(self, alpha: float, sigma: float) -> float:
        """Log-likelihood up to a constant."""
        # θ + α, taken out of every logarithm: what is left does not drown where θ is huge
        reach = (1 - alpha) * np.exp(sigma)
        within = self.counts @ (gammaln(self.sizes - alpha) - gammaln(1 - alpha))
        opened = self.opened_weight @ np.log1p(alpha * (self.opened - 1) / reach)
        drawn = self.drawn_weight @ np.log1p((self.drawn - alpha) / reach)
        return float((self.classes - self.records) * np.log(reach) + opened - drawn + within)

    def slope(self, alpha: float, sigma: float) -> tuple[Floats, Floats]:
        """Gradient and Hessian in (α, σ)."""
        reach = (1 - alpha) * np.exp(sigma)
        theta = reach - alpha
        opened, drawn = 1 / (theta + alpha * self.opened), 1 / (theta + self.drawn)
        weighted, shares = self.opened_weight * opened, self.opened * opened
        along_theta = weighted.sum() - self.drawn_weight @ drawn
        along_alpha = weighted @ self.opened - self.counts @ (
            psi(self.sizes - alpha) - psi(1 - alpha)
        )
        bend = self.drawn_weight @ drawn**2 - weighted @ opened
        cross = -(weighted @ shares)
        within = self.counts @ (zeta(2.0, 1 - alpha) - zeta(2.0, self.sizes - alpha))
        spread = -((self.opened_weight * shares) @ shares) - within
        # θ = (1 − α) e^σ − α, so that a change of α at a fixed σ takes θ along, by −(1 + e^σ) = −tow.
        tow = 1 + np.exp(sigma)
        gradient = np.array([along_alpha - tow * along_theta, reach * along_theta])
        mixed = reach * (cross - tow * bend) - np.exp(sigma) * along_theta
        both = spread - 2 * tow * cross + tow**2 * bend
        return gradient, np.array([[both, mixed], [mixed, reach**2 * bend + reach * along_theta]])


@lru_cache(maxsize=4096)
def sum_nodes(end: int) -> tuple[Floats, Floats]:
    """Points and weights for l = 1 … end − 1 in a sum of a smooth function of ln(c + l), to 1e-12 of it.

    c is at least −1. The first terms one by one, the others as an integral over pieces that double (Euler and
    Maclaurin), its ends corrected.

    >>> points, weights = sum_nodes(10**6)
    >>> round(float(weights @ (1 / points)), 9)  # the harmonic number of 999,999
    14.392725723
    """
    first = np.arange(1.0, min(end, MAX_SINGLE_TERMS))
    if end <= MAX_SINGLE_TERMS:
        return first, np.ones_like(first)
    pieces = max(1, int(np.ceil(np.log2(end / MAX_SINGLE_TERMS))))
    bounds = np.geomspace(MAX_SINGLE_TERMS - 0.5, end - 0.5, pieces + 1)
    middle, half = (bounds[1:] + bounds[:-1]) / 2, np.diff(bounds) / 2
    points = (middle[:, None] + half[:, None] * NODES).ravel()
    weights = (half[:, None] * WEIGHTS).ravel()
    # f′ at both ends, as a difference over 24
    ends = np.array([MAX_SINGLE_TERMS - 1.0, MAX_SINGLE_TERMS, end - 1.0, end])
    corrections = np.array([-1.0, 1.0, 1.0, -1.0]) / 24
    return np.r_[first, points, ends], np.r_[np.ones_like(first), weights, corrections]


def _maximize(likelihood: Likelihood) -> tuple[float, float] | None:
    """Climb to the maximum by damped Newton steps; α stays at 0 while the slope points below.

    The climb starts at a rough guess.
    """
    unique = float(likelihood.counts[likelihood.sizes == 1].sum())
    point = np.array([0.9 * unique / likelihood.classes, np.log(likelihood.classes)])
    value, damping = likelihood.value(*point), MIN_DAMPING
    for _ in range(MAX_STEPS):
        gradient, hessian = likelihood.slope(*point)
        step = _newton_step(point, gradient, hessian, damping)
        moved = point + step
        if moved[1] > MAX_SIGMA:
            return None  # the classes are so equal in size that the likelihood rises without end
        higher = likelihood.value(*moved)
        if np.abs(step).max() < MIN_STEP or abs(gradient @ step) < MIN_GAIN:
            return float((1 - moved[0]) * np.exp(moved[1]) - moved[0]), float(moved[0])
        if higher >= value - abs(value) * 1e-15:
            point, value, damping = moved, higher, max(damping / 10, MIN_DAMPING)
        elif damping > MAX_DAMPING:
            return None
        else:
            damping = damping * 100 if damping > MIN_DAMPING else 1e-3
    return None


def _newton_step(point: Floats, gradient: Floats, hessian: Floats, damping: float) -> Floats:
    """Newton's step, within 0 ≤ α < 1; its scale is added where the likelihood bends wrongly."""
    at_bound = point[0] <= 0 and gradient[0] <= 0
    scale = np.abs(np.diag(hessian)) + 1e-12
    bent = -hessian + damping * np.diag(scale)
    if at_bound or np.linalg.eigvalsh(bent)[0] <= 0:
        bent = np.diag((1 + damping) * scale)
    step = np.linalg.solve(bent, gradient)
    if at_bound:
        step[0] = 0.0
    step[1] = np.clip(step[1], -2.0, 2.0)
    step[0] = (
        np.clip(
            point[0] + step[0],
            0.0,
            (point[0] + MAX_ALPHA) / 2 if point[0] < MAX_ALPHA - 1e-9 else MAX_ALPHA,
        )
        - point[0]
    )
    return np.asarray(step)


# Population uniqueness by Pitman's model: an estimate with a 95 % interval from its likelihood.
# The interval is made of what the likelihood leaves open. Near its maximum the likelihood of (α, σ) is a
# normal density; ln Ξ moves with it (delta method), and the number of unique people varies by chance as a
# Poisson count. An α at its bound 0 can rise as far as the likelihood's slope allows.

STATUS_NO_CURVATURE: Final = (
    f"{NO_INTERVAL}the likelihood of Pitman's parameters has no curvature at its maximum"
)
STATUS_COVERAGE: Final = (
    "outside_interval: the true value was below the interval in 67 of 120 samples, above in 5"
)
STATUS_BEYOND_BOUND: Final = (
    "above_bound: Pitman's model expects more unique people than the bound, so there is no estimate"
)
DIFFERENCE_STEP: Final = 1e-4


def estimate_pitman(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ with its interval; both, and the refusals, as of `pitman_uniqueness`.

    None where it is above the share of the sample that is unique, which bounds Ξ: the status reports it.

    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([90, 30, 10, 5]), np.array([90, 60, 40, 40]))
    >>> answer = estimate_pitman(sample, 3200)
    >>> round(answer.low, 4), round(answer.uniqueness, 4), round(answer.high, 4)
    (0.0365, 0.0825, 0.1866)
    """
    sample = count_sample(histogram, population)
    fitted = fit_pitman(histogram)
    estimate = evaluate_uniqueness(fitted, sample.population)
    if estimate.uniqueness is not None and estimate.uniqueness > sample.uniqueness * (
        1 + ROUNDING_TOLERANCE
    ):
        return Estimate(None, None, None, STATUS_BEYOND_BOUND)
    if estimate.uniqueness is None or fitted.theta is None or fitted.alpha is None:
        return Estimate(estimate.uniqueness, None, estimate.uniqueness, estimate.status)
    sigma = float(np.log((fitted.theta + fitted.alpha) / (1 - fitted.alpha)))
    # The covariance of (α, σ) is the inverse curvature of the log-likelihood there.
    gradient, hessian = Likelihood(histogram).slope(fitted.alpha, sigma)
    bend = -hessian
    # At the bound, a density that falls with this slope from there on is as wide as its inverse.
    if fitted.alpha == 0:
        bend[0, 0] += gradient[0] ** 2
    if np.linalg.eigvalsh(bend)[0] <= 0:
        return Estimate(estimate.uniqueness, None, None, STATUS_NO_CURVATURE)
    covariance = np.linalg.inv(bend)
    slope = _log_slope(fitted.alpha, sigma, sample.population)
    chance = 1 / max(estimate.uniqueness * population, 1.0)
    factor = exp(min(NORMAL_95 * sqrt(slope @ covariance @ slope + chance), 700.0))
    return Estimate(
        estimate.uniqueness,
        estimate.uniqueness / factor,
        min(1.0, estimate.uniqueness * factor),
        STATUS_COVERAGE,
    )


def _log_slope(alpha: float, sigma: float, population: float) -> Floats:
    """How ln Ξ changes with α and with σ."""

    def log(alpha: float, sigma: float) -> float:
        theta = (1 - alpha) * exp(sigma) - alpha
        return float(
            np.log(max(expected_uniqueness(theta, alpha, population), np.finfo(float).tiny))
        )

    low, high = alpha - DIFFERENCE_STEP, min(alpha + DIFFERENCE_STEP, 1 - DIFFERENCE_STEP**2)
    along_alpha = (log(high, sigma) - log(low, sigma)) / (high - low)
    along_sigma = (log(alpha, sigma + DIFFERENCE_STEP) - log(alpha, sigma - DIFFERENCE_STEP)) / (
        2 * DIFFERENCE_STEP
    )
    return np.array([along_alpha, along_sigma])
