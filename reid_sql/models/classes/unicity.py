"""Unicity: the share of people whom a few of their rows single out, from how many people match them.

An attacker knows p distinct rows of a person, chosen at random, and all people who have them all match. The
unicity is the share of (person, rows) for which the person alone does. Source: de Montjoye, Hidalgo,
Verleysen & Blondel 2013, and de Montjoye, Radaelli, Singh & Pentland 2015.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.matching import Matches, estimate_mean, share_interval
from reid_sql.models.pyc.penalized_law import forecast_uniqueness
from reid_sql.parameters import POPULATION, Floats, Integers, Number

MIN_PEOPLE_FORECAST: Final = 60  # as in the smallest samples of which the interval was tested
MAX_TIMES_FORECAST: Final = 50.0  # as the largest populations
TARGET_POPULATION: Final = Number(
    POPULATION.rule, POPULATION.remedy, POPULATION.low, POPULATION.high, optional=True
)
TargetPopulation = Annotated[float | None, TARGET_POPULATION]
STATUS_FEW_PEOPLE: Final = f"few_people: fewer than {MIN_PEOPLE_FORECAST} people determine only an upper end for the population"
STATUS_BEYOND: Final = f"far_beyond: the interval was tested up to {MAX_TIMES_FORECAST:g} times the people of the table"
STATUS_FEWER_ROWS: Final = (
    "fewer_rows: nobody has so many rows, so all rows of each person are known"
)


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
    resolution: str | None
    population_uniqueness: float | None
    population_uniqueness_low: float | None
    population_uniqueness_high: float | None
    status: str


def unicity_by_points(matches: Matches, population: float | None = None) -> list[Unicity]:
    """Return the unicity at each number of points, in order, also in a population that the table samples.

    Refuses an empty table, and a population smaller than it.

    >>> people, none = np.array([3, 3]), np.array([0, 0])
    >>> size, weight = np.array([1, 2]), np.array([1.0, 2.0])
    >>> two_are_alike = Matches(none + 1, size, weight, people, none, none, none, [None, None])
    >>> [answer] = unicity_by_points(two_are_alike)
    >>> round(answer.uniqueness, 3), round(answer.correctness, 3), answer.median_matches
    (0.333, 0.667, 2)
    """
    rows = []
    for each in matches.divide():
        size, weight, people, draws = each.matches, each.weight, each.people, each.draws
        order = np.argsort(size, kind="stable")
        # Sums of weights such as 1/3 are rounded: half of the targets is half to 9 digits.
        half = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2 * (1 - 1e-9))
        unique = _estimate((size == 1).astype(np.float64), weight, draws)
        statuses = [STATUS_FEWER_ROWS] if each.people_with_fewer == people else []
        share: tuple[float | None, float | None, float | None] = (None, None, None)
        if population is not None:
            share, doubts = _forecast(size, weight, people, draws, population, unique[:3])
            statuses += doubts
        rows.append(
            Unicity(
                each.points,
                people,
                *unique,
                *_estimate(1 / size, weight, draws),
                int(size[order][half]),
                each.people_with_fewer,
                draws,
                each.resolution,
                *share,
                "; ".join(statuses) or OK,
            )
        )
    return rows


def _forecast(  # noqa: PLR0917 - what was counted
    size: Integers,
    weight: Floats,
    people: int,
    draws: int,
    population: float,
    counted: tuple[float, float, float],
) -> tuple[tuple[float | None, float, float], list[str]]:
    """Forecast the uniqueness with its interval, and list doubts; of all people it is what was counted."""
    if population < people:
        raise OutOfDomainError(
            f"population must be at least {people:,} (the number of people), got {population:,.0f}; pass how many people the table is a sample of"
        )
    if population == people:
        return counted, []
    if people < MIN_PEOPLE_FORECAST:
        alone = (size == 1).astype(np.float64)
        _, high = share_interval(alone, weight * (people / weight.sum()), people)
        return (None, 0.0, high), [STATUS_FEW_PEOPLE]
    targets = min(people, draws) if draws else people
    share = forecast_uniqueness(size, weight, people, targets, population)
    beyond = [STATUS_BEYOND] * (population > MAX_TIMES_FORECAST * people)
    return (share.estimate, share.low, share.high), beyond


def _estimate(values: Floats, weight: Floats, draws: int) -> tuple[float, float, float, float]:
    """Return the mean, its interval and its standard error, as if one more draw were 0 and one more were 1.

    Else draws that are all alike would have none. Source: Agresti & Coull 1998.
    """
    mean, _ = estimate_mean(values, weight, draws)
    low, high = share_interval(values, weight, draws)
    if not draws:
        return mean, low, high, 0.0
    _, error = estimate_mean(
        np.append(values, [0.0, 1.0]), np.append(weight, [1.0, 1.0]), draws + 2
    )
    return mean, low, high, error
