"""How many classes the population has, by Shlosser's estimator with the correction of Haas and Stokes.

Each class of the population is in the sample with 1 − (1 − f)^F, which weights the classes that the sample
has. Source: Shlosser 1981; Haas & Stokes 1998 (their modified estimator, Sh3).
"""

import numpy as np

from reid_sql.models.classes.disclosure import Histogram


def population_classes(histogram: Histogram, fraction: float) -> float:
    """Estimate the classes of the population; `fraction` is the share of it that is in the sample, in (0, 1].

    >>> round(population_classes(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 0.5), 3)
    7.016
    """
    size, classes = histogram.class_size.astype(np.float64), histogram.classes.astype(np.float64)
    unique = float(classes[size == 1].sum())
    if fraction == 1 or unique == 0:
        return float(classes.sum())
    left = size * np.log1p(-fraction)  # ln (1 − f)^i
    missed = classes @ np.exp(left)
    once = classes @ (size * fraction * np.exp(left - np.log1p(-fraction)))
    twice = np.log1p(-(fraction**2))
    squares = classes @ (size * fraction**2 * np.exp((size - 1) * twice))
    # (1 − f)^i ((1 + f)^i − 1), with no power that could overflow
    pairs = classes @ (np.exp(size * twice) * -np.expm1(-size * np.log1p(fraction)))
    return float(classes.sum() + unique * squares / pairs * (missed / once) ** 2)
