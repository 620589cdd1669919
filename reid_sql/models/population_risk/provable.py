"""Bounds of a population's shares that need no model of people.

Upper bounds assume a random sample with one row per person: each share falls as a population grows, so a
binomial bound on the share in the sample is one for the population. Lower bounds assume one row per person:
they count what remains if the people who were not sampled are alike to as many as possible.
"""

from dataclasses import dataclass
from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.population_risk.shares import KINDS, Shares, count_kinds

UNIQUE_SIZE: Final = 2  # below which a class is one unique person


@dataclass(frozen=True)
class Bounds:
    """Provable ends of the three shares, by name."""

    low: dict[str, float]
    high: dict[str, float]

    def of(self, name: str, *, counted: bool) -> tuple[float, float]:
        """Both ends of a share; where it was `counted`, the count."""
        return (self.low[name], self.low[name] if counted else self.high[name])

    def tighten(self, shares: Shares) -> Shares:
        """Raise lower ends to the provable ones."""
        return shares.with_ends(lambda name, one: (max(one.low, self.low[name]), one.high))

    def replace_ends(self, shares: Shares) -> Shares:
        """Replace the ends by the provable ones."""
        return shares.with_ends(lambda name, one: (self.low[name], max(self.high[name], one.estimate)))


def prove_bounds(histogram: Histogram, people: float, k: int, *, random_sample: bool) -> Bounds:
    """Bound the shares of so many people; without a random sample, an upper bound is 1.

    >>> import numpy as np
    >>> three_alone = Histogram(np.array([1]), np.array([3]), np.array([3]))
    >>> [prove_bounds(three_alone, n, 5, random_sample=True).low["uniqueness"] for n in (3, 4, 6)]
    [1.0, 0.5, 0.0]
    """
    records, classes = int(histogram.records.sum()), float(histogram.classes.sum())
    low = {
        "uniqueness": _least_people_below(histogram, UNIQUE_SIZE, people - records) / people,
        "correctness": classes / people,  # E[1/F] is the number of classes over the people
        "below_k": _least_people_below(histogram, k, people - records) / people,
    }
    counts = count_kinds(histogram, k)
    high = {name: clopper_pearson_upper(counts[name], records) if random_sample else 1.0 for name in KINDS}
    return Bounds(low, high)


def _least_people_below(histogram: Histogram, size: int, unseen: float) -> float:
    """Fewest people of the sample in classes below `size`, if so many more people join classes.

    To lift a class of f costs size − f people, least for the largest classes; a part of a class counts as a
    part, so that the result is a lower bound.
    """
    left = 0.0
    sizes = zip(histogram.class_size.tolist(), histogram.classes.tolist(), strict=True)
    for people, classes in sorted(sizes, reverse=True):
        if people < size:
            lifted = min(float(classes), unseen / (size - people))
            unseen -= lifted * (size - people)
            left += (classes - lifted) * people
    return left
