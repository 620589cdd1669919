"""The Pitman–Yor process fitted to class sizes, and how far the sample's own curves miss the fit."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import OK, Histogram, weigh_classes
from reid_sql.models.classes.uniqueness import correctness_curve, count_records
from reid_sql.models.numerics import scipy_functions
from reid_sql.models.numerics.gamma_functions import log_gamma_ratio
from reid_sql.models.numerics.quadrature import class_quadrature
from reid_sql.models.numerics.quantiles import quantiles_by_weight
from reid_sql.models.numerics.scipy_functions import expit, logit
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor import parameters
from reid_sql.parameters import Choice, Floats

# Entropy and tail complexity of anonymity sets from the class-size histogram alone, with their posterior.
# Source: Rocher, Hendrickx & de Montjoye 2025 (MAP fit); prior of Archer, Park & Pillow 2014, flat in the
# entropy h and q(γ) ∝ exp(−10/(1 − γ)) for tail complexities γ in [0, 1). The paper says only "in line
# with" that work. A flat prior in both, γ from −1 (where the sets are nearly equal in size; further down
# changes little but takes all the weight), is the option `flat`.

PRIOR: Final = Choice(("archer", "flat"))
Prior = Annotated[Literal["archer", "flat"], PRIOR]

ENTROPY_RANGE: Final = (1e-3, 60.0)
TAIL_RANGES: Final = {"archer": (0.0, 1 - 1e-6), "flat": (-1.0, 1 - 1e-6)}
MIN_UNIFORM_PRODUCT: Final = -27.0  # beyond h·γ of this the sets are equal in size to a part in 10¹¹
LATTICE_SIDE: Final = 25  # lattice points a side
LATTICE_SIGMAS: Final = 5.0  # standard deviations that the lattice spans to each side
MAX_ROUNDS: Final = 9


@dataclass(frozen=True)
class Posterior:
    """Posterior of (entropy, tail) as weighted points, its mode; a status where data do not bound it."""

    entropy: Floats  # (points,)
    tail: Floats  # (points,)
    weight: Floats  # (points,), summing to 1
    mode: tuple[float, float]
    status: str


@dataclass(frozen=True)
class PycFit:
    """Entropy (nats) and tail complexity of the anonymity sets, with 95 % credible intervals."""

    entropy: float
    entropy_low: float
    entropy_high: float
    tail: float
    tail_low: float
    tail_high: float
    discount: float
    concentration: float
    records: int
    classes: int
    status: str


def log_likelihood(histogram: Histogram, entropy: npt.ArrayLike, tail: npt.ArrayLike) -> Floats:
    """Log-probability of the partition into classes of these sizes, up to a constant; arguments broadcast."""
    checkpoint()
    # Seat n people one after the other (Pitman 1995): the next opens class l + 1 with chance (α + l d)/(α +
    # i) and joins a class of size m with (m − d)/(α + i), i people seated. The product over all is
    # Π_{l<K} (α + l d) · Π_classes (1 − d)(2 − d) … (m − 1 − d) / ((α + 1) … (α + n − 1)), whose logarithm is
    # Σ_m s_m ln[Γ(m−d)/Γ(1−d)] + Σ_{l<K} ln(α + l d) − ln[Γ(α+n)/Γ(α+1)].
    h, gamma = np.broadcast_arrays(np.asarray(entropy, dtype=np.float64), np.asarray(tail, dtype=np.float64))
    d, alpha = parameters(h, np.maximum(gamma, MIN_UNIFORM_PRODUCT / h))
    sizes, counts = histogram.class_size.astype(np.float64), histogram.classes.astype(np.float64)
    records, classes = float(sizes @ counts), float(counts.sum())
    nodes, weights = class_quadrature(sizes[sizes > 1], counts[sizes > 1])
    within = log_gamma_ratio((1 - d)[..., None], nodes - 1) @ weights  # (points,)
    return within + _log_openings(d, alpha, classes) - log_gamma_ratio(alpha + 1, records - 1)


def _log_openings(d: Floats, alpha: Floats, classes: float) -> Floats:
    """Σ_{l=1}^{K−1} ln(α + l d), −∞ where fewer classes than K can be."""
    # = (K − 1) ln |d| + ln of a rising factorial from α/d + 1, or for d < 0 of one that ends at α/|d| − 1;
    # near d = 0 the terms are ln α + l d/α to first order.
    count = classes - 1
    step = d / alpha
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rising = count * np.log(np.abs(d)) + log_gamma_ratio(1 / step + 1, count)  # d > 0
        falling = count * np.log(np.abs(d)) + log_gamma_ratio(
            -1 / step - count, count
        )  # d < 0: |d| (α/|d| − l)
        nearly_flat = count * np.log(alpha) + step * count * (count + 1) / 2
    exact = np.where(d > 0, rising, falling)
    openings = np.where(np.abs(step) * classes**2 < 1e-6, nearly_flat, exact)  # noqa: PLR2004 - next: 1e-12
    return np.where(alpha + count * d > 0, openings, -np.inf)


def fit_pitman_yor(histogram: Histogram, prior: Prior = "archer") -> tuple[PycFit, Posterior]:
    """Fit entropy and tail complexity to the classes: mode of the posterior, and 95 % credible intervals.

    Refuses a table without records, and overlapping classes (NULL as a wildcard). Where all records are
    unique, or all alike, the data bounds the entropy on one side only, and the status says so.

    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> answer, _ = fit_pitman_yor(geometric)
    >>> answer.entropy_low < answer.entropy < answer.entropy_high
    True
    """
    weighed = weigh_classes(histogram)
    records = count_records(weighed)
    posterior = _compute_posterior(weighed, prior)
    h, gamma = posterior.mode
    d, alpha = parameters(h, max(gamma, MIN_UNIFORM_PRODUCT / h))
    entropy, tail = (
        quantiles_by_weight(values, posterior.weight, (0.025, 0.975))
        for values in (posterior.entropy, posterior.tail)
    )
    fit = PycFit(
        entropy=h,
        entropy_low=min(h, float(entropy[0])),
        entropy_high=max(h, float(entropy[1])),
        tail=gamma,
        tail_low=min(gamma, float(tail[0])),
        tail_high=max(gamma, float(tail[1])),
        discount=float(d),
        concentration=float(alpha),
        records=records,
        classes=int(histogram.classes.sum()),
        status=posterior.status,
    )
    return fit, posterior


def _compute_posterior(histogram: Histogram, prior: Prior) -> Posterior:
    """Walk a lattice onto the posterior: each round takes the mean and spread that the last one found."""
    low, high = TAIL_RANGES[prior]
    box = np.log([ENTROPY_RANGE, (1 - high, 1 - low)])  # (2, ends): ln h and ln(1 − γ)
    centre, spread = box.mean(axis=1), np.diag((box[:, 1] - box[:, 0]) / 2 / LATTICE_SIGMAS)
    side = np.linspace(-LATTICE_SIGMAS, LATTICE_SIGMAS, LATTICE_SIDE)
    lattice = np.stack([axis.ravel() for axis in np.meshgrid(side, side)])  # (2, points)
    for _ in range(MAX_ROUNDS):
        points = centre[:, None] + spread @ lattice
        weight = _normalize(_log_posterior(histogram, points, box, prior))
        best = points[:, np.argmax(weight)]
        centre = points @ weight
        covariance = (points - centre[:, None]) * weight @ (points - centre[:, None]).T
        floor = (
            spread @ spread.T * (LATTICE_SIGMAS / LATTICE_SIDE) ** 2
        )  # nothing narrower than the lattice can be seen in one round
        spread = np.linalg.cholesky(covariance + floor)
    mode = _find_mode(histogram, best, box, prior)
    return Posterior(
        np.exp(points[0]), 1 - np.exp(points[1]), weight, mode, _describe_fit(histogram, mode[0])
    )


def _normalize(log_posterior: Floats) -> Floats:
    weight: Floats = np.exp(log_posterior - log_posterior.max())
    return np.asarray(weight / weight.sum())


def _log_posterior(histogram: Histogram, points: Floats, box: Floats, prior: Prior) -> Floats:
    """Log-posterior density in (ln h, ln(1 − γ)), −∞ outside the box; its Jacobian is h (1 − γ)."""
    inside = ((points >= box[:, :1]) & (points <= box[:, 1:])).all(axis=0)
    log_density = np.full(points.shape[1], -np.inf)
    h, rest = np.exp(points[:, inside])
    log_prior = -10 / rest if prior == "archer" else np.zeros_like(rest)
    log_density[inside] = log_likelihood(histogram, h, 1 - rest) + log_prior + points[:, inside].sum(axis=0)
    return log_density


def _find_mode(histogram: Histogram, start: Floats, box: Floats, prior: Prior) -> tuple[float, float]:
    """Find the mode in (h, γ) itself, so without the Jacobian, from the lattice's best point."""

    def loss(point: Floats) -> float:
        inside = np.clip(point, box[:, 0], box[:, 1])
        return float(inside.sum() - _log_posterior(histogram, inside[:, None], box, prior)[0])

    h, rest = np.exp(np.clip(scipy_functions.minimize_point(loss, start), box[:, 0], box[:, 1]))
    return float(h), float(1 - rest)


def _describe_fit(histogram: Histogram, entropy: float) -> str:
    if histogram.class_size.max() == 1:
        return STATUS_ALL_UNIQUE
    if len(histogram.class_size) == 1 and histogram.classes[0] == 1:
        return STATUS_ALL_EQUAL
    return OK if entropy < ENTROPY_RANGE[1] * 0.99 else STATUS_AT_PRIOR_END


# How far a fitted Pitman–Yor curve lies from the sample's own, and intervals that own up to it.
# The posterior covers only the chance within the model. Real tables follow no Pitman–Yor process, and what
# the fitted curve misses inside the sample, where the truth is known by rarefaction, is the least that it
# misses beyond. The gap is in log-odds of κ and counts once for each tenfold growth of the population.

SAMPLE_DIVISORS: Final = (30, 10, 3, 1)  # of the sample, where the curves are compared
SIGMAS_PER_GAP: Final = 1.96  # the gap counts as one standard deviation
MAX_GAP: Final = 0.5
STATUS_ALL_UNIQUE: Final = "all_unique: all records are unique, so the upper end is the prior's"
STATUS_ALL_EQUAL: Final = "all_equal: all records are equal, so the data limit the entropy only from above"
STATUS_AT_PRIOR_END: Final = "at_edge: the entropy is at the end of the prior, 60 nats"
STATUS_MISFIT: Final = (
    "misfit: the model differs from the sample's curve by a factor {factor:.2g} in the odds"
)


def measure_misfit(histogram: Histogram, fitted: PycFit) -> float:
    """Largest gap, in log-odds of κ, between the fitted curve and the sample's exact one.

    >>> from reid_sql.models.pyc.pitman_yor_fit import fit_pitman_yor
    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> measure_misfit(geometric, fit_pitman_yor(geometric)[0]) < 0.2
    True
    """
    sizes = np.unique(
        np.maximum(np.array([fitted.records // part for part in SAMPLE_DIVISORS]), min(2, fitted.records))
    )
    edge = (
        0.5 / fitted.records
    )  # a share closer to 0 or 1 than half a record is no gap that a sample can show
    own = np.clip(correctness_curve(histogram, sizes), edge, 1 - edge)
    entropy = np.clip(fitted.entropy, pitman_yor.ENTROPY.low, pitman_yor.ENTROPY.high)
    tail = np.clip(fitted.tail, pitman_yor.TAIL.low, pitman_yor.TAIL.high)
    modelled = np.clip(pitman_yor.correctness(entropy, tail, sizes), edge, 1 - edge)
    return float(np.abs(logit(modelled) - logit(own)).max())


def widen_interval(
    interval: tuple[float, float, float], gap: float, growth: float
) -> tuple[float, float, float]:
    """Move the ends of (value, low, high) out by the gap per tenfold growth; errors add up by squares.

    >>> [round(end, 3) for end in widen_interval((0.5, 0.5, 0.6), 0.5, 10.0)]
    [0.5, 0.273, 0.743]
    """
    value, low, high = interval
    more = SIGMAS_PER_GAP * gap * np.log10(growth)
    if more == 0 or not 0 < value < 1:
        return interval
    centre, ends = logit(value), logit(np.array([low, high]))
    reach = np.hypot(ends - centre, more)
    return value, float(expit(centre - reach[0])), float(expit(centre + reach[1]))


def describe_misfit(gap: float) -> list[str]:
    """Say that the model fits poorly, where it does."""
    return [STATUS_MISFIT.format(factor=float(np.exp(gap)))] if gap > MAX_GAP else []
