"""Sparse matching: an attacker who knows some points of a person's set, such as a few purchases of a basket.

All whose set holds the known points match, and the attacker names one of them. In a random gallery of n
people that holds the target, a target with m matches among all N has a hypergeometric number of rivals, and
the chance of naming the right one is E[1/(1 + rivals)] = N/(n m) · [1 − C(N − m, n)/C(N, n)]. Source: Rocher,
Hendrickx & de Montjoye 2025 (sparse matching), with the expectation over galleries taken exactly.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.classes.rarefaction import default_sizes, log_missed
from reid_sql.parameters import Floats, Number

NO_PEOPLE: Final = "a curve needs at least one person, got an empty table; check the table and its filters"


@dataclass(frozen=True)
class Matches:
    """How many people match what an attacker knows, with the weight of the targets for whom so many do."""

    matches: Integers  # (kinds,)
    weight: Floats  # (kinds,): targets, or draws of a target and its known points
    people: Integers  # (kinds,): all the people, alike in each row
    draws: (
        Integers  # (kinds,): how many draws the weights count, alike in each row; 0 where nothing was drawn
    )


@dataclass(frozen=True)
class SparsePoint:
    """Expected correctness in a random gallery of n people; `draws` is 0 where it is exact."""

    n: int
    correctness: float
    standard_error: float
    people: int
    draws: int


def curve(matches: Matches, sizes: npt.ArrayLike | None = None) -> list[SparsePoint]:
    """Correctness at each size; at default_sizes where there are none.

    The standard error is that of the draws, 0 where every combination of points was counted.
    Refuses sizes that are not whole numbers from 1 to the number of people, and an empty table.

    >>> everyone_has_a_twin = Matches(np.array([2]), np.array([4.0]), np.array([4]), np.array([0]))
    >>> [round(point.correctness, 4) for point in curve(everyone_has_a_twin, [1, 2, 4])]
    [1.0, 0.8333, 0.5]
    """
    if not len(matches.people):
        raise NoRecordsError(NO_PEOPLE)
    people, draws = int(matches.people[0]), int(matches.draws[0])
    inside = Number(
        f"whole numbers from 1 to the {people} people of the table",
        "pass sizes of galleries of them",
        1,
        people,
        whole=True,
    )
    at = (
        default_sizes(people)
        if sizes is None
        else inside.check("sizes", np.atleast_1d(np.asarray(sizes, dtype=np.float64)))
    )
    return [SparsePoint(int(n), *_mean(matches, float(n), people, draws), people, draws) for n in at]


def _mean(matches: Matches, n: float, people: int, draws: int) -> tuple[float, float]:
    """Mean chance of a right match over the targets, and its standard error."""
    size = matches.matches.astype(np.float64)
    chance = np.minimum(people / (n * size) * -np.expm1(log_missed(size, n, people)), 1.0)
    share = matches.weight / matches.weight.sum()
    mean = min(float(share @ chance), 1.0)
    variance = float(share @ (chance - mean) ** 2) * draws / max(draws - 1, 1)
    return mean, float(np.sqrt(variance / draws)) if draws else 0.0
