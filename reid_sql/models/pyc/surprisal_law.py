"""Correctness, uniqueness and k-anonymity violation as averages over how surprising people are.

A person whose anonymity set has the share p of all people carries L = −ln p nats, the surprisal. Let m(L) be
the share of people at each L. Then every curve of exact matching among n people is linear in m:

- κ(n) = Σ m (1 − (1 − p)^n) / (n p), equation 1 of Rocher, Hendrickx & de Montjoye 2025;
- Ξ(n) = Σ m (1 − p)^(n − 1), where nobody else is of the set;
- V_k(n) = Σ m P(Bin(n − 1, p) ≤ k − 2), where at most k − 2 others are.

m is kept on a fixed lattice of L. What lies beyond its end is as good as unique for any population in the
domain.
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.models.numerics.scipy_functions import betainc, betaincc, ndtr
from reid_sql.parameters import Choice, Floats

MEASURES: Final = Choice(("correctness", "uniqueness", "k_violation"))
Measure = Annotated[Literal["correctness", "uniqueness", "k_violation"], MEASURES]

STEP: Final = 0.125
SURPRISAL: Final = np.arange(0, 40 + STEP, STEP)  # (lattice,)
EDGES: Final = np.concatenate([[0.0], SURPRISAL[1:] - STEP / 2, [np.inf]])  # (lattice + 1,)
SHARE: Final = np.minimum(np.exp(-SURPRISAL), 1 - 1e-12)  # p, off 1 so that ln(1 − p) is finite
LEAST_MASS: Final = 1e-300


def kernel(measure: str, n: Floats, k: int = 5) -> Floats:
    """Give the measure among `n` of a person at each lattice point: (sizes, lattice), linear in m.

    `n` is people.

    >>> kernel("correctness", np.array([1.0]))[0, [0, -1]].round(6).tolist()
    [1.0, 1.0]
    """
    return at_share(measure, n[:, None], SHARE, k)


def at_share(measure: str, n: npt.ArrayLike, share: npt.ArrayLike, k: int = 5) -> Floats:
    """Give the measure among `n` people of a person whose anonymity set has this share, in (0, 1).

    The share is one of all people.

    >>> float(at_share("uniqueness", 3, 0.5)), float(at_share("k_violation", 3, 0.5, k=3))
    (0.25, 0.75)
    """
    people, p = np.broadcast_arrays(np.asarray(n, dtype=np.float64), np.asarray(share, dtype=np.float64))
    return np.asarray(KERNELS[measure](people, p, k))


def _correctness(n: Floats, p: Floats, _: int) -> Floats:
    return np.asarray(-np.expm1(n * np.log1p(-p)) / (n * p))


def _uniqueness(n: Floats, p: Floats, _: int) -> Floats:
    return np.asarray(np.exp((n - 1) * np.log1p(-p)))


def _k_violation(n: Floats, p: Floats, k: int) -> Floats:
    if k == 1:
        return np.zeros(n.shape)
    inside = np.maximum(n, k)  # P(Bin(n − 1, p) ≤ k − 2) = 1 − I_p(k − 1, n − k + 1), 1 for n up to k − 1
    return np.where(n > k - 1, betaincc(k - 1.0, inside - k + 1.0, p), 1.0)


KERNELS: Final[dict[str, Callable[[Floats, Floats, int], Floats]]] = {
    "correctness": _correctness,
    "uniqueness": _uniqueness,
    "k_violation": _k_violation,
}


def skew_lognormal(location: float, scale: float, shape: float) -> Floats:
    """Skew-normal law of the surprisal on the lattice: m ∝ exp(−z²/2) Φ(shape · z).

    z = (L − location) / scale.

    >>> float((skew_lognormal(10.0, 2.0, 0.0) @ SURPRISAL).round(4))
    10.0
    """
    z = (SURPRISAL - location) / scale
    log_mass = -0.5 * z * z
    mass = np.exp(log_mass - log_mass.max()) * ndtr(shape * z) + LEAST_MASS
    return np.asarray(mass / mass.sum())


def pitman_yor(discount: float, concentration: float) -> Floats:
    """Law of the surprisal under a Pitman–Yor process: p ~ Beta(1 − d, α + d), the size-biased pick.

    It is the surprisal of a person.

    >>> float((pitman_yor(0.5, 100.0) @ SURPRISAL).round(2))  # its entropy, ψ(1 + α) − ψ(1 − d)
    6.57
    """
    above = betainc(1 - discount, concentration + discount, np.exp(-EDGES))  # P(L ≥ edge)
    mass = np.maximum(-np.diff(above), 0) + LEAST_MASS
    return np.asarray(mass / mass.sum())


def equal_sets(entropy: float) -> Floats:
    """Law of the surprisal where all sets have the share e^−entropy, split over the two nearest points.

    The points are those of the lattice.

    >>> round(float(equal_sets(6.53) @ SURPRISAL), 6)
    6.53
    """
    place = min(entropy / STEP, SURPRISAL.size - 1.001)
    below, part = int(place), place - int(place)
    mass = np.full(SURPRISAL.size, LEAST_MASS)
    mass[[below, below + 1]] = 1 - part, part
    return mass
