"""Population uniqueness by a Gaussian copula that is fitted to the sample on the way.

Source: Rocher, Hendrickx & de Montjoye 2019, eq. 15.
"""

from typing import Final

from reid_sql.models.copula import copula_fit, copula_population
from reid_sql.models.population.estimate import Estimate, sample_of
from reid_sql.models.population.evidence import UniquenessEvidence

NO_PAIRS: Final = (
    "not available: a copula needs the counts of pairs of values, of numbers, texts or other plain values"
)


def estimate(evidence: UniquenessEvidence, population: float, *, method: str) -> Estimate:
    """Estimate Ξ as the mean of ξ over records of the model; `method` is that of the copula.

    Refuses what `sample_of` refuses.
    """
    sample = sample_of(evidence.histogram, population)
    pairs = evidence.pairs
    if pairs is None:
        return Estimate(None, None, None, NO_PAIRS)
    found = copula_population.forecast(copula_fit.fit(pairs, method=method), [sample.population])[0]
    return Estimate(found.uniqueness, found.uniqueness_low, found.uniqueness_high, found.status)
