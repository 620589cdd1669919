"""Population uniqueness by a log-linear model with main effects: Poisson counts, or negative binomial ones.

Source: Skinner & Shlomo 2008; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equation 14.
"""

from math import hypot, sqrt
from typing import Final

import numpy as np

from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.population import loglinear, overdispersion
from reid_sql.models.population.estimate import HELD, NO_INTERVAL, Estimate, sample_of
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.parameters import Floats

MAIN_EFFECTS: Final = f"{NO_INTERVAL}the log-linear model counts main effects alone"
NOT_FITTED: Final = (
    "not available: all classes have one size, or the main effects "
    "repeat the sample, as those of one column do"
)
PARAMETRIC: Final = (
    f"the interval holds the shape and chance, not what main effects miss: {HELD} 52 of 119 samples of "
    "tables of people"
)
POISSON: Final = "counts vary no more than Poisson counts do"


def estimate(evidence: UniquenessEvidence, population: float, *, overdispersed: bool) -> Estimate:
    """Ξ = τ₁/n_s: a person who is unique in the population is in the sample with the sampled fraction."""
    sample = sample_of(evidence.histogram, population)
    counted = evidence.class_size > 0
    sizes, classes, log_expected = (
        evidence.class_size[counted],
        evidence.classes[counted],
        evidence.log_expected[counted],
    )
    if (sizes == sizes[0]).all() or loglinear.saturated(sizes, log_expected):
        return Estimate(None, None, None, NOT_FITTED)
    expected, alone = np.exp(log_expected), sizes == 1

    def chances(shape: float) -> Floats:
        return np.asarray(loglinear.uniqueness(expected[alone], sample.fraction, shape))

    if not overdispersed:
        share = float(classes[alone] @ chances(np.inf)) / sample.records
        return Estimate(share, None, None, MAIN_EFFECTS)
    shape = overdispersion.shape(sizes, expected, classes)
    xi = chances(shape)
    share = float(classes[alone] @ xi) / sample.records
    spread = overdispersion.likely_shapes(sizes, expected, classes)
    shares = [share, *(float(classes[alone] @ chances(likely)) / sample.records for likely in spread)]
    # The unique people who happen to be in the sample, and those of the population.
    chance = NORMAL_95 * sqrt(classes[alone] @ xi**2 / sample.records**2 + share / sample.population)
    low, high = share - hypot(share - min(shares), chance), share + hypot(max(shares) - share, chance)
    status = f"{PARAMETRIC}; {POISSON}" if np.isinf(shape) else PARAMETRIC
    return Estimate(share, max(0.0, low), min(1.0, high), status)
