"""Correlation matrices: checked, projected from estimates, factorised one column at a time.

Source: Higham 2002 (nearest correlation matrix); Rocher, Hendrickx & de Montjoye 2019, eq. 9.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Floats

SINGULAR: Final = 1e-13  # conditional variance that counts as none
SLACK: Final = 1e-8  # by which a matrix may miss being a correlation
PROJECTIONS: Final = 500


@dataclass(frozen=True)
class Step:
    """One drawn coordinate: the columns it settles, and how much of it they and each later one hold."""

    columns: list[int]
    slopes: list[float]  # of the columns that it settles
    later: list[int]  # columns still to come, those of the next step first
    ahead: Floats  # (later columns,)


def checked_correlation(correlation: npt.ArrayLike, size: int) -> Floats:
    """Give the matrix as doubles, or refuse what is no correlation matrix of this size.

    >>> checked_correlation([[1, 0.5], [0.5, 1]], 2)[0, 1]
    np.float64(0.5)
    """
    matrix = np.asarray(correlation, dtype=np.float64)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        rule = f"correlation must be a {size} x {size} matrix of finite numbers"
        raise OutOfDomainError(f"{rule}, got {matrix.shape}; pass one row and one column for each coordinate")
    off = max(float(np.abs(matrix - matrix.T).max()), float(np.abs(np.diag(matrix) - 1).max()))
    if off > SLACK:
        rule = "correlation must be symmetric with ones on its diagonal"
        raise OutOfDomainError(f"{rule}, got a matrix that misses it by {off:.3g}; pass a correlation matrix")
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -SLACK:
        rule = f"correlation must have no negative eigenvalue, got {least:.3g}"
        raise OutOfDomainError(f"{rule}; project it with nearest_correlation")
    return matrix


def nearest_correlation(matrix: npt.ArrayLike) -> Floats:
    """Give the correlation matrix nearest to a symmetric one in the Frobenius norm.

    Projects on the matrices without negative eigenvalues and on those with ones on the diagonal in turn, with
    Dykstra's correction; a correlation matrix stays as it is.

    >>> nearest_correlation([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).round(4)[0]
    array([1.    , 0.7607, 0.1573])
    """
    found = np.array(matrix, dtype=np.float64)
    if np.linalg.eigvalsh(found)[0] >= 0 and (np.diag(found) == 1).all():
        return found
    correction = np.zeros_like(found)
    for _ in range(PROJECTIONS):
        shifted = found - correction
        values, vectors = np.linalg.eigh(shifted)
        raised = (vectors * np.maximum(values, 0)) @ vectors.T
        correction = raised - shifted
        change = float(np.abs(raised - found).max())
        found = raised.copy()
        np.fill_diagonal(found, 1.0)
        if change < SLACK / 100:
            break
    return _clean(found)


def _clean(matrix: Floats) -> Floats:
    """Take away what eigenvalues the projections left below zero, and round the diagonal to ones."""
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, 0)) @ vectors.T
    scale = np.sqrt(np.diag(raised))
    scaled = raised / np.outer(scale, scale)
    symmetric: Floats = (scaled + scaled.T) / 2
    np.fill_diagonal(symmetric, 1.0)
    return symmetric


def factorised(correlation: Floats, order: Sequence[int]) -> Iterator[Step]:
    """Factorise by Cholesky in this order; a column without variance of its own joins what settles it.

    >>> [step.columns for step in factorised(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1.0]]), [0, 1, 2])]
    [[0, 2], [1]]
    """
    triangle = np.zeros((len(correlation), len(order)))
    pivots: list[int] = []
    settled: dict[int, int] = {}
    for column in order:
        row = triangle[column]
        left = 1.0
        for step, pivot in enumerate(pivots):
            row[step] = (correlation[column, pivot] - triangle[pivot, :step] @ row[:step]) / triangle[
                pivot, step
            ]
            left = 1 - float(row @ row)
            if left < SINGULAR:
                settled[column] = step
                break
        else:
            settled[column] = len(pivots)
            row[len(pivots)] = np.sqrt(left)
            pivots.append(column)
    for step in range(len(pivots)):
        columns = [column for column in order if settled[column] == step]
        later = [
            column for after in range(step + 1, len(pivots)) for column in order if settled[column] == after
        ]
        yield Step(
            columns, [float(triangle[column, step]) for column in columns], later, triangle[later, step]
        )
