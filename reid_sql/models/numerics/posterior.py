"""The posterior of two numbers on a lattice, and its mode; many posteriors at a time.

A search is a generator: it yields the points at which it needs the density, and receives the values. So many
searches share one call of a density that costs hardly more for many points than for a few, and each goes its
own way, as if it were alone.
"""

from collections.abc import Callable, Generator, Iterable
from typing import Final, TypeVar

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.special_functions import minimize_point
from reid_sql.parameters import Floats

T = TypeVar("T")
Search = Generator[Floats, Floats, T]  # yields points (2, n), receives n values of a density
# the density at points (2, n), of which so many, one after the other, are of each of these searches
Density = Callable[[Floats, list[int], list[int]], Floats]

SPAN: Final = np.array([-5.0, 5.0])  # standard deviations that the lattice spans
MAX_WALKS: Final = 9
MAX_CLIMBS: Final = 4
# relative change of the variances, below which the lattice covers the posterior
SETTLED: Final = 0.5
MAX_ROUNDS: Final = 200
# a step that failed is tried at a quarter; the next may be four times as long
STEP_GROWTH: Final = 4.0
FIRST_REACH: Final = 8.0  # of the first step, in the units of the scale
STENCIL: Final = np.stack(
    [axis.ravel() for axis in np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0])]
)


def _fibonacci_lattice(count: int, before: int) -> Floats:
    """Points (2, count) of the unit square, for a Fibonacci number and the one before it (Niederreiter 1992).

    They are equally spaced along either axis, so that a quantile along one is as fine as with `count` points.
    """
    places = np.arange(count)
    return np.stack([places + 0.5, places * before % count + 0.5]) / count


COARSE: Final = _fibonacci_lattice(233, 144)
FINE: Final = _fibonacci_lattice(610, 377)
# with the edges and corners of the box, where the top may be
FIRST: Final = np.stack([axis.ravel() for axis in np.meshgrid(*[np.linspace(0, 1, 25)] * 2)])


def run_searches(searches: Iterable[Search[T]], density: Density) -> list[T]:
    """Answer what the searches ask, together, until each has returned."""
    under_way = dict(enumerate(searches))
    asked = {place: next(search) for place, search in under_way.items()}
    found: dict[int, T] = {}
    while asked:
        checkpoint()
        sizes = [points.shape[1] for points in asked.values()]
        values = density(np.concatenate(list(asked.values()), axis=1), list(asked), sizes)
        parts = np.split(values, np.cumsum(sizes)[:-1])
        for place, part in zip(list(asked), parts, strict=True):
            try:
                asked[place] = under_way[place].send(part)
            except StopIteration as end:
                found[place] = end.value
                del asked[place]
    return [found[place] for place in under_way]


def explore_posterior(
    alone: Callable[[Floats], Floats], box: Floats, noise: float
) -> Search[tuple[Floats, Floats, Floats]]:
    """Points (2, n) of a lattice over a posterior, their weights that sum to 1, and the mode.

    The points are the logarithms of two numbers. The density is that of the numbers, right to `noise`; the
    lattice is that of their logarithms, and lies in the box (2, ends). `alone` is the same density without
    other searches.

    >>> gamma = lambda points, *_: (2 * points - np.exp(points)).sum(axis=0)  # shape 3: mode 2, mean 3
    >>> search = explore_posterior(gamma, np.array([[-9.0, 9.0], [-9.0, 9.0]]), 1e-15)
    >>> [(points, weight, mode)] = run_searches([search], gamma)
    >>> np.exp(mode).round(6).tolist(), (np.exp(points) @ weight).round(2).tolist()
    ([2.0, 2.0], [3.0, 3.0])
    """
    centre, spread = box.mean(axis=1), np.diag((box[:, 1] - box[:, 0]) / 2 / SPAN[1])
    lattice, top = FIRST, -np.inf
    for _ in range(MAX_CLIMBS):
        points, weight, log_density, spread = yield from _walk_lattice(lattice, centre, spread, box)
        best = points[:, np.argmax(log_density)]
        # The edge is not on the lattice: where the density rises or is flat up to it, start there.
        starts = np.clip(
            np.column_stack([best, best[:, None] + 0.4 * spread @ STENCIL]), box[:, :1], box[:, 1:]
        )
        values = yield starts
        start = starts[:, np.argmax(values + starts.sum(axis=0))]
        scale = np.sqrt((spread**2).sum(axis=1))
        climb = yield from maximize_in_box(start, scale, box, noise)
        if climb[1] > top:
            mode, top, scale = climb
        # A lattice near the top has a point less than 0.1 below it. A narrow ridge can slip between the
        # points of the first, coarse one, which then closes in on a place far from the top. A simplex, which
        # begins wide, finds the way along the ridge, and a lattice from its end contains the top.
        if top + mode.sum() <= log_density.max() + 1:
            break

        def loss(point: Floats) -> float:
            return -float(alone(np.clip(point, *box.T)[:, None])[0])

        far = np.clip(minimize_point(loss, best), *box.T)
        climb = yield from maximize_in_box(far, scale, box, noise)
        if climb[1] > top:
            mode, top, scale = climb
        lattice, centre, spread = COARSE, mode, np.diag(scale)
    return points, weight, mode


def _walk_lattice(
    lattice: Floats, centre: Floats, spread: Floats, box: Floats
) -> Search[tuple[Floats, Floats, Floats, Floats]]:
    """Points, weights, log-densities and spread of a lattice, after rounds that each take the last one's."""
    lattices = [*[COARSE] * MAX_WALKS, lattice]
    while lattices:
        lattice = lattices.pop()
        # the part of a parallelogram in the box, and ln of the area of each point, up to a constant
        low, high = np.clip(centre[0] + spread[0, 0] * SPAN, *box[0])
        first = low + (high - low) * lattice[0]
        middle = centre[1] + spread[1, 0] / spread[0, 0] * (first - centre[0])
        least, most = np.clip(middle + spread[1, 1] * SPAN[:, None], *box[1])
        points = np.stack([first, least + (most - least) * lattice[1]])
        points = np.clip(points, box[:, :1], box[:, 1:])
        with np.errstate(divide="ignore"):
            log_area = np.log(most - least)
        values = yield points
        log_density = values + points.sum(axis=0)  # the Jacobian of the logarithms
        log_weight = log_density + log_area
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        centre = points @ weight
        before, apart = spread @ spread.T, points - centre[:, None]
        # Nothing narrower than a point's own part of the lattice can be seen in one round.
        narrowest = SPAN[1] ** 2 / lattice.shape[1]
        covariance = apart * weight @ apart.T + before * narrowest
        spread = np.linalg.cholesky(covariance)
        is_settled = np.abs(np.linalg.solve(before, covariance) - np.eye(2)).max() < SETTLED
        if lattice is not FINE and (is_settled or not lattices):
            lattices = [FINE]
    return points, weight, log_density, spread


def maximize_in_box(
    start: Floats, scale: Floats, box: Floats, noise: float
) -> Search[tuple[Floats, float, Floats]]:
    """Find where in the box a function is largest near `start`, its value, and its scale there.

    The function is right to `noise`, and −∞ where it is not defined. The box is (2, ends). The scale is the
    distance along each axis over which the function changes by about 1.

    >>> peak = lambda points, *_: -(points[0] - 1) ** 2 - (points[1] - 5) ** 2
    >>> box = np.array([[0.0, 3.0], [0.0, 3.0]])
    >>> search = maximize_in_box(np.array([0.5, 0.5]), np.ones(2), box, 1e-15)
    >>> run_searches([search], peak)[0][0].round(6).tolist()
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
        width = np.minimum(np.cbrt(noise) * scale, (high - low) / 4)
        centre = np.clip(trial, low + width, high - width)
        values = yield np.column_stack([trial, centre[:, None] + width[:, None] * STENCIL])
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
    return point, float(value), scale


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
