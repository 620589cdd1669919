"""Probability of a rectangle under a normal distribution, for many that share one correlation matrix.

Three steps: check and factorize the correlation matrix, draw the points of a lattice, and integrate one
coordinate after the other. A rectangle's figures depend on it and the seed alone: not on the others, their
order or the number of threads.
Sources: Higham 2002 (nearest correlation matrix); Rocher, Hendrickx & de Montjoye 2019, eq. 9; Korobov 1959
(rank-1 lattices); Hickernell 2002 (folding); Genz 1992 and Genz & Bretz 2002 (sequential conditioning).
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.interruption import carried, checkpoint
from reid_sql.models.numerics.special_functions import ndtr, ndtri
from reid_sql.parameters import Floats, Integers

# Correlation matrices: checked, projected from estimates, factorised one column at a time.
# Source: Higham 2002 (nearest correlation matrix); Rocher, Hendrickx & de Montjoye 2019, eq. 9.

MIN_CONDITIONAL_VARIANCE: Final = 1e-13  # conditional variance that counts as none
CORRELATION_TOLERANCE: Final = 1e-8  # by which a matrix may miss being a correlation
MAX_PROJECTIONS: Final = 500


@dataclass(frozen=True)
class Step:
    """One drawn coordinate: the columns that it determines, and its coefficients in them and later ones."""

    columns: list[int]
    slopes: list[float]  # of the columns that it determines
    later: list[int]  # columns still to come, those of the next step first
    ahead: Floats  # (later columns,)


def check_correlation(correlation: npt.ArrayLike, size: int) -> Floats:
    """Give the matrix as doubles, or refuse what is no correlation matrix of this size.

    >>> check_correlation([[1, 0.5], [0.5, 1]], 2)[0, 1]
    np.float64(0.5)
    """
    matrix = np.asarray(correlation, dtype=np.float64)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise OutOfDomainError(
            f"correlation must be a {size} x {size} matrix of finite numbers, got {matrix.shape}; pass one row and one column for each coordinate"
        )
    off = max(float(np.abs(matrix - matrix.T).max()), float(np.abs(np.diag(matrix) - 1).max()))
    if off > CORRELATION_TOLERANCE:
        raise OutOfDomainError(
            f"correlation must be symmetric with ones on its diagonal, got a matrix that misses it by {off:.3g}; pass a correlation matrix"
        )
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -CORRELATION_TOLERANCE:
        raise OutOfDomainError(
            f"correlation must have no negative eigenvalue, got {least:.3g}; project it with nearest_correlation"
        )
    return matrix


def nearest_correlation(matrix: npt.ArrayLike) -> Floats:
    """Give the correlation matrix nearest to a symmetric one in the Frobenius norm.

    Projects on the matrices without negative eigenvalues and on those with ones on the diagonal in turn, with
    Dykstra's correction; a correlation matrix stays as it is.

    >>> nearest_correlation([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).round(4)[0]
    array([1.    , 0.7607, 0.1573])
    """
    corrected = np.array(matrix, dtype=np.float64)
    if np.linalg.eigvalsh(corrected)[0] >= 0 and (np.diag(corrected) == 1).all():
        return corrected
    correction = np.zeros_like(corrected)
    for _ in range(MAX_PROJECTIONS):
        shifted = corrected - correction
        raised = _raise_eigenvalues(shifted)
        correction = raised - shifted
        change = float(np.abs(raised - corrected).max())
        corrected = raised.copy()
        np.fill_diagonal(corrected, 1.0)
        if change < CORRELATION_TOLERANCE / 100:
            break
    # take away what eigenvalues the projections left below zero, and round the diagonal to ones
    raised = _raise_eigenvalues(corrected)
    scale = np.sqrt(np.diag(raised))
    scaled = raised / np.outer(scale, scale)
    symmetric: Floats = (scaled + scaled.T) / 2
    np.fill_diagonal(symmetric, 1.0)
    return symmetric


def _raise_eigenvalues(matrix: Floats) -> Floats:
    """The nearest matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def factorize(correlation: Floats, order: Sequence[int]) -> Iterator[Step]:
    """Factorize by Cholesky in this order; a column without own variance joins the step that determines it.

    >>> [step.columns for step in factorize(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1.0]]), [0, 1, 2])]
    [[0, 2], [1]]
    """
    triangle = np.zeros((len(correlation), len(order)))
    pivots: list[int] = []
    step_of: dict[int, int] = {}
    for column in order:
        row = triangle[column]
        left = 1.0
        for step, pivot in enumerate(pivots):
            row[step] = (
                correlation[column, pivot] - triangle[pivot, :step] @ row[:step]
            ) / triangle[pivot, step]
            left = 1 - float(row @ row)
            if left < MIN_CONDITIONAL_VARIANCE:
                step_of[column] = step
                break
        else:
            step_of[column] = len(pivots)
            row[len(pivots)] = np.sqrt(left)
            pivots.append(column)
    for step in range(len(pivots)):
        columns = [column for column in order if step_of[column] == step]
        later = sorted(
            (column for column in order if step_of[column] > step), key=step_of.__getitem__
        )
        yield Step(
            columns,
            [float(triangle[column, step]) for column in columns],
            later,
            triangle[later, step],
        )


# Randomly shifted lattice points in the unit cube: they fill it far more evenly than random points do.
# Source: Korobov 1959 (rank-1 lattices); Hickernell 2002 (folding). A generator is the odd number whose
# lattice has the least mean square error for smooth integrands over 16 coordinates of falling weight.

REPLICATES: Final = 8  # lattices that a lattice consists of: their spread bounds its error
GENERATORS: Final = {
    128: 61,
    256: 43,
    512: 227,
    1024: 43,
    2048: 1289,
    4096: 2473,
    8192: 5499,
    16384: 7401,
    32768: 557,
    65536: 9929,
}
CUBE_MARGIN: Final = 1e-15  # no point lies on the faces of the cube


def lattice_points(dimensions: int, points: int, seed: int) -> Floats:
    """Points of one randomly shifted lattice, its REPLICATES parts each together: (dimensions, points).

    `points` is a power of two from 128 to 65,536. The parts are lattices shifted against each other, so that
    the whole is nearer to the integral than their spread says.

    >>> lattice_points(2, 256, seed=0).shape
    (2, 256)
    """
    steps = np.array([pow(GENERATORS[points], power, points) for power in range(dimensions)])[
        :, None
    ]
    places = np.arange(points).reshape(-1, REPLICATES).T.ravel()
    shifts = np.random.default_rng([seed, points]).random((dimensions, 1))
    folded = np.abs(2 * ((steps * places / points + shifts) % 1) - 1)
    return np.clip(folded, CUBE_MARGIN, 1 - CUBE_MARGIN)


# P(l < Z ≤ u) by sequential conditioning (Genz 1992; Genz & Bretz 2002). With the Cholesky factor L of the
# correlation matrix, Z is a sum of independent standard normal e, of which each has its limits given those
# before:
#
#     Z_j = Σ_{i≤j} L_ji e_i
#     a_j = (l_j − Σ_{i<j} L_ji e_i) / L_jj
#     b_j = (u_j − Σ_{i<j} L_ji e_i) / L_jj
#
# The chance that e_j lies between a_j and b_j is m_j, and a uniform w_j chooses e_j between them:
#
#     m_j = Φ(b_j) − Φ(a_j)
#     e_j = Φ⁻¹(Φ(a_j) + w_j m_j)
#     P(l < Z ≤ u) = E Π_j m_j over uniform w
#
# The mean is over the points of a randomised lattice. Rectangles are sorted, so that those that begin alike
# share their first coordinates; blocks fit the cache, over all cores.

# standard deviations that count as infinite: the normal tail beyond is 0 in doubles
MAX_SIGMAS: Final = 40.0
POINTS_PER_BLOCK: Final = 1 << 14  # rectangles times points that are worked on together
POINTS_FACTOR: Final = 2  # times the points where the error is too large
MIN_PROBABILITY: Final = float(np.finfo(np.float64).tiny)


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
    """Probabilities and the standard errors of their integration."""

    probability: Floats  # (rectangles,)
    standard_error: Floats  # (rectangles,)


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
    steps = list(factorize(correlation, order))
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    probability, error = np.empty(len(distinct)), np.zeros(len(distinct))
    rough, points = np.arange(len(distinct)), precision.points
    while len(rough):
        plan = _Plan(cells(points), steps, lattice_points(len(steps), points, precision.seed))
        replicates = _integrate_distinct(distinct[rough], plan)
        probability[rough] = np.maximum(replicates.mean(axis=1), MIN_PROBABILITY)
        spread = replicates.std(axis=1, ddof=1) / np.sqrt(REPLICATES)
        # Replicates that agree by chance must not end it
        error[rough] = np.maximum(spread, error[rough] / POINTS_FACTOR)
        points *= POINTS_FACTOR
        if points > precision.most:
            break
        enough = np.maximum(precision.relative_error * probability[rough], precision.absolute_error)
        rough = rough[error[rough] > enough]
    return Estimates(probability[inverse.ravel()], error[inverse.ravel()])


def _integrate_distinct(codes: Integers, plan: _Plan) -> Floats:
    """Integrate distinct records at one set of points: (records, replicates)."""
    columns = [column for step in plan.steps for column in step.columns]
    plan.place.update({column: place for place, column in enumerate(columns)})
    turned = codes[:, columns]
    order = np.lexsort(turned.T[::-1])
    records = turned[order]
    level_of = np.repeat(np.arange(len(plan.steps)), [len(step.columns) for step in plan.steps])
    # the step at which a record parts from the one before it
    depth = np.zeros(len(records), dtype=np.int64)
    depth[1:] = level_of[(records[1:] != records[:-1]).argmax(axis=1)]
    height = max(1, POINTS_PER_BLOCK // plan.uniforms.shape[1])
    slices = [slice(start, start + height) for start in range(0, len(records), height)]
    probabilities = np.empty((len(records), REPLICATES))

    def integrate_block(some: slice) -> Floats:
        return _integrate_block(records[some], depth[some], plan)

    workers = min(os.cpu_count() or 1, len(slices))
    if workers == 1:
        probabilities[order] = np.concatenate(list(map(integrate_block, slices)))
    else:
        with ThreadPoolExecutor(workers) as pool:
            blocks = pool.map(carried(integrate_block), slices)
            probabilities[order] = np.concatenate(list(blocks))
    return probabilities


def _integrate_block(records: Integers, depth: Integers, plan: _Plan) -> Floats:
    """Integrate sorted records, a step at a time over their distinct beginnings: (records, replicates)."""
    weight = np.ones((1, 1))
    means: Floats | None = None
    # of each record: its beginning among the distinct ones
    nodes = np.zeros(len(records), dtype=np.int64)
    for level, step in enumerate(plan.steps):
        checkpoint()
        parts = depth <= level
        parts[0] = True
        parents, nodes = nodes[parts], np.cumsum(parts) - 1
        ahead = None if means is None else means[parents]  # (nodes, columns to come, points)
        low, high = _step_interval(records[parts], step, plan, ahead)
        mirrored = low + high > 0  # by symmetry, as Φ keeps its digits in the left tail alone
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


def _step_interval(
    records: Integers, step: Step, plan: _Plan, ahead: Floats | None
) -> tuple[Floats, Floats]:
    """Intersect the intervals that the step's columns leave its coordinate: (nodes, points) an end."""
    intervals = []
    for place, (column, slope) in enumerate(zip(step.columns, step.slopes, strict=True)):
        code = records[:, plan.place[column]]
        ends = plan.cells.lower[column][code], plan.cells.upper[column][code]
        one, other = (
            end / slope if ahead is None else (end - ahead[:, place]) / slope for end in ends
        )
        intervals.append((one, other) if slope > 0 else (other, one))
    low, high = intervals[0]
    for one, other in intervals[1:]:
        low, high = np.maximum(low, one), np.minimum(high, other)
    if len(intervals) > 1:
        high = np.maximum(low, high)  # columns that contradict each other have no common interval
    shape = (len(records), plan.uniforms.shape[1])
    return np.broadcast_to(low, shape), np.broadcast_to(high, shape)
