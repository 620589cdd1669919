"""Posterior density of two positive numbers on a lattice, and its mode, from values of the density alone."""

from collections.abc import Callable
from typing import Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import special_functions
from reid_sql.parameters import Floats

Density = Callable[[Floats], Floats]  # logarithm of a density at points (2, n)

LATTICE_SIDE: Final = 25  # lattice points a side
LATTICE_SIGMAS: Final = 5.0  # standard deviations that the lattice spans to each side
MAX_WALKS: Final = 9
SETTLED: Final = 1e-4  # relative change of the variances, after which a round changes them by less than 1e-5
MAX_ROUNDS: Final = 200
STEP_GROWTH: Final = 4.0  # a step that failed is tried at a quarter; the next may be four times as long
FIRST_REACH: Final = 8.0  # of the first step, in the units of the scale
STENCIL: Final = np.stack([axis.ravel() for axis in np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0])])


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
    starts = np.clip(np.column_stack([best, best[:, None] + step @ STENCIL]), box[:, :1], box[:, 1:])
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


def _walk_lattice(density: Density, centre: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
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
    return gradient / width, np.array([[bends[0], mixed], [mixed, bends[1]]]) / np.outer(width, width)


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
