"""Scores of persons, drawn in where few people are unique.

ln ξ'/(1 − ξ') = l + (1 − n/N) (−0.19 − 0.19 l + 0.16 max(l, 0) ln Ξ/(1 − Ξ)), l the log-odds of ξ and Ξ the
share of unique people: a logistic regression of who is unique, each corpus with the same weight
(docs/accuracy_people.md). At N = n the score is what the sample shows.
Source: Platt 1999 (scores turned into chances).
"""

from typing import Final

import numpy as np

from reid_sql.domains import Floats

OFFSET: Final = -0.19
SLOPE: Final = 0.81
BY_UNIQUENESS: Final = 0.16  # of the slope above 1/2, for each unit of the log-odds of Ξ
FLATTEST: Final = 0.1  # slope above 1/2
NEAR: Final = 1e-6


def cautious(xi: Floats, uniqueness: float, fraction: float) -> Floats:
    """Draw scores in, of a population of which Ξ are unique and a fraction was sampled; 0 and 1 stay.

    >>> cautious(np.array([0.0, 0.2, 0.99, 1.0]), 0.1, 0.01).round(2).tolist()
    [0.0, 0.21, 0.87, 1.0]
    >>> cautious(np.array([0.2, 0.99]), 0.1, 1.0).round(2).tolist()
    [0.2, 0.99]
    """
    inside = np.clip(xi, 1e-15, 1 - 1e-15)
    log = np.log(inside) - np.log1p(-inside)
    share = min(max(uniqueness, NEAR), 1 - NEAR)
    above = min(max(SLOPE + BY_UNIQUENESS * float(np.log(share / (1 - share))), FLATTEST), 1.0)
    drawn = OFFSET + np.where(log > 0, above, SLOPE) * log
    beyond = 1 - min(max(fraction, 0.0), 1.0)
    found = 1 / (1 + np.exp(-(log + beyond * (drawn - log))))
    return np.where((xi <= 0) | (xi >= 1), xi, found)
