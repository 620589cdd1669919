"""Probabilities of rectangles under a normal law of any dimension, by the integration of the copula."""

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.numerics.rectangle import (
    MAX_SIGMAS,
    Cells,
    Estimates,
    Precision,
    check_correlation,
    integrate,
)
from reid_sql.models.numerics.special_functions import ndtr


def rectangle_probabilities(
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    correlation: npt.ArrayLike,
    precision: Precision | None = None,
) -> Estimates:
    """Probability that lower < Z <= upper in every coordinate of a normal vector Z of this correlation.

    `lower` and `upper` are (rectangles, dimensions), infinities allowed; `correlation` may be singular. The
    coordinate with the narrowest interval on average comes first. Refuses bounds out of order and what is no
    correlation matrix.
    """
    low, high = (
        np.atleast_2d(np.asarray(bound, dtype=np.float64)).clip(-MAX_SIGMAS, MAX_SIGMAS)
        for bound in (lower, upper)
    )
    if low.shape != high.shape or not (low <= high).all():
        raise OutOfDomainError(
            "lower must be at most upper, got bounds out of order; pass (rectangles, dimensions) of each"
        )
    matrix = check_correlation(correlation, low.shape[1])
    pairs = [
        np.unique(np.stack(pair), axis=1, return_inverse=True)
        for pair in zip(low.T, high.T, strict=True)
    ]
    codes = np.stack([inverse.ravel() for _, inverse in pairs], axis=1).astype(np.int64)
    cells = Cells(
        [bounds[0][:, None] for bounds, _ in pairs], [bounds[1][:, None] for bounds, _ in pairs]
    )
    order = np.argsort((ndtr(high) - ndtr(low)).mean(axis=0), kind="stable").tolist()
    return integrate(codes, lambda _: cells, matrix, order, precision or Precision())
