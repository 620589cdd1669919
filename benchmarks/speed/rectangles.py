"""Normal rectangles that share one matrix, by our kernel or by scipy.

Both are held against quadrature over the factor.
"""

import os

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal

from benchmarks.speed.stopwatch import Stopwatch
from reid_sql.models.numerics.rectangle import Precision
from reid_sql.parameters import Floats
from tests.rectangles import rectangle_probabilities

MANY, FEW = 2000, 40  # rectangles of ours, and of scipy
PRECISION = Precision(
    points=128, relative_error=3e-3
)  # bound of the error, which is itself a few times smaller
ALLOWED = 1e-3  # relative error of the mean over rectangles


def run(size: int, *, ours: bool) -> tuple[Stopwatch, dict[str, int]]:
    """Integrate on one core; scipy's few are taken as many."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
    rng = np.random.default_rng(size)
    load, categories = rng.uniform(0.2, 0.7, size), rng.integers(3, 40, (MANY, size))
    code = rng.integers(0, categories)
    lower, upper = ndtri(code / categories), ndtri((code + 1) / categories)
    matrix = np.outer(load, load) + np.diag(1 - load**2)
    with Stopwatch() as took:
        found = (
            rectangle_probabilities(lower, upper, matrix, PRECISION).probability
            if ours
            else _by_scipy(lower, upper, matrix)
        )
    wrong = np.abs(found / _exact(lower[: len(found)], upper[: len(found)], load) - 1)
    if wrong.mean() > ALLOWED:
        raise RuntimeError(
            f"the mean relative error must be at most {ALLOWED}, got {wrong.mean():.2g}"
        )
    took.seconds, took.cpu_seconds = (
        took.seconds * MANY / len(found),
        took.cpu_seconds * MANY / len(found),
    )
    return took, {"rectangles": MANY}


def _by_scipy(lower: Floats, upper: Floats, matrix: Floats) -> Floats:
    mean = np.zeros(len(matrix))
    pairs = zip(lower[:FEW], upper[:FEW], strict=True)
    return np.array(
        [multivariate_normal.cdf(high, mean, matrix, lower_limit=low) for low, high in pairs]
    )


def _exact(lower: Floats, upper: Floats, load: Floats) -> Floats:
    """Coordinates are independent given the factor."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    factor = 9 * nodes
    rest = np.sqrt(1 - load**2)
    inside = np.ones((len(lower), len(factor)))
    for place, (own, left) in enumerate(zip(load, rest, strict=True)):
        ends = ((bound[:, place, None] - own * factor) / left for bound in (upper, lower))
        inside *= ndtr(next(ends)) - ndtr(next(ends))
    return np.asarray(inside @ (9 * weights * np.exp(-(factor**2) / 2) / np.sqrt(2 * np.pi)))
