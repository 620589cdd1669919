"""Entropy and tail complexity of anonymity sets from the class-size histogram alone, with their posterior.

Source: Rocher, Hendrickx & de Montjoye 2025 (MAP fit); prior of Archer, Park & Pillow 2014, flat in the
entropy h and q(γ) ∝ exp(−10/(1 − γ)) for tail complexities γ in [0, 1). The paper says only "in line with"
that work. A flat prior in both, γ from −1 (where the sets are nearly equal in size; further down changes
little but takes all the weight), is the option `flat`.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.classes.uniqueness import count_records
from reid_sql.models.numerics import scipy_functions
from reid_sql.models.numerics.gamma_functions import log_gamma_ratio
from reid_sql.models.numerics.quadrature import class_quadrature
from reid_sql.models.numerics.quantiles import quantiles_by_weight
from reid_sql.models.pyc.pitman_yor import parameters
from reid_sql.parameters import Choice, Floats

PRIOR: Final = Choice(("archer", "flat"))
Prior = Annotated[Literal["archer", "flat"], PRIOR]

ENTROPIES: Final = (1e-3, 60.0)
TAILS: Final = {"archer": (0.0, 1 - 1e-6), "flat": (-1.0, 1 - 1e-6)}
UNIFORM: Final = -27.0  # beyond h·γ of this the sets are equal in size to a part in 10¹¹
SIDE: Final = 25  # lattice points a side
REACH: Final = 5.0  # standard deviations that the lattice spans to each side
ROUNDS: Final = 9


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
    """Log-probability of the partition into classes of these sizes, up to a constant of the data.

    Σ_m s_m ln[Γ(m−d)/Γ(1−d)] + Σ_{l<K} ln(α + l d) − ln[Γ(α+n)/Γ(α+1)]; `entropy` and `tail` broadcast.
    """
    checkpoint()
    h, gamma = np.broadcast_arrays(np.asarray(entropy, dtype=np.float64), np.asarray(tail, dtype=np.float64))
    d, alpha = parameters(h, np.maximum(gamma, UNIFORM / h))
    sizes, counts = histogram.class_size.astype(np.float64), histogram.classes.astype(np.float64)
    records, classes = float(sizes @ counts), float(counts.sum())
    nodes, weights = class_quadrature(sizes[sizes > 1], counts[sizes > 1])
    within = log_gamma_ratio((1 - d)[..., None], nodes - 1) @ weights  # (points,)
    return within + _log_openings(d, alpha, classes) - log_gamma_ratio(alpha + 1, records - 1)


def _log_openings(d: Floats, alpha: Floats, classes: float) -> Floats:
    """Σ_{l=1}^{K−1} ln(α + l d), −∞ where fewer classes than K can be."""
    count = classes - 1
    step = d / alpha
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rising = count * np.log(np.abs(d)) + log_gamma_ratio(1 / step + 1, count)  # d > 0
        falling = count * np.log(np.abs(d)) + log_gamma_ratio(
            -1 / step - count, count
        )  # d < 0: |d| (α/|d| − l)
        nearly_flat = count * np.log(alpha) + step * count * (count + 1) / 2
    exact = np.where(d > 0, rising, falling)
    found = np.where(np.abs(step) * classes**2 < 1e-6, nearly_flat, exact)  # noqa: PLR2004 - next: 1e-12
    return np.where(alpha + count * d > 0, found, -np.inf)


def fit(histogram: Histogram, prior: Prior = "archer") -> tuple[PycFit, Posterior]:
    """Fit entropy and tail complexity to the classes: mode of the posterior, and 95 % credible intervals.

    Refuses a table without records, and overlapping classes (NULL as a wildcard). Where all records are
    unique, or all alike, the data bounds the entropy on one side only, and the status says so.

    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> found, _ = fit(geometric)
    >>> found.entropy_low < found.entropy < found.entropy_high
    True
    """
    records = count_records(histogram)
    posterior = _posterior(histogram, prior)
    h, gamma = posterior.mode
    d, alpha = parameters(h, max(gamma, UNIFORM / h))
    entropy, tail = (
        quantiles_by_weight(values, posterior.weight, (0.025, 0.975))
        for values in (posterior.entropy, posterior.tail)
    )
    found = PycFit(
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
    return found, posterior


def _posterior(histogram: Histogram, prior: Prior) -> Posterior:
    """Walk a lattice onto the posterior: each round takes the mean and spread that the last one found."""
    low, high = TAILS[prior]
    box = np.log([ENTROPIES, (1 - high, 1 - low)])  # (2, ends): ln h and ln(1 − γ)
    centre, spread = box.mean(axis=1), np.diag((box[:, 1] - box[:, 0]) / 2 / REACH)
    side = np.linspace(-REACH, REACH, SIDE)
    lattice = np.stack([axis.ravel() for axis in np.meshgrid(side, side)])  # (2, points)
    for _ in range(ROUNDS):
        points = centre[:, None] + spread @ lattice
        weight = _weights(_log_posterior(histogram, points, box, prior))
        best = points[:, np.argmax(weight)]
        centre = points @ weight
        covariance = (points - centre[:, None]) * weight @ (points - centre[:, None]).T
        floor = (
            spread @ spread.T * (REACH / SIDE) ** 2
        )  # nothing narrower than the lattice can be seen in one round
        spread = np.linalg.cholesky(covariance + floor)
    mode = _climb(histogram, best, box, prior)
    return Posterior(np.exp(points[0]), 1 - np.exp(points[1]), weight, mode, _status(histogram, mode[0]))


def _weights(log_posterior: Floats) -> Floats:
    weight: Floats = np.exp(log_posterior - log_posterior.max())
    return np.asarray(weight / weight.sum())


def _log_posterior(histogram: Histogram, points: Floats, box: Floats, prior: Prior) -> Floats:
    """Log-posterior density in (ln h, ln(1 − γ)), −∞ outside the box; its Jacobian is h (1 − γ)."""
    inside = ((points >= box[:, :1]) & (points <= box[:, 1:])).all(axis=0)
    found = np.full(points.shape[1], -np.inf)
    h, rest = np.exp(points[:, inside])
    log_prior = -10 / rest if prior == "archer" else np.zeros_like(rest)
    found[inside] = log_likelihood(histogram, h, 1 - rest) + log_prior + points[:, inside].sum(axis=0)
    return found


def _climb(histogram: Histogram, start: Floats, box: Floats, prior: Prior) -> tuple[float, float]:
    """Find the mode in (h, γ) itself, so without the Jacobian, from the lattice's best point."""

    def loss(point: Floats) -> float:
        inside = np.clip(point, box[:, 0], box[:, 1])
        return float(inside.sum() - _log_posterior(histogram, inside[:, None], box, prior)[0])

    h, rest = np.exp(np.clip(scipy_functions.minimize_point(loss, start), box[:, 0], box[:, 1]))
    return float(h), float(1 - rest)


def _status(histogram: Histogram, entropy: float) -> str:
    if histogram.class_size.max() == 1:
        return (
            "all records are unique: the data bounds the entropy from below only, "
            "the upper end is the prior's"
        )
    if len(histogram.class_size) == 1 and histogram.classes[0] == 1:
        return "all records are alike: the data bounds the entropy from above only"
    return OK if entropy < ENTROPIES[1] * 0.99 else "the entropy meets the end of the prior, 60 nats"
