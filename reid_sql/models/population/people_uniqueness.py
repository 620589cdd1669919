"""Population uniqueness by the model of people: the share, ends and status that population_risk gives."""

from typing import Final

from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.population.estimate import Estimate, sample_of
from reid_sql.models.population.evidence import UniquenessEvidence
from reid_sql.models.population_risk.answer import answer

NO_RECORDS_DRAWN: Final = (
    "not available: a model of people needs counts of values and pairs, and records drawn, "
    "not class sizes alone"
)


def estimate(evidence: UniquenessEvidence, population: float) -> Estimate:
    """Give Ξ as population_risk does, from the same counts and the same draw.

    Refuses what `sample_of` refuses. A histogram alone has no answer: class sizes do not tell how values go
    together.
    """
    sample = sample_of(evidence.histogram, population)
    rows = evidence.people
    if rows is None:
        return Estimate(None, None, None, NO_RECORDS_DRAWN)
    row = answer(evidence_from_rows(rows), [sample.population])[0]
    return Estimate(row.uniqueness, row.uniqueness_low, row.uniqueness_high, row.status)
