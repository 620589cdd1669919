"""How far a fitted Pitman–Yor curve lies from the sample's own, and intervals that own up to it.

The posterior knows only the chance within the model. Real tables follow no Pitman–Yor process, and what the
fitted curve misses inside the sample, where the truth is known by rarefaction, is the least that it misses
beyond. The gap is in log-odds of κ and counts once for each tenfold growth of the population.
"""

from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import correctness_curve
from reid_sql.models.numerics.scipy_functions import expit, logit
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor_fit import PycFit

PARTS: Final = (30, 10, 3, 1)  # of the sample, where the curves are compared
DEVIATIONS: Final = 1.96  # the gap counts as one standard deviation
POOR: Final = 0.5
STATUS: Final = (
    "the model fits the sample's own curve poorly, to a factor of {factor:.2g} in the odds; "
    "the intervals are widened"
)


def misfit(histogram: Histogram, fitted: PycFit) -> float:
    """Largest gap, in log-odds of κ, between the fitted curve and the sample's exact one.

    >>> from reid_sql.models.pyc.pitman_yor_fit import fit
    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> misfit(geometric, fit(geometric)[0]) < 0.2
    True
    """
    sizes = np.unique(
        np.maximum(np.array([fitted.records // part for part in PARTS]), min(2, fitted.records))
    )
    edge = (
        0.5 / fitted.records
    )  # a share closer to 0 or 1 than half a record is no gap that a sample can show
    own = np.clip(correctness_curve(histogram, sizes), edge, 1 - edge)
    entropy = np.clip(fitted.entropy, pitman_yor.ENTROPY.low, pitman_yor.ENTROPY.high)
    tail = np.clip(fitted.tail, pitman_yor.TAIL.low, pitman_yor.TAIL.high)
    modelled = np.clip(pitman_yor.correctness(entropy, tail, sizes), edge, 1 - edge)
    return float(np.abs(logit(modelled) - logit(own)).max())


def widened(interval: tuple[float, float, float], gap: float, growth: float) -> tuple[float, float, float]:
    """Move the ends of (value, low, high) out by the gap per tenfold growth; errors add up by squares.

    >>> [round(end, 3) for end in widened((0.5, 0.5, 0.6), 0.5, 10.0)]
    [0.5, 0.273, 0.743]
    """
    value, low, high = interval
    more = DEVIATIONS * gap * np.log10(growth)
    if more == 0 or not 0 < value < 1:
        return interval
    centre, ends = logit(value), logit(np.array([low, high]))
    reach = np.hypot(ends - centre, more)
    return value, float(expit(centre - reach[0])), float(expit(centre + reach[1]))


def note(gap: float) -> list[str]:
    """Say that the model fits poorly, where it does."""
    return [STATUS.format(factor=float(np.exp(gap)))] if gap > POOR else []
