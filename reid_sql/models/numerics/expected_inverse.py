"""Mean of 1/F for a person's class of F people, of whom f are in the sample and the others are random.

1/F is the chance that a match on the person is right. Both means are integrals of a generating function over
[0, 1], which Gauss–Legendre nodes take where it has its mass, to 1e-12.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.parameters import Floats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
REACH: Final = 40.0  # e^−40 is nothing beside the rest
TINY: Final = 1e-300
CHUNK: Final = 65_536  # classes at a time


def poisson(seen: npt.ArrayLike, mean: npt.ArrayLike) -> Floats:
    """Mean of 1/(f + X), X Poisson: ∫ (1 − s)^(f−1) e^(−m s) ds over 0 < s < 1; `seen` f ≥ 1, `mean` m ≥ 0.

    >>> poisson([1, 1, 4], [0.0, 2.0, 0.0]).round(6).tolist()  # (1 − e^−2) / 2
    [1.0, 0.432332, 0.25]
    """
    f, m = np.broadcast_arrays(np.asarray(seen, dtype=np.float64), np.asarray(mean, dtype=np.float64))
    return _in_chunks(_poisson, f, m)


def negative_binomial(seen: npt.ArrayLike, shape: npt.ArrayLike, chance: npt.ArrayLike) -> Floats:
    """Mean of 1/(f + X), X negative binomial with `shape` r ≥ f, `chance` p in (0, 1]; `seen` f ≥ 1.

    `chance` is that of success. With r = f it is the individual risk of Benedetti and Franconi.

    p/(1 − p) ln(1/p), 1/5 and 1 − ln 2:

    >>> negative_binomial([1, 5, 2], [1, 5, 2], [0.1, 1.0, 0.5]).round(6).tolist()
    [0.255843, 0.2, 0.306853]
    """
    f, r, p = np.broadcast_arrays(*(np.asarray(given, dtype=np.float64) for given in (seen, shape, chance)))
    return _in_chunks(_negative_binomial, f, r, p)


def _poisson(f: Floats, m: Floats) -> Floats:
    rate = np.maximum(m + f - 1, REACH)
    s = REACH / rate * (NODES[:, None] + 1) / 2  # (nodes, classes)
    return np.asarray(WEIGHTS @ np.exp((f - 1) * np.log1p(-s) - m * s) * REACH / rate / 2)


def _negative_binomial(f: Floats, r: Floats, p: Floats) -> Floats:
    """∫ (1 − s)^(f−1) (1 + s q/p)^(−r) ds, with e^y = 1 + s q/p for s.

    The mass is then within a few units of the rate.
    """
    checkpoint()
    q = np.where(p < 1, 1 - p, 1.0)
    odds = p / q
    end = np.minimum(-np.log(p), REACH / np.maximum(r - 1 + (f - 1) * odds, TINY))
    y = end * (NODES[:, None] + 1) / 2  # (nodes, classes)
    s = np.minimum(np.expm1(y) * odds, 1 - np.finfo(float).epsneg)
    mean = odds * end / 2 * (WEIGHTS @ np.exp((f - 1) * np.log1p(-s) - (r - 1) * y))
    return np.where(p < 1, mean, 1 / f)


def _in_chunks(mean: Callable[..., Floats], *given: Floats) -> Floats:
    flat = [values.ravel() for values in given]
    parts = [
        mean(*(values[start : start + CHUNK] for values in flat)) for start in range(0, flat[0].size, CHUNK)
    ]
    return np.concatenate([np.empty(0), *parts]).reshape(given[0].shape)
