"""From the probability of a record's values to the chance that it is unique, and that a match on it is right.

Source: Rocher, Hendrickx & de Montjoye 2019, equations 2, 4 and 27. All three work in log space: the textbook
forms lose digits for rare records and can answer more than 1.
"""

import numpy as np
import numpy.typing as npt

from reid_sql.parameters import COUNT, PROBABILITY, Floats


def uniqueness_from_probability(p: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Probability ξ that a person of cell probability `p` is the only one of their kind among `n` people.

    ξ(p, n) = (1 − p)^(n−1), equation 2; exact at p = 0 and at p = 1, where it is 1 for n = 1 and 0 beyond.
    `p` and `n` broadcast. Refuses p outside [0, 1] and n below 1.

    >>> round(float(uniqueness_from_probability(0.01, 101)), 6)
    0.366032
    """
    p, n = np.broadcast_arrays(PROBABILITY.check("p", p), COUNT.check("n", n))
    with np.errstate(divide="ignore", invalid="ignore"):
        xi = np.exp((n - 1) * np.log1p(-p))
    return np.where(n == 1, 1.0, xi)  # 0 · log 0 is the limit 0 here: a lone person is unique


def correctness_from_probability(p: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Probability κ that a match on a person of cell probability `p` among `n` people is the right person.

    κ(p, n) = (1 − (1 − p)^n) / (n p), equation 27; κ(0, n) = 1.
    `p` and `n` broadcast. Refuses p outside [0, 1] and n below 1.

    >>> round(float(correctness_from_probability(0.01, 101)), 6)
    0.631315
    """
    p, n = np.broadcast_arrays(PROBABILITY.check("p", p), COUNT.check("n", n))
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = -np.expm1(n * np.log1p(-p)) / (n * p)
    return np.where(n * p == 0, 1.0, np.minimum(kappa, 1.0))


def correctness_from_uniqueness(xi: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Probability κ that a match is right, for a person who is unique among `n` people with probability `xi`.

    κ = (1 − ξ^(n/(n−1))) / (n (1 − ξ^(1/(n−1)))), equation 4; κ = 1 at ξ = 1 and at n = 1, and 1/n at ξ = 0.
    `xi` and `n` broadcast. Refuses xi outside [0, 1] and n below 1.

    >>> round(float(correctness_from_uniqueness(0.58, 54805)), 2)
    0.77
    """
    xi, n = np.broadcast_arrays(PROBABILITY.check("xi", xi), COUNT.check("n", n))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log(xi) / (n - 1)  # log(1 − p)
        kappa = np.expm1(n * step) / (n * np.expm1(step))
    return np.where((xi == 1) | (n == 1) | (step == 0), 1.0, np.minimum(kappa, 1.0))
