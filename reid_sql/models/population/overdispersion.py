"""How much more the counts of classes vary than their expected counts say: the shape of a negative binomial.

The count of a class of expected count μ is negative binomial with mean μ and variance μ + μ²/a. The shape a
is the likeliest one for the classes that the sample has, given that it has them: those that it lacks need not
be counted.
"""

from typing import Final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from reid_sql.domains import Floats
from reid_sql.models.classes.disclosure import Integers

LOG_SHAPES: Final = (-14.0, 14.0)
GRID: Final = 57  # half a unit apart
WIDTH: Final = 0.01  # of the groups of ln μ
POISSON: Final = 13.0  # logarithm of a shape from which on the counts are as good as Poisson


def shape(sizes: Integers, expected: Floats, classes: Integers | Floats) -> float:
    """Likeliest shape a of so many classes of each size and expected count; infinite where Poisson is as likely.

    >>> shape(np.array([1, 2, 40]), np.array([0.5, 4.0, 5.0]), np.array([2, 1, 1])) < 5
    True
    """
    level = np.round(np.log(np.maximum(expected, np.finfo(float).tiny)) / WIDTH)
    groups, place = np.unique(np.stack([sizes.astype(np.float64), level]), axis=1, return_inverse=True)
    counts = np.bincount(place.ravel(), classes)
    f, mean = groups[0], np.exp(groups[1] * WIDTH)

    def loss(log: float) -> float:
        a = np.exp(log)
        rare = a * np.log1p(mean / a)  # −ln P(0)
        seen = gammaln(f + a) - gammaln(a) + f * np.log(mean / (a + mean)) - rare - np.log(-np.expm1(-rare))
        return -float(counts @ seen)

    grid = np.linspace(*LOG_SHAPES, GRID)
    best = int(np.argmin([loss(log) for log in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    found = float(minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-6}).x)
    return float("inf") if found > POISSON else float(np.exp(found))
