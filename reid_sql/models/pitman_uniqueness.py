"""Population uniqueness by Pitman's model: how many people of the population are alone in their class.

(θ, α) maximise the probability that Pitman's sampling formula gives to the classes of the sample, with 0 ≤ α < 1 and
θ > −α: a negative α would bound the number of classes, which no sample can know. The search is Newton's, damped.
Source: Hoshino 2001; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equation 12.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
from scipy.special import gammaln, psi, zeta

from reid_sql.domains import COUNT, Choice, Floats, plain
from reid_sql.errors import OutOfDomainError
from reid_sql.models.disclosure import OK, Histogram
from reid_sql.models.gamma_ratio import digamma_difference
from reid_sql.models.log_gamma import log_gamma_ratio
from reid_sql.models.rarefaction import counted_records

FORM: Final = Choice(("exact", "asymptotic"))
Form = Annotated[Literal["exact", "asymptotic"], FORM]

STEPS: Final = 100
TIGHT: Final = 1e-10  # a step of (α, ln(θ + α)) that no longer moves the answer
WIDEST: Final = 1 - 1e-9  # the largest α
DAMPED: Final = 1e-9
STUCK: Final = 1e12
ALL_UNIQUE: Final = (
    "all records are unique: the sample does not bound how many of the population are, and all are taken to be, the upper end"
)
ALL_ALIKE: Final = "all records are alike: the sample shows no sign of a unique person"
NOT_FOUND: Final = "not available: the search for Pitman's parameters did not converge"


@dataclass(frozen=True)
class PitmanFit:
    """Parameters of Pitman's sampling formula; NaN-free: both are None where there is no maximum, and the status says why."""

    theta: float | None
    alpha: float | None
    status: str


@dataclass(frozen=True)
class PitmanUniqueness:
    """Expected share of the population that is unique, None where there is no answer, and the status."""

    uniqueness: float | None
    status: str


def uniqueness(histogram: Histogram, population: float, form: Form = "exact") -> PitmanUniqueness:
    """Expected share Ξ of the population that is unique: Γ(θ+1) Γ(n+θ+α−1) / (Γ(θ+α) Γ(n+θ)), or Γ(θ+1)/Γ(θ+α) n^(α−1).

    `form` is 'exact' (the expectation at this n) or 'asymptotic' (equation 12, its limit for large n). Refuses a population
    smaller than the sample, an empty histogram and overlapping classes (NULL as a wildcard).

    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> found = uniqueness(sample, 3200)
    >>> round(found.uniqueness, 4), found.status
    (0.0138, 'ok')
    """
    records = counted_records(histogram)
    n = float(COUNT.check("population", population))
    if n < records:
        rule = f"population must be at least the {records} records of the sample, got {plain(n)}"
        raise OutOfDomainError(f"{rule}; pass the size of the population that the sample was drawn from")
    fitted = fit(histogram)
    if fitted.theta is None or fitted.alpha is None:
        limits = {ALL_UNIQUE: 1.0, ALL_ALIKE: float(n == 1)}
        return PitmanUniqueness(limits.get(fitted.status), fitted.status)
    return PitmanUniqueness(expected_uniqueness(fitted.theta, fitted.alpha, n, FORM.check("form", form)), fitted.status)


def expected_uniqueness(theta: float, alpha: float, population: float, form: str = "exact") -> float:
    """Expected share of unique people under known parameters, in log space."""
    opened = log_gamma_ratio(theta + alpha, 1 - alpha)
    thinned = log_gamma_ratio(population + theta + alpha - 1, 1 - alpha) if form == "exact" else (1 - alpha) * np.log(population)
    return min(1.0, float(np.exp(opened - thinned)))


def fit(histogram: Histogram) -> PitmanFit:
    """Fit (θ, α) by maximum likelihood to classes that do not overlap.

    >>> found = fit(Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8])))
    >>> round(found.theta, 3), round(found.alpha, 3)
    (5.946, 0.357)
    """
    likelihood = Likelihood(histogram.class_size.astype(np.float64), histogram.classes.astype(np.float64))
    if likelihood.classes == likelihood.records:
        return PitmanFit(None, None, ALL_UNIQUE)
    if likelihood.classes == 1:
        return PitmanFit(None, None, ALL_ALIKE)
    found = _climb(likelihood)
    return PitmanFit(*found, OK) if found else PitmanFit(None, None, NOT_FOUND)


class Likelihood:
    """Log-probability of the classes as a function of (α, τ), τ = ln(θ + α), with its first two derivatives.

    ln L = Σ_{l<K} ln(θ + l α) − ln[Γ(θ+n)/Γ(θ+1)] + Σ_m s_m ln[Γ(m−α)/Γ(1−α)].
    """

    def __init__(self, sizes: Floats, counts: Floats) -> None:
        """Take the distinct class sizes, and how many classes have each."""
        self.sizes, self.counts = sizes, counts
        self.records, self.classes = float(sizes @ counts), float(counts.sum())
        self.opened = np.arange(1.0, self.classes)  # l = 1 … K − 1

    def value(self, alpha: float, tau: float) -> float:
        """Log-likelihood up to a constant."""
        theta = np.exp(tau) - alpha
        within = self.counts @ (gammaln(self.sizes - alpha) - gammaln(1 - alpha))
        return float(np.log(theta + alpha * self.opened).sum() - log_gamma_ratio(theta + 1, self.records - 1) + within)

    def slope(self, alpha: float, tau: float) -> tuple[Floats, Floats]:
        """Gradient and Hessian in (α, τ)."""
        reach = np.exp(tau)
        theta, n = reach - alpha, self.records
        inverse = 1 / (theta + alpha * self.opened)
        shares = self.opened * inverse
        along_theta = inverse.sum() - digamma_difference(theta + 1, n - 1)
        along_alpha = shares.sum() - self.counts @ (psi(self.sizes - alpha) - psi(1 - alpha))
        bend = zeta(2.0, theta + 1) - zeta(2.0, theta + n) - inverse @ inverse
        cross = -(inverse @ shares)
        spread = -(shares @ shares) - self.counts @ (zeta(2.0, 1 - alpha) - zeta(2.0, self.sizes - alpha))
        # θ = e^τ − α, so that a change of α at a fixed τ takes θ along.
        gradient = np.array([along_alpha - along_theta, reach * along_theta])
        mixed = reach * (cross - bend)
        return gradient, np.array([[spread - 2 * cross + bend, mixed], [mixed, reach**2 * bend + reach * along_theta]])


def _climb(likelihood: Likelihood) -> tuple[float, float] | None:
    """Climb from a rough guess to the maximum by damped Newton steps; α stays at 0 while the slope points below it."""
    unique = float(likelihood.counts[likelihood.sizes == 1].sum())
    point = np.array([0.9 * unique / likelihood.classes, np.log(likelihood.classes)])
    value, damping = likelihood.value(*point), DAMPED
    for _ in range(STEPS):
        gradient, hessian = likelihood.slope(*point)
        step = _step(point, gradient, hessian, damping)
        moved = point + step
        higher = likelihood.value(*moved)
        if np.abs(step).max() < TIGHT:
            return float(np.exp(moved[1]) - moved[0]), float(moved[0])
        if higher >= value - abs(value) * 1e-15:
            point, value, damping = moved, higher, max(damping / 10, DAMPED)
        elif damping > STUCK:
            return None
        else:
            damping = damping * 100 if damping > DAMPED else 1e-3
    return None


def _step(point: Floats, gradient: Floats, hessian: Floats, damping: float) -> Floats:
    """Newton's step with its own scale added where the likelihood bends the wrong way, kept within 0 ≤ α < 1."""
    held = point[0] <= 0 and gradient[0] <= 0
    scale = np.abs(np.diag(hessian)) + 1e-12
    bent = -hessian + damping * np.diag(scale)
    if held or np.linalg.eigvalsh(bent)[0] <= 0:
        bent = np.diag((1 + damping) * scale)
    step = np.linalg.solve(bent, gradient)
    if held:
        step[0] = 0.0
    step[1] = np.clip(step[1], -2.0, 2.0)
    step[0] = np.clip(point[0] + step[0], 0.0, (point[0] + WIDEST) / 2 if point[0] < WIDEST - 1e-9 else WIDEST) - point[0]
    return np.asarray(step)
