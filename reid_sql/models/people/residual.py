"""What a cell probability says of the others in the cell, where real cells scatter around the model's.

The people of a cell of probability q are N q G, G gamma of mean 1 and shape a. For one of them G is drawn in
proportion to G, so that the number of others is negative binomial of shape a + 1. a = ∞ is no scatter.
Source: Skinner & Shlomo 2008; Carota et al. 2015 (the same idea as random effects of a Dirichlet process).
"""

import numpy as np
import numpy.typing as npt

from reid_sql.models.numerics import quadrature
from reid_sql.models.numerics.scipy_functions import betainc
from reid_sql.parameters import Floats


def uniqueness(q: npt.ArrayLike, shape: npt.ArrayLike, people: float) -> Floats:
    """Chance that a person of the cell is the only one in it: (1 + N q/a)^−(a+1).

    >>> uniqueness(0.01, 1.0, 100).round(4).tolist()
    0.25
    """
    a = np.asarray(shape, dtype=np.float64)
    return np.asarray(np.exp(-(a + 1) * np.log1p(people * np.asarray(q) / a)))


def correctness(q: npt.ArrayLike, shape: npt.ArrayLike, people: float) -> Floats:
    """Mean of 1/F for a person of the cell: (1 − (1 + N q/a)^−a) / (N q).

    >>> correctness(0.01, 1.0, 100).round(4).tolist()
    0.5
    """
    a, mean = (
        np.asarray(shape, dtype=np.float64),
        np.maximum(people * np.asarray(q, dtype=np.float64), 1e-300),
    )
    return np.asarray(np.where(mean < 1e-9, 1.0, -np.expm1(-a * np.log1p(mean / a)) / mean))  # noqa: PLR2004


def below(q: npt.ArrayLike, shape: npt.ArrayLike, people: float, k: int) -> Floats:
    """Chance that a person of the cell is in a class of fewer than k: at most k − 2 others.

    >>> below(0.01, 1.0, 100, 2).round(4).tolist(), below(0.01, 1.0, 100, 1).tolist()
    (0.25, 0.0)
    """
    a = np.asarray(shape, dtype=np.float64)
    mean = people * np.asarray(q, dtype=np.float64)
    if k <= 1:
        return np.zeros(np.broadcast(a, mean).shape)
    return np.asarray(betainc(a + 1, k - 1.0, a / (a + mean)))


def uniqueness_known(q: npt.ArrayLike, shape: npt.ArrayLike, records: float, people: float) -> Floats:
    """Chance that a person is the only one, where the sample of n shows nobody else of the cell.

    ((a + n q) / (a + N q))^(a+1).

    >>> uniqueness_known(0.01, 1.0, 100, 100).tolist(), uniqueness_known(0.01, 1.0, 100, 300).tolist()
    (1.0, 0.25)
    """
    a, q = np.asarray(shape, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return np.asarray(np.exp((a + 1) * (np.log1p(records * q / a) - np.log1p(people * q / a))))


def correctness_known(
    seen: npt.ArrayLike, q: npt.ArrayLike, shape: npt.ArrayLike, records: float, people: float
) -> Floats:
    """Mean of 1/F for a person where `seen` people of the cell, the person too, are known, others random.

    >>> known, unknown = correctness_known(1, 0.01, 1.0, 0, 100), correctness(0.01, 1.0, 100)
    >>> round(float(known), 6) == round(float(unknown), 6)
    True
    """
    a, q = np.asarray(shape, dtype=np.float64), np.asarray(q, dtype=np.float64)
    chance = (a + records * q) / (a + people * q)
    return quadrature.expected_inverse_negative_binomial(seen, a + np.asarray(seen), chance)


def below_known(
    seen: npt.ArrayLike, q: npt.ArrayLike, shape: npt.ArrayLike, sizes: tuple[float, float], k: int
) -> Floats:
    """Chance of a class of fewer than k for a person where `seen` people of the cell are known.

    The person is one of the known; `sizes` are n and N.

    >>> below_known([1, 3], 0.01, 1.0, (100, 300), 3).round(4).tolist()
    [0.5, 0.0]
    """
    a, q = np.asarray(shape, dtype=np.float64), np.asarray(q, dtype=np.float64)
    records, people = sizes
    known = np.asarray(seen, dtype=np.float64)
    chance = (a + records * q) / (a + people * q)
    room = np.maximum(k - known, 1.0)
    return np.asarray(np.where(known < k, betainc(a + known, room, chance), 0.0))
