"""Scores of persons, drawn in where few people are unique.

ln ξ'/(1 − ξ') = l + (1 − n/N) (−0.19 − 0.19 l + 0.16 max(l, 0) ln Ξ/(1 − Ξ)), l the log-odds of ξ and Ξ the
share of unique people: a logistic regression of who is unique, each corpus with the same weight
(docs/accuracy_people.md). At N = n the score is what the sample shows.
Source: Platt 1999 (scores turned into chances).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.parameters import Floats

FLATTEST: Final = 0.1  # slope above 1/2
NEAR: Final = 1e-6


@dataclass(frozen=True)
class Caution:
    """What tables of people taught: offset, slope, and what Ξ's log-odds add to the slope above 1/2."""

    offset: float
    slope: float
    by_uniqueness: float


LEARNT: Final = Caution(-0.19, 0.81, 0.16)  # in benchmarks/accuracy/people_persons.py


def cautious(xi: Floats, uniqueness: float, fraction: float, learnt: Caution = LEARNT) -> Floats:
    """Draw scores in, of a population of which Ξ are unique and a fraction was sampled; 0 and 1 stay.

    >>> cautious(np.array([0.0, 0.2, 0.99, 1.0]), 0.1, 0.01).round(2).tolist()
    [0.0, 0.21, 0.87, 1.0]
    >>> cautious(np.array([0.2, 0.99]), 0.1, 1.0).round(2).tolist()
    [0.2, 0.99]
    """
    log = odds(xi, 1e-15)
    above = learnt.slope + learnt.by_uniqueness * float(odds(np.array(uniqueness), NEAR))
    above = min(max(above, FLATTEST), 1.0)
    drawn = learnt.offset + np.where(log > 0, above, learnt.slope) * log
    beyond = 1 - min(max(fraction, 0.0), 1.0)
    found = 1 / (1 + np.exp(-(log + beyond * (drawn - log))))
    return np.where((xi <= 0) | (xi >= 1), xi, found)


def odds(shares: Floats, near: float) -> Floats:
    """Log-odds of shares kept so far from 0 and 1.

    >>> odds(np.array([0.5, 1.0]), 0.1).round(2).tolist()
    [0.0, 2.2]
    """
    inside = np.clip(shares, near, 1 - near)
    return np.asarray(np.log(inside) - np.log1p(-inside))
