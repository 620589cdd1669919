"""Probability of a rectangle under a normal distribution, for many that share one correlation matrix.

Sequential conditioning after Genz (1992) and Genz & Bretz (2002): one coordinate at a time, each drawn within
its interval given those before it, at randomised quasi-Monte Carlo points. Rectangles are sorted, so that
those that begin alike share what they have in common; work goes in blocks that fit the cache, over all cores.
A rectangle's figures depend on it and the seed alone: not on the others, their order or the number of
threads.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.interruption import carried, checkpoint
from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.numerics.correlation import Step, checked_correlation, factorised
from reid_sql.models.numerics.lattice import REPLICATES, lattice
from reid_sql.models.numerics.special import ndtr, ndtri
from reid_sql.parameters import Floats

FARTHEST: Final = 40.0  # standard deviations that stand for infinity: the normal tail beyond is 0 in doubles
BLOCK: Final = 1 << 14  # rectangles times points that are worked on together
FINER: Final = 2  # times the points where the error is too large
SMALLEST: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Precision:
    """Points to begin with and at most, powers of two from 128 to 65,536, and the standard error to reach.

    An integral is good enough where either error is: the relative one, or the absolute one.
    """

    points: int = 1024
    most: int = 16384
    relative_error: float = 3e-4
    absolute_error: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Estimates:
    """Probabilities, never 0, and the standard errors of their integration."""

    probability: Floats  # (rectangles,)
    standard_error: Floats  # (rectangles,)

    def taken(self, rows: Integers) -> Self:
        """Give the estimates of these rectangles alone."""
        return replace(self, probability=self.probability[rows], standard_error=self.standard_error[rows])

    def uniqueness(self, population: npt.ArrayLike) -> Floats:
        """Chance ξ that a person of each cell is the only one in it: where people are spread by q alone."""
        return uniqueness.uniqueness_from_probability(self.probability, population)

    def correctness(self, population: npt.ArrayLike) -> Floats:
        """Mean κ of 1/F for a person of each cell: where people are spread by q alone."""
        return uniqueness.correctness_from_probability(self.probability, population)

    def known(self, class_size: Integers, population: npt.ArrayLike) -> tuple[Floats, Floats]:
        """ξ and κ for records of a sample by class size: what is not alone there is not unique."""
        xi = np.where(np.asarray(class_size) == 1, self.uniqueness(population), 0.0)
        return xi, self.correctness(population)


@dataclass(frozen=True)
class Cells:
    """The interval of each code of each column; it may differ from point to point."""

    lower: Sequence[Floats]  # by column: (codes, points), or (codes, 1)
    upper: Sequence[Floats]


@dataclass(frozen=True)
class _Plan:
    """All that blocks have in common."""

    cells: Cells
    steps: Sequence[Step]
    uniforms: Floats  # (steps, points)
    place: dict[int, int] = field(default_factory=dict)  # of a column among the sorted codes


def rectangle_probabilities(
    lower: npt.ArrayLike, upper: npt.ArrayLike, correlation: npt.ArrayLike, precision: Precision | None = None
) -> Estimates:
    """Probability that lower < Z <= upper in every coordinate of a normal vector Z of this correlation.

    `lower` and `upper` are (rectangles, dimensions), infinities allowed; `correlation` may be singular. The
    coordinate with the narrowest interval on average comes first. Refuses bounds out of order and what is no
    correlation matrix.

    >>> found = rectangle_probabilities([[0, 0]], [[np.inf, np.inf]], [[1, 0.5], [0.5, 1]])
    >>> round(float(found.probability[0]), 4)
    0.3333
    """
    low, high = (
        np.atleast_2d(np.asarray(bound, dtype=np.float64)).clip(-FARTHEST, FARTHEST)
        for bound in (lower, upper)
    )
    if low.shape != high.shape or not (low <= high).all():
        raise OutOfDomainError(
            "lower must be at most upper, got bounds out of order; pass (rectangles, dimensions) of each"
        )
    matrix = checked_correlation(correlation, low.shape[1])
    pairs = [
        np.unique(np.stack(pair), axis=1, return_inverse=True) for pair in zip(low.T, high.T, strict=True)
    ]
    codes = np.stack([inverse.ravel() for _, inverse in pairs], axis=1).astype(np.int64)
    cells = Cells([bounds[0][:, None] for bounds, _ in pairs], [bounds[1][:, None] for bounds, _ in pairs])
    order = np.argsort((ndtr(high) - ndtr(low)).mean(axis=0), kind="stable").tolist()
    return integrate(codes, lambda _: cells, matrix, order, precision or Precision())


def integrate(
    codes: Integers,
    cells: Callable[[int], Cells],
    correlation: Floats,
    order: Sequence[int],
    precision: Precision,
) -> Estimates:
    """Integrate over records of codes, (records, columns), one column after the other in the given order.

    `cells` gives the intervals for a number of points. Records whose relative error is too large get more
    points.
    """
    steps = list(factorised(correlation, order))
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    probability, error = np.empty(len(distinct)), np.zeros(len(distinct))
    rough, points = np.arange(len(distinct)), precision.points
    while len(rough):
        plan = _Plan(cells(points), steps, lattice(len(steps), points, precision.seed))
        replicates = _integrated(distinct[rough], plan)
        probability[rough] = np.maximum(replicates.mean(axis=1), SMALLEST)
        spread = replicates.std(axis=1, ddof=1) / np.sqrt(REPLICATES)
        error[rough] = np.maximum(
            spread, error[rough] / FINER
        )  # replicates that agree by chance must not end it
        points *= FINER
        if points > precision.most:
            break
        enough = np.maximum(precision.relative_error * probability[rough], precision.absolute_error)
        rough = rough[error[rough] > enough]
    return Estimates(probability[inverse.ravel()], error[inverse.ravel()])


def _integrated(codes: Integers, plan: _Plan) -> Floats:
    """Integrate distinct records at one set of points: (records, replicates)."""
    columns = [column for step in plan.steps for column in step.columns]
    plan.place.update({column: place for place, column in enumerate(columns)})
    turned = codes[:, columns]
    order = np.lexsort(turned.T[::-1])
    records = turned[order]
    level_of = np.repeat(np.arange(len(plan.steps)), [len(step.columns) for step in plan.steps])
    depth = np.zeros(len(records), dtype=np.int64)  # the step at which a record parts from the one before it
    depth[1:] = level_of[(records[1:] != records[:-1]).argmax(axis=1)]
    height = max(1, BLOCK // plan.uniforms.shape[1])
    slices = [slice(start, start + height) for start in range(0, len(records), height)]
    found = np.empty((len(records), REPLICATES))
    found[order] = np.concatenate(_mapped(lambda some: _block(records[some], depth[some], plan), slices))
    return found


def _mapped(work: Callable[[slice], Floats], slices: Sequence[slice]) -> list[Floats]:
    workers = min(os.cpu_count() or 1, len(slices))
    if workers == 1:
        return [work(some) for some in slices]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(carried(work), slices))


def _block(records: Integers, depth: Integers, plan: _Plan) -> Floats:
    """Integrate sorted records, a step at a time over their distinct beginnings: (records, replicates)."""
    weight = np.ones((1, 1))
    means: Floats | None = None
    nodes = np.zeros(len(records), dtype=np.int64)  # of each record: its beginning among the distinct ones
    for level, step in enumerate(plan.steps):
        checkpoint()
        parts = depth <= level
        parts[0] = True
        parents, nodes = nodes[parts], np.cumsum(parts) - 1
        ahead = None if means is None else means[parents]  # (nodes, columns to come, points)
        low, high = _interval(records[parts], step, plan, ahead)
        mirrored = low + high > 0  # tails are exact on the left alone
        left, right = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
        below = ndtr(left)
        mass = ndtr(right) - below
        weight = weight[parents] * mass
        if step.later:
            drawn = np.clip(ndtri(below + plan.uniforms[level] * mass), left, right)
            means = np.where(mirrored, -drawn, drawn)[:, None, :] * step.ahead[:, None]
            if ahead is not None:
                means += ahead[:, len(step.columns) :]
    return np.asarray(weight[nodes].reshape(len(records), REPLICATES, -1).mean(axis=2))


def _interval(records: Integers, step: Step, plan: _Plan, ahead: Floats | None) -> tuple[Floats, Floats]:
    """Where the step's coordinate may lie for all columns to be within theirs: (nodes, points) an end."""
    every = []
    for place, (column, slope) in enumerate(zip(step.columns, step.slopes, strict=True)):
        code = records[:, plan.place[column]]
        ends = plan.cells.lower[column][code], plan.cells.upper[column][code]
        one, other = (end / slope if ahead is None else (end - ahead[:, place]) / slope for end in ends)
        every.append((one, other) if slope > 0 else (other, one))
    low, high = every[0]
    for one, other in every[1:]:
        low, high = np.maximum(low, one), np.minimum(high, other)
    if len(every) > 1:
        high = np.maximum(low, high)  # columns that contradict each other leave no room
    shape = (len(records), plan.uniforms.shape[1])
    return np.broadcast_to(low, shape), np.broadcast_to(high, shape)
