"""Population uniqueness by the Pitman–Yor forecast of pyc_forecast."""

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.population.estimate import Estimate
from reid_sql.models.pyc import pitman_yor_forecast


def estimate(histogram: Histogram, population: float) -> Estimate:
    """Forecast Ξ, with its interval and status.

    >>> import numpy as np
    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> 0 < estimate(sample, 3200).uniqueness < 8 / 32
    True
    """
    found = pitman_yor_forecast.forecast(histogram, [population])[0]
    return Estimate(found.uniqueness, found.uniqueness_low, found.uniqueness_high, found.status)
