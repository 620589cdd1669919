"""Unicity: the share of people whom a few of their rows single out, from how many people match them.

An attacker knows p distinct rows of a person, chosen at random, and all people who have them all match. The
unicity is the share of (person, rows) for which the person alone does. Source: de Montjoye, Hidalgo,
Verleysen & Blondel 2013, and de Montjoye, Radaelli, Singh & Pentland 2015.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS
from reid_sql.models.classes.matching import Matches, estimate_mean, share_interval
from reid_sql.parameters import Floats

STATUS_FEWER_ROWS: Final = "fewer_rows: nobody has so many rows, so all rows of each person are known"


@dataclass(frozen=True)
class Unicity:
    """What an attacker gets right who knows so many rows of a person; `points` is None for all rows."""

    points: int | None
    people: int
    uniqueness: float
    uniqueness_low: float
    uniqueness_high: float
    standard_error: float
    correctness: float
    correctness_low: float
    correctness_high: float
    correctness_standard_error: float
    median_matches: int
    people_with_fewer: int
    draws: int
    status: str


def unicity_by_points(matches: Matches) -> list[Unicity]:
    """Return the unicity at each number of points, in order. Refuses an empty table.

    >>> people, none = np.array([3, 3]), np.array([0, 0])
    >>> two_are_alike = Matches(np.array([1, 1]), np.array([1, 2]), np.array([1.0, 2.0]), people, none, none)
    >>> [answer] = unicity_by_points(two_are_alike)
    >>> round(answer.uniqueness, 3), round(answer.correctness, 3), answer.median_matches
    (0.333, 0.667, 2)
    """
    if not len(matches.people):
        raise NoRecordsError(NO_RECORDS)
    return [_unicity(matches, points) for points in np.unique(matches.points).tolist()]


def _unicity(matches: Matches, points: int) -> Unicity:
    kinds = matches.points == points
    size, weight = matches.matches[kinds], matches.weight[kinds]
    people, fewer, draws = (
        int(each[kinds][0]) for each in (matches.people, matches.people_with_fewer, matches.draws)
    )
    order = np.argsort(size, kind="stable")
    # Sums of weights such as 1/3 are rounded: half of the targets is half to 9 digits.
    half = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2 * (1 - 1e-9))
    return Unicity(
        points or None,
        people,
        *_estimate((size == 1).astype(np.float64), weight, draws),
        *_estimate(1 / size, weight, draws),
        int(size[order][half]),
        fewer,
        draws,
        STATUS_FEWER_ROWS if fewer == people else "ok",
    )


def _estimate(values: Floats, weight: Floats, draws: int) -> tuple[float, float, float, float]:
    """Return the mean, its interval and its standard error, as if one more draw were 0 and one more were 1.

    Else draws that are all alike would have none. Source: Agresti & Coull 1998.
    """
    mean, _ = estimate_mean(values, weight, draws)
    low, high = share_interval(values, weight, draws)
    if not draws:
        return mean, low, high, 0.0
    _, error = estimate_mean(np.append(values, [0.0, 1.0]), np.append(weight, [1.0, 1.0]), draws + 2)
    return mean, low, high, error
