"""Measured shares at some sizes, and what a law of the surprisal expects of them."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.numerics.special_functions import betainc, betaincc, ndtr
from reid_sql.parameters import COUNT, Choice, Floats, Number, plain

# Correctness, uniqueness and k-anonymity violation as averages over how surprising people are. A person whose
# anonymity set has the share p of all people carries L = −ln p nats, the surprisal. Let m(L) be the share of
# people at each L. Then every curve of exact matching among n people is linear in m:
#
#     κ(n) = Σ m (1 − (1 − p)^n) / (n p), equation 1 of Rocher, Hendrickx & de Montjoye 2025;
#     Ξ(n) = Σ m (1 − p)^(n − 1), where no one else is of the set;
#     V_k(n) = Σ m P(Bin(n − 1, p) ≤ k − 2), where at most k − 2 others are.
#
# m is defined on a fixed lattice of L. What lies beyond its end is as good as unique for any population in
# the domain.

MEASURES: Final = Choice(("correctness", "uniqueness", "k_violation"))
Measure = Annotated[Literal["correctness", "uniqueness", "k_violation"], MEASURES]

SURPRISAL_STEP: Final = 0.125
SURPRISAL: Final = np.arange(0, 40 + SURPRISAL_STEP, SURPRISAL_STEP)  # (lattice,)
SURPRISAL_EDGES: Final = np.concatenate(
    [[0.0], SURPRISAL[1:] - SURPRISAL_STEP / 2, [np.inf]]
)  # (lattice + 1,)
# p, off 1 so that ln(1 − p) is finite
LATTICE_SHARES: Final = np.minimum(np.exp(-SURPRISAL), 1 - 1e-12)
MIN_MASS: Final = 1e-300


def surprisal_kernel(measure: str, n: Floats, k: int = 5) -> Floats:
    """Give the measure among `n` of a person at each lattice point: (sizes, lattice), linear in m.

    `n` is people.

    >>> surprisal_kernel("correctness", np.array([1.0]))[0, [0, -1]].round(6).tolist()
    [1.0, 1.0]
    """
    return measure_at_share(measure, n[:, None], LATTICE_SHARES, k)


def measure_at_share(measure: str, n: npt.ArrayLike, share: npt.ArrayLike, k: int = 5) -> Floats:
    """Give the measure among `n` people of a person whose anonymity set has this share, in (0, 1).

    The share is one of all people.

    >>> float(measure_at_share("uniqueness", 3, 0.5)), float(measure_at_share("k_violation", 3, 0.5, k=3))
    (0.25, 0.75)
    """
    people, p = np.broadcast_arrays(
        np.asarray(n, dtype=np.float64), np.asarray(share, dtype=np.float64)
    )
    if measure == "correctness":
        return np.asarray(-np.expm1(people * np.log1p(-p)) / (people * p))
    if measure == "uniqueness":
        return np.asarray(np.exp((people - 1) * np.log1p(-p)))
    if k == 1:
        return np.zeros(people.shape)
    # P(Bin(n − 1, p) ≤ k − 2) = 1 − I_p(k − 1, n − k + 1), 1 for n up to k − 1
    inside = np.maximum(people, k)
    return np.where(people > k - 1, betaincc(k - 1.0, inside - k + 1.0, p), 1.0)


def skew_lognormal_law(location: float, scale: float, shape: float) -> Floats:
    """Skew-normal law of the surprisal on the lattice: m ∝ exp(−z²/2) Φ(shape · z).

    z = (L − location) / scale.

    >>> float((skew_lognormal_law(10.0, 2.0, 0.0) @ SURPRISAL).round(4))
    10.0
    """
    z = (SURPRISAL - location) / scale
    log_mass = -0.5 * z * z
    mass = np.exp(log_mass - log_mass.max()) * ndtr(shape * z) + MIN_MASS
    return np.asarray(mass / mass.sum())


def pitman_yor_law(discount: float, concentration: float) -> Floats:
    """Law of the surprisal under a Pitman–Yor process: p ~ Beta(1 − d, α + d), the size-biased pick.

    It is the surprisal of a person.

    >>> float((pitman_yor_law(0.5, 100.0) @ SURPRISAL).round(2))  # its entropy, ψ(1 + α) − ψ(1 − d)
    6.57
    """
    above = betainc(1 - discount, concentration + discount, np.exp(-SURPRISAL_EDGES))  # P(L ≥ edge)
    mass = np.maximum(-np.diff(above), 0) + MIN_MASS
    return np.asarray(mass / mass.sum())


def equal_sets_law(entropy: float) -> Floats:
    """Law of the surprisal where all sets have the share e^−entropy, split over the two nearest points.

    The points are those of the lattice.

    >>> round(float(equal_sets_law(6.53) @ SURPRISAL), 6)
    6.53
    """
    place = min(entropy / SURPRISAL_STEP, SURPRISAL.size - 1.001)
    below, part = int(place), place - int(place)
    mass = np.full(SURPRISAL.size, MIN_MASS)
    mass[[below, below + 1]] = 1 - part, part
    return mass


# Shares measured in galleries of some sizes, and how closely they are known.

MEASURED_SHARE: Final = Number(
    "a share of right matches above 0 and at most 1",
    "pass measured shares such as 0.8, and leave out sizes at which no match was right",
    float(np.nextafter(0.0, 1.0)),
    1.0,
)
STANDARD_ERROR: Final = Number(
    "a standard error of at least 0 and at most 1",
    "pass how far a measured share may be off, such as 0.01, or 0 for one that is exact",
    0.0,
    1.0,
)
MIN_SIZES: Final = 2  # t ≥ 2 in the paper
EXACT_RELATIVE_ERROR: Final = 1e-5  # relative error of a share that is as good as exact
MAX_EXACT_ERROR: Final = 1e-4
ROUNDED_DECIMALS: Final = 4  # a share of so few decimals was rounded


@dataclass(frozen=True)
class Measurements:
    """Mean share at distinct ascending sizes above 1, the weights of equation 4, and standard errors."""

    sizes: Floats  # (sizes,)
    shares: Floats  # (sizes,)
    weights: Floats  # (sizes,)
    errors: Floats  # (sizes,)
    errors_given: bool = True  # whether the caller passed the errors

    @property
    def relative(self) -> Floats:
        """Standard errors as shares of the measured, never below what passes for exact."""
        return np.asarray(np.maximum(self.errors / self.shares, EXACT_RELATIVE_ERROR))

    @property
    def exact(self) -> bool:
        """Whether every share is as good as exact."""
        return bool(self.relative.max() <= MAX_EXACT_ERROR)

    @property
    def falls(self) -> bool:
        """Whether the weighted line through the shares over ln n falls; exact if points are all alike."""
        rise, run = self.shares - self.shares[0], np.log(self.sizes / self.sizes[0])
        return bool(self.weights @ (rise * (run - np.average(run, weights=self.weights))) < 0)

    @property
    def rises_somewhere(self) -> bool:
        """Whether a larger gallery was measured with a larger share, which only noise can do."""
        return bool((np.diff(self.shares) > 0).any())


def check_measurements(
    sizes: npt.ArrayLike, shares: npt.ArrayLike, standard_errors: npt.ArrayLike | None = None
) -> Measurements:
    """Check and order the points; a size measured more than once counts as its mean with the weight of all.

    Without standard errors a share is as exact as it is written: 0.98 and 0.85 are known to half a hundredth.

    >>> points = check_measurements([100, 10, 1], [0.85, 0.98, 1])
    >>> points.sizes.tolist(), points.errors.round(4).tolist()
    ([10.0, 100.0], [0.0029, 0.0029])
    """
    n = COUNT.check("sizes", sizes).ravel()
    kappa = MEASURED_SHARE.check("correctness", shares).ravel()
    if n.size != kappa.size:
        got = f"got {n.size} sizes and {kappa.size} shares"
        raise OutOfDomainError(
            f"sizes and correctness must be as many, {got}; pass one share a size"
        )
    errors = _standard_errors(kappa, standard_errors)
    distinct, place, times = np.unique(n, return_inverse=True, return_counts=True)
    mean = np.bincount(place, kappa, distinct.size) / times
    spread = np.sqrt(np.bincount(place, errors**2, distinct.size)) / times
    # among one person every match is right: size 1 has weight ln 1 = 0 in equation 4
    above = distinct > 1
    if above.sum() < MIN_SIZES:
        got = ", ".join(plain(size) for size in distinct) or "none"
        raise OutOfDomainError(
            f"sizes must contain at least two distinct sizes above 1, got {got}; measure at a further size"
        )
    weights = np.asarray(times * np.log(distinct), dtype=np.float64)
    return Measurements(
        distinct[above],
        mean[above],
        weights[above],
        spread[above],
        errors_given=standard_errors is not None,
    )


def _standard_errors(shares: Floats, standard_errors: npt.ArrayLike | None) -> Floats:
    if standard_errors is None:
        # that of rounding to the decimals that all fit in; 0 where they have many
        for decimals in range(1, ROUNDED_DECIMALS + 1):
            if (np.round(shares, decimals) == shares).all():
                return np.full(shares.size, 10.0**-decimals / np.sqrt(12))
        return np.zeros(shares.size)
    errors = STANDARD_ERROR.check("standard_errors", standard_errors).ravel()
    if errors.size not in (1, shares.size):
        raise OutOfDomainError(
            f"standard_errors must be one, or one a share, got {errors.size} for {shares.size} shares; pass [0.01] for all alike"
        )
    return np.asarray(np.broadcast_to(errors, shares.shape), dtype=np.float64)
