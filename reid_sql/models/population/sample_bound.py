"""The bound on population uniqueness that the sample's own unique records imply: no model at all.

Who is unique in the population is unique in every sample, so that s₁/n_s is at least Ξ on average; and
records that are alike in the sample are not unique in the population.
"""

from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.population.estimate import Estimate, sample_of

STATUS: Final = (
    "an upper bound, no estimate: the sample's own share of unique records, which holds on average"
)
EXCEEDED: Final = "above the bound by the sample's own unique records"


def estimate(histogram: Histogram, population: float) -> Estimate:
    """Bound Ξ by s₁/n_s on average, and by the exact binomial limit (Clopper–Pearson) in 97.5 % of samples.

    Refuses what `sample_of` refuses.

    >>> import numpy as np
    >>> found = estimate(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 100)
    >>> found.uniqueness, round(found.high, 4)
    (0.2, 0.5561)
    """
    sample = sample_of(histogram, population)
    alike = sample.records - sample.unique
    high = clopper_pearson_upper(sample.unique, sample.records)
    return Estimate(sample.uniqueness, 0.0, min(high, 1 - alike / sample.population), STATUS)
