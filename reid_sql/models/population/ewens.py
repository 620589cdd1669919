"""Population uniqueness by Ewens' sampling formula: what the number of unique records alone says.

Under the formula a sample of n records holds on average n θ / (n − 1 + θ) unique ones, and so does the
population. Source: Ewens 1972; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equation 10.
"""

from math import sqrt
from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.population.estimate import ALL_UNIQUE, HELD, Estimate, Sample, sample_of

CHANCE: Final = (
    f"the interval holds chance, not what Ewens' formula misses: {HELD} 15 of 120 samples of tables of people"
)


def estimate(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ = s₁ (n_s − 1) / (n_s (n − 1) − s₁ (n − n_s)), and what chance leaves open of it.

    The chance is that of s₁ and of the population. The interval holds if the classes follow Ewens' formula.
    Refuses what `sample_of` refuses.

    >>> import numpy as np
    >>> found = estimate(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 100)
    >>> round(found.uniqueness, 6), found.status.split(":")[0]
    (0.022222, "the interval holds chance, not what Ewens' formula misses")
    """
    sample = sample_of(histogram, population)
    if sample.unique == sample.records:
        return Estimate(1.0, None, 1.0, ALL_UNIQUE)
    theta = sample.unique * (sample.records - 1) / (sample.records - sample.unique)
    found = equation_10(sample, sample.unique)
    step, chance = (
        NORMAL_95 * spread(theta, sample.records),
        NORMAL_95 * spread(theta, sample.population) / sample.population,
    )
    below = found - equation_10(sample, max(sample.unique - step, 0.0))
    above = equation_10(sample, min(sample.unique + step, sample.records)) - found
    low, high = found - sqrt(below**2 + chance**2), found + sqrt(above**2 + chance**2)
    return Estimate(found, max(0.0, low), min(1.0, high), CHANCE)


def equation_10(sample: Sample, unique: float) -> float:
    """Share of the population that is unique where the sample is expected to hold so many unique records."""
    records, people = sample.records, sample.population
    return (
        1.0
        if unique == records
        else unique * (records - 1) / (records * (people - 1) - unique * (people - records))
    )


def spread(theta: float, records: float) -> float:
    """Standard deviation of the number of unique records, by two falling moments; at least a lone one's.

    They are the first two.
    """
    if not theta:  # nobody is unique; of two records alike the variance below would be 0 / 0
        return 1.0
    mean = records * theta / (theta + records - 1)
    return sqrt(max(mean + mean**2 * (1 - theta) / (records * (theta + records - 2)), 1.0))
