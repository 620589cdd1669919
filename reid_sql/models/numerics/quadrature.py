"""Sums over class sizes, the expectation of 1/F, and the posterior of two numbers, by quadrature."""

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

Density = Callable[[Floats], Floats]  # logarithm of a density at points (2, n)

LATTICE_SIDE: Final = 25  # lattice points a side
LATTICE_SIGMAS: Final = 5.0  # standard deviations that the lattice spans to each side
MAX_WALKS: Final = 9
# relative change of the variances, after which a round changes them by less than 1e-5
SETTLED: Final = 1e-4
MAX_ROUNDS: Final = 200
# a step that failed is tried at a quarter; the next may be four times as long
STEP_GROWTH: Final = 4.0
FIRST_REACH: Final = 8.0  # of the first step, in the units of the scale
STENCIL: Final = np.stack(
    [axis.ravel() for axis in np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0])]
)


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


def explore_posterior(density: Density, box: Floats, noise: float) -> tuple[Floats, Floats, Floats]:
    """Points (2, n) of a lattice over a posterior, their weights that sum to 1, and the mode.

    The density is that of the logarithms of two numbers, right to `noise`, −∞ outside the box (2, ends); the
    mode is that of the numbers themselves, so without the Jacobian, and given by their logarithms.

    >>> gamma = lambda points: (3 * points - np.exp(points)).sum(axis=0)  # shape 3: mode 2, mean 3
    >>> points, weight, mode = explore_posterior(gamma, np.array([[-9.0, 9.0], [-9.0, 9.0]]), 1e-15)
    >>> np.exp(mode).round(6).tolist(), (np.exp(points) @ weight).round(2).tolist()
    ([2.0, 2.0], [3.0, 3.0])
    """
    centre, spread = box.mean(axis=1), np.diag((box[:, 1] - box[:, 0]) / 2 / LATTICE_SIGMAS)
    points, log_density, spread = _walk_lattice(density, centre, spread)
    best = points[:, np.argmax(log_density)]
    # The next points of the lattice count at the edge if they are beyond: where the density is flat up to the
    # edge, start there.
    step = 2 * LATTICE_SIGMAS / (LATTICE_SIDE - 1) * spread
    starts = np.clip(
        np.column_stack([best, best[:, None] + step @ STENCIL]), box[:, :1], box[:, 1:]
    )
    start = starts[:, np.argmax(density(starts))]
    scale = np.sqrt((spread**2).sum(axis=1))

    def plain(points: Floats) -> Floats:
        return np.asarray(density(points) - points.sum(axis=0))

    mode, scale_there = maximize_in_box(plain, start, scale, box, noise)
    # A lattice near the top has a point less than 0.1 below it. A narrow ridge can slip between the points of
    # the first, coarse one, which then closes in on a place far from the top. A simplex, which begins wide,
    # finds the way along the ridge, and a lattice from its end contains the top.
    if density(mode[:, None])[0] > log_density.max() + 1:

        def loss(point: Floats) -> float:
            return -float(plain(np.clip(point, *box.T)[:, None])[0])

        far = np.clip(special_functions.minimize_point(loss, best), *box.T)
        climbs = [(mode, scale_there), maximize_in_box(plain, far, scale_there, box, noise)]
        mode, scale_there = min(climbs, key=lambda climb: loss(climb[0]))
        points, log_density, _ = _walk_lattice(density, mode, np.diag(scale_there))
    weight = np.exp(log_density - log_density.max())
    return points, weight / weight.sum(), mode


def _walk_lattice(
    density: Density, centre: Floats, spread: Floats
) -> tuple[Floats, Floats, Floats]:
    """Points, log-density and spread of a lattice: each round takes the mean and spread of the last one."""
    side = np.linspace(-LATTICE_SIGMAS, LATTICE_SIGMAS, LATTICE_SIDE)
    lattice = np.stack([axis.ravel() for axis in np.meshgrid(side, side)])  # (2, points)
    for _ in range(MAX_WALKS):
        points = centre[:, None] + spread @ lattice
        log_density = density(points)
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        centre = points @ weight
        before, apart = spread @ spread.T, points - centre[:, None]
        # Nothing narrower than the lattice can be seen in one round. Once all is seen, this floor makes the
        # error of the variances fall by 25 a round.
        covariance = apart * weight @ apart.T + before * (LATTICE_SIGMAS / LATTICE_SIDE) ** 2
        spread = np.linalg.cholesky(covariance)
        if np.abs(np.linalg.solve(before, covariance) - np.eye(2)).max() < SETTLED:
            break
    return points, log_density, spread


def maximize_in_box(
    function: Callable[[Floats], Floats], start: Floats, scale: Floats, box: Floats, noise: float
) -> tuple[Floats, Floats]:
    """Find the point of the box where the function is largest near `start`, and its scale there.

    The function takes points (2, n) and gives n values, right to `noise`; −∞ where it is not defined. The box
    is (2, ends). The scale is the distance along each axis over which the function changes by about 1.

    >>> peak = lambda points: -(points[0] - 1) ** 2 - (points[1] - 5) ** 2
    >>> box = np.array([[0.0, 3.0], [0.0, 3.0]])
    >>> point, _ = maximize_in_box(peak, np.array([0.5, 0.5]), np.ones(2), box, 1e-15)
    >>> point.round(6).tolist()
    [1.0, 3.0]
    """
    # Newton's method in a trust region (Nocedal & Wright 2006, chapter 4), for functions that take many
    # points at once for hardly more than one: a round asks for a trial point and the nine points about it,
    # from whose differences come the gradient and the curvatures there. Differences over w have errors of
    # noise/w from rounding and w² from third derivatives: w = ∛noise.
    low, high = box.T
    unit = scale
    point, value, trial, reach = start, -np.inf, start, FIRST_REACH
    for _ in range(MAX_ROUNDS):
        checkpoint()
        width = np.minimum(np.cbrt(noise) * scale, (high - low) / 4)
        centre = np.clip(trial, low + width, high - width)
        values = function(np.column_stack([trial, centre[:, None] + width[:, None] * STENCIL]))
        if np.isfinite(values).all() and values[0] > value:
            point, value = trial, values[0]
            gradient, hessian = _differentiate(values[1:], width)
            bends = np.abs(np.diag(hessian))
            # Along an axis where it changes by no more than rounding errors, there is nothing to find.
            changes = np.maximum(np.abs(gradient) * width, bends * width**2 / 4) > 4 * noise
            gradient = gradient + hessian @ (point - centre)
            scale = 1 / (np.abs(gradient) + np.sqrt(bends) + 1 / (high - low))
        elif np.isinf(value):  # the start is too close to where the function is not defined
            scale = scale / STEP_GROWTH
            continue
        else:
            reach = np.abs((trial - point) / unit).max() / STEP_GROWTH
        least, most = np.maximum(low - point, -reach * unit), np.minimum(high - point, reach * unit)
        least, most = np.where(changes, least, 0.0), np.where(changes, most, 0.0)
        step, gain = _maximize_quadratic(gradient, hessian, least, most)
        if gain <= noise:
            break
        trial = np.clip(point + step, low, high)
        reach = max(reach, STEP_GROWTH * np.abs(step / unit).max())
    return point, scale


def _differentiate(values: Floats, width: Floats) -> tuple[Floats, Floats]:
    """Gradient and matrix of the second derivatives, at the centre of the nine points of the stencil."""
    grid = values.reshape(3, 3)  # (second axis, first axis)
    gradient = np.array([grid[1, 2] - grid[1, 0], grid[2, 1] - grid[0, 1]]) / 2
    bends = np.array([grid[1, 2] + grid[1, 0], grid[2, 1] + grid[0, 1]]) - 2 * grid[1, 1]
    mixed = (grid[2, 2] + grid[0, 0] - grid[2, 0] - grid[0, 2]) / 4
    return gradient / width, np.array([[bends[0], mixed], [mixed, bends[1]]]) / np.outer(
        width, width
    )


def _maximize_quadratic(
    gradient: Floats, hessian: Floats, least: Floats, most: Floats
) -> tuple[Floats, float]:
    """Where g·u + u·Hu/2 is largest in a rectangle, and how large: inside, on an edge or at a corner."""
    (first, second), (a, b, c) = gradient, (hessian[0, 0], hessian[0, 1], hessian[1, 1])
    (left, low), (right, high) = least, most
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.array([[b * second - c * first], [b * first - a * second]]) / (a * c - b * b)
        edges = [[left, -(second + b * left) / c], [right, -(second + b * right) / c]]
        edges += [[-(first + b * low) / a, low], [-(first + b * high) / a, high]]
    corners = [[left, low], [left, high], [right, low], [right, high]]
    steps = np.column_stack([inside, np.array(edges).T, np.array(corners).T])
    steps = np.clip(np.where(np.isnan(steps), 0.0, steps), least[:, None], most[:, None])
    gains = gradient @ steps + (steps * (hessian @ steps)).sum(axis=0) / 2
    best = int(np.argmax(gains))
    return steps[:, best], float(gains[best])
