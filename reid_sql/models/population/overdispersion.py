"""How much more the counts of classes vary than their expected counts say: the shape of a negative binomial.

The count of a class of expected count μ is negative binomial with mean μ and variance μ + μ²/a. The shape a
is the likeliest one for the classes that the sample has, given that it has them: those that it lacks need not
be counted.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.numerics import scipy_functions
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.numerics.scipy_functions import gammaln
from reid_sql.parameters import Floats

LOG_SHAPES: Final = (-14.0, 14.0)
GRID: Final = 57  # half a unit apart
WIDTH: Final = 0.01  # of the groups of ln μ
# Of a group, by which they are moved: engines tell ln μ to a thousandth, and one that lay on a border would
# fall to either side by its last digit.
MOVED: Final = 0.25
POISSON: Final = 13.0  # logarithm of a shape from which on the counts are as good as Poisson
LESS_LIKELY: Final = NORMAL_95**2 / 2  # by which log-likelihoods of a 95 % interval lie below the largest
STEPS: Final = 17  # shapes of an interval that are looked at


def shape(sizes: Integers, expected: Floats, classes: Integers | Floats) -> float:
    """Likeliest shape a of so many classes of each size and expected count; infinite is Poisson.

    It is infinite where Poisson is as likely.

    >>> shape(np.array([1, 2, 40]), np.array([0.5, 4.0, 5.0]), np.array([2, 1, 1])) < 5
    True
    """
    return _as_shape(ShapeLikelihood.of(sizes, expected, classes).likeliest())


def likely_shapes(sizes: Integers, expected: Floats, classes: Integers) -> list[float]:
    """Shapes that span the 95 % interval of the likelihood, ascending.

    Infinity is one of them where Poisson is not ruled out.

    >>> spread = likely_shapes(np.array([1, 2, 40]), np.array([0.5, 4.0, 5.0]), np.array([2, 1, 1]))
    >>> spread[0] < shape(np.array([1, 2, 40]), np.array([0.5, 4.0, 5.0]), np.array([2, 1, 1])) < spread[-1]
    True
    """
    likelihood = ShapeLikelihood.of(sizes, expected, classes)
    low, high = likelihood.interval(likelihood.likeliest())
    return [_as_shape(log) for log in np.linspace(low, high, STEPS).tolist()]


def _as_shape(log: float) -> float:
    return float("inf") if log > POISSON else float(np.exp(log))


@dataclass(frozen=True)
class ShapeLikelihood:
    """How likely the sample's classes are under each shape, classes of nearly one kind as one group.

    Of one kind are classes of one size and nearly one expected count.
    """

    sizes: Floats  # (groups,)
    expected: Floats  # (groups,)
    counts: Floats  # (groups,)

    @classmethod
    def of(cls, sizes: Integers, expected: Floats, classes: Integers | Floats) -> "ShapeLikelihood":
        """Group the classes."""
        level = np.round(np.log(np.maximum(expected, np.finfo(float).tiny)) / WIDTH + MOVED)
        groups, place = np.unique(np.stack([sizes.astype(np.float64), level]), axis=1, return_inverse=True)
        counts: Floats = np.bincount(place.ravel(), classes).astype(np.float64)
        return cls(groups[0], np.exp((groups[1] - MOVED) * WIDTH), counts)

    def loss(self, log: float) -> float:
        """Negative log-likelihood of the shape of this logarithm."""
        f, mean, a = self.sizes, self.expected, np.exp(log)
        rare = a * np.log1p(mean / a)  # −ln P(0)
        seen = gammaln(f + a) - gammaln(a) + f * np.log(mean / (a + mean)) - rare - np.log(-np.expm1(-rare))
        return -float(self.counts @ seen)

    def likeliest(self) -> float:
        """Logarithm of the likeliest shape."""
        grid = np.linspace(*LOG_SHAPES, GRID)
        best = int(np.argmin([self.loss(log) for log in grid]))
        return scipy_functions.minimize(
            self.loss, grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)], xatol=1e-6
        )

    def interval(self, likeliest: float) -> tuple[float, float]:
        """Logarithms of the shapes between which the 95 % interval lies."""
        most = self.loss(likeliest) + LESS_LIKELY
        ends = []
        for end in LOG_SHAPES:
            inside = self.loss(end) <= most
            ends.append(
                end
                if inside
                else scipy_functions.find_root(lambda log: self.loss(log) - most, likeliest, end)
            )
        return ends[0], ends[1]
