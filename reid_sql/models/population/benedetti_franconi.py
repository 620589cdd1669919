"""Population uniqueness by Benedetti and Franconi's individual risk, where nobody has a weight.

Source: Benedetti & Franconi 1998; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1.
"""

from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.population.classical_estimators import NO_INTERVAL, Estimate, count_sample

BY_FRACTION: Final = (
    f"{NO_INTERVAL}without weights, each unique record of the sample counts with the sampled fraction"
)


def estimate(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ = f s₁/n_s: without weights P(F = 1 | f = 1) is the sampled fraction.

    Refuses what `sample_of` refuses.

    >>> import numpy as np
    >>> estimate(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 100).uniqueness
    0.020000000000000004
    """
    sample = count_sample(histogram, population)
    return Estimate(sample.fraction * sample.uniqueness, None, None, BY_FRACTION)
