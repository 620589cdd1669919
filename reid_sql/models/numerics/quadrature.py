"""Sums over class sizes, and the expectation of 1/F, by quadrature."""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import special_functions
from reid_sql.parameters import Floats

# Σ s_m g(m) over class sizes m, for functions g that are smooth in ln m, with as few terms as they need.
# Small sizes remain. The larger ones, in bins that double, are replaced by the nodes and weights of the Gauss
# quadrature of the bin's own classes: 8 nodes are exact for polynomials up to degree 15. A billion records
# have tens of thousands of class sizes, and then some two hundred nodes.

MAX_EXACT_SIZE: Final = 32  # sizes up to here remain single terms
NODES_PER_BIN: Final = 8


def class_quadrature(sizes: npt.ArrayLike, counts: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Replace class sizes, ascending and distinct, and their numbers of classes by nodes and weights.

    Right to 1e-12 for logarithms of gamma functions of the size, and their derivatives.

    >>> nodes, weights = class_quadrature(np.arange(1, 100_001), np.ones(100_000))
    >>> len(nodes), round(float(weights @ nodes))
    (128, 5000050000)
    >>> round(float(weights @ np.log(nodes)), 6)  # ln 100000!
    1051299.221899
    """
    size, count = special_functions.as_floats(sizes, counts)
    bins = np.where(
        size <= MAX_EXACT_SIZE, -1.0, np.floor(np.log2(np.maximum(size, 1.0) / MAX_EXACT_SIZE))
    )
    starts = np.flatnonzero(np.diff(bins, prepend=-2.0))
    parts = [
        (size[low:high], count[low:high])
        if bins[low] < 0 or high - low <= NODES_PER_BIN
        else _gauss_quadrature(size[low:high], count[low:high])
        for low, high in zip(starts, np.append(starts, len(size))[1:], strict=True)
    ]
    return np.concatenate([size[:0], *(nodes for nodes, _ in parts)]), np.concatenate(
        [count[:0], *(share for _, share in parts)]
    )


def _gauss_quadrature(size: Floats, count: Floats) -> tuple[Floats, Floats]:
    """Gauss quadrature of a discrete measure, from the recurrence of its orthogonal polynomials."""
    # Stieltjes' procedure on the bin mapped to [−1, 1]: the orthonormal polynomials of the measure satisfy
    # b_{k+1} p_{k+1} = (x − a_k) p_k − b_k p_{k−1} with a_k = ⟨x p_k, p_k⟩ and b_k = ‖·‖ of the right side.
    # Golub & Welsch 1969: the nodes are the eigenvalues of the Jacobi matrix of a and b, and the weights the
    # squared first components of its eigenvectors times the measure's total.
    middle, half, total = (size[0] + size[-1]) / 2, (size[-1] - size[0]) / 2, count.sum()
    place, share = (size - middle) / half, count / total
    before, now, off = np.zeros_like(place), np.ones_like(place), 0.0
    jacobi = np.zeros((NODES_PER_BIN, NODES_PER_BIN))
    for row in range(NODES_PER_BIN):
        jacobi[row, row] = share @ (place * now**2)
        following = (place - jacobi[row, row]) * now - off * before
        off = float(np.sqrt(share @ following**2))
        if row + 1 < NODES_PER_BIN:
            jacobi[row, row + 1] = jacobi[row + 1, row] = off
        before, now = now, following / off
    nodes, vectors = np.linalg.eigh(jacobi)
    return middle + half * nodes, total * vectors[0] ** 2


# Mean of 1/F for a person's class of F = f + X people, of whom f are in the sample and X are random: the
# chance that a match on the person is right. With the generating function G(t) = E t^X, over 0 < t, s < 1,
#
#     1/(f + x) = ∫ t^(f+x−1) dt
#     E 1/(f + X) = ∫ t^(f−1) G(t) dt = ∫ (1 − s)^(f−1) G(1 − s) ds
#
# Gauss–Legendre nodes over the part with mass compute either integral to 1e-12.

LEGENDRE_NODES, LEGENDRE_WEIGHTS = np.polynomial.legendre.leggauss(48)
MAX_EXPONENT: Final = 40.0  # e^−40 is negligible
MIN_RATE: Final = 1e-300
CLASSES_PER_CHUNK: Final = 65_536  # classes at a time


def expected_inverse_poisson(seen: npt.ArrayLike, mean: npt.ArrayLike) -> Floats:
    """Mean of 1/(f + X), X Poisson: ∫ (1 − s)^(f−1) e^(−m s) ds over 0 < s < 1; `seen` f ≥ 1, `mean` m ≥ 0.

    >>> expected_inverse_poisson([1, 1, 4], [0.0, 2.0, 0.0]).round(6).tolist()  # (1 − e^−2) / 2
    [1.0, 0.432332, 0.25]
    """
    return _apply_in_chunks(lambda f, m: _integrate(f, m, lambda s: -m * s), seen, mean)


def expected_inverse_binomial(
    seen: npt.ArrayLike, trials: npt.ArrayLike, chance: npt.ArrayLike
) -> Floats:
    """Mean of 1/(f + X), X binomial of so many trials: ∫ (1 − s)^(f−1) (1 − q s)^m ds; `seen` f ≥ 1.

    >>> expected_inverse_binomial([1, 2, 4], [2, 1, 0], [0.5, 0.5, 0.5]).round(6).tolist()  # 1 − 5/12, 5/12
    [0.583333, 0.416667, 0.25]
    """

    def integrate(f: Floats, m: Floats, q: Floats) -> Floats:
        return _integrate(f, m * q, lambda s: m * np.log1p(-q * s))

    return _apply_in_chunks(integrate, seen, trials, chance)


def expected_inverse_negative_binomial(
    seen: npt.ArrayLike, shape: npt.ArrayLike, chance: npt.ArrayLike
) -> Floats:
    """Mean of 1/(f + X), X negative binomial with `shape` r ≥ f and success `chance` p; `seen` f ≥ 1.

    With r = f it is the individual risk of Benedetti and Franconi. p/(1 − p) ln(1/p), 1/5 and 1 − ln 2:

    >>> expected_inverse_negative_binomial([1, 5, 2], [1, 5, 2], [0.1, 1.0, 0.5]).round(6).tolist()
    [0.255843, 0.2, 0.306853]
    """
    f, r, p = np.broadcast_arrays(*special_functions.as_floats(seen, shape, chance))
    mean, alone = np.empty(f.shape), (f == 1) & (p < 1)
    # for f = 1, the integral in closed form: p/(1 − p) (1 − p^(r−1))/(r − 1)
    power, success = np.maximum(r[alone] - 1, MIN_RATE), p[alone]
    mean[alone] = success / (1 - success) * -np.expm1(power * np.log(success)) / power
    mean[~alone] = _apply_in_chunks(_integrate_negative_binomial, f[~alone], r[~alone], p[~alone])
    return mean


def _sum_nodes(values: Floats) -> Floats:
    """Sum the weighted nodes of each class; a matrix product rounds by the class's place among the others."""
    return np.asarray((LEGENDRE_WEIGHTS[:, None] * values).sum(axis=0))


def _integrate(f: Floats, mean: Floats, log_generating: Callable[[Floats], Floats]) -> Floats:
    """∫ (1 − s)^(f−1) G(1 − s) ds for X of this mean, by ln G(1 − s) at s."""
    # Poisson's G(1 − s) is e^(−m s), the binomial one (1 − q s)^m ≤ e^(−m q s): the integrand is at most
    # e^(−(mean+f−1) s), and beyond s = 40 / (mean + f − 1) nothing is left.
    rate = np.maximum(mean + f - 1, MAX_EXPONENT)
    s = MAX_EXPONENT / rate * (LEGENDRE_NODES[:, None] + 1) / 2  # (nodes, classes)
    log = (f - 1) * np.log1p(-s) + log_generating(s)
    return _sum_nodes(np.exp(log)) * MAX_EXPONENT / rate / 2


def _integrate_negative_binomial(f: Floats, r: Floats, p: Floats) -> Floats:
    checkpoint()
    # G(t) = (p / (1 − q t))^r, so that G(1 − s) = (1 + s q/p)^(−r). With e^y = 1 + s q/p the integral becomes
    # p/q ∫ (1 − s)^(f−1) e^(−(r−1) y) dy over 0 < y < ln 1/p; as s ≥ y p/q, the integrand is at most
    # e^(−(r − 1 + (f−1) p/q) y), which ends it early.
    q = np.where(p < 1, 1 - p, 1.0)
    odds = p / q
    end = np.minimum(-np.log(p), MAX_EXPONENT / np.maximum(r - 1 + (f - 1) * odds, MIN_RATE))
    y = end * (LEGENDRE_NODES[:, None] + 1) / 2  # (nodes, classes)
    s = np.minimum(np.expm1(y) * odds, 1 - np.finfo(float).epsneg)
    mean = odds * end / 2 * _sum_nodes(np.exp((f - 1) * np.log1p(-s) - (r - 1) * y))
    return np.where(p < 1, mean, 1 / f)


def _apply_in_chunks(mean: Callable[..., Floats], *arguments: npt.ArrayLike) -> Floats:
    whole = np.broadcast_arrays(*special_functions.as_floats(*arguments))
    flat = [values.ravel() for values in whole]
    parts = [
        mean(*(values[start : start + CLASSES_PER_CHUNK] for values in flat))
        for start in range(0, flat[0].size, CLASSES_PER_CHUNK)
    ]
    return np.concatenate([np.empty(0), *parts]).reshape(whole[0].shape)
