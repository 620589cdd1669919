"""Population uniqueness by Zayatz: the sample's classes stand for the population's, drawn by chance.

Each of them is sampled by chance. Source: Zayatz 1991; Rocher, Hendrickx & de Montjoye 2019, supplement, note
1, equation 11.
"""

from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import log_miss_probability
from reid_sql.models.population.estimate import NO_INTERVAL, Estimate, sample_of

STATUS: Final = f"{NO_INTERVAL}Zayatz's rule states no error of its own"


def estimate(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ = (s₁/n_s) P(F = 1 | f = 1), by the hypergeometric.

    P(F = i | f = 1) ∝ s_i · P(one of i is drawn), with i C(n − i, n_s − 1) / C(n, n_s) the chance that
    exactly one of i is drawn. Refuses what `sample_of` refuses.

    >>> found = estimate(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 100)
    >>> round(found.uniqueness, 6)
    0.043137
    """
    sample = sample_of(histogram, population)
    if sample.unique == 0:
        return Estimate(0.0, None, None, f"{STATUS}; no record of the sample is unique")
    size = histogram.class_size.astype(np.float64)
    # i C(n − i, n_s − 1) over its value at i = 1: the other i − 1 are among those who are not drawn.
    once = size * np.exp(log_miss_probability(size - 1, sample.records - 1, sample.population - 1))
    return Estimate(float(sample.uniqueness * sample.unique / (histogram.classes @ once)), None, None, STATUS)
