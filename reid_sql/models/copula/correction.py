"""Scores of a table's records brought in line with the uniqueness of the population under the same model.

Source: Rocher, Hendrickx & de Montjoye 2019, supplementary note 2, eq. 16.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.models.numerics import scipy_functions
from reid_sql.parameters import Floats

FARTHEST: Final = 9.0  # of the logarithm of the exponent


@dataclass(frozen=True)
class ScoredClasses:
    """Distinct records by their numbers of records, with ξ of each."""

    class_size: Integers
    uniqueness_xi: Floats


@dataclass(frozen=True)
class Correction:
    """Exponent a of ξ* = ξ^a, the mean ξ of the records before it, and the mean of ξ*, the uniqueness."""

    exponent: float
    mean_xi: float
    uniqueness: float
    status: str


def correct(scored: ScoredClasses, uniqueness: float) -> Correction:
    """Find the exponent; 1, with the reason as status, where no exponent gives that mean.

    >>> scored = ScoredClasses(np.array([1, 1]), np.array([0.25, 1.0]))
    >>> round(correct(scored, 0.75).exponent, 4)
    0.5
    """
    if not len(scored.class_size):
        raise NoRecordsError(NO_RECORDS)
    share = np.asarray(scored.class_size) / np.sum(scored.class_size)
    xi = np.asarray(scored.uniqueness_xi, dtype=np.float64)

    def excess(at: float) -> float:
        return float(share @ xi ** np.exp(at)) - uniqueness

    if not excess(-FARTHEST) > 0 > excess(FARTHEST):
        return Correction(
            1.0,
            float(share @ xi),
            uniqueness,
            "no exponent gives this uniqueness; scores are left as they are",
        )
    return Correction(
        float(np.exp(scipy_functions.find_root(excess, -FARTHEST, FARTHEST, xtol=1e-12))),
        float(share @ xi),
        uniqueness,
        "ok",
    )
