"""Uniqueness in the population by every method."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.population import population_uniqueness as model
from reid_sql.models.population.population_uniqueness import (
    Method,
    PopulationUniqueness,
    UniquenessEvidence,
)
from reid_sql.parameters import Count
from reid_sql.reduction import Needs
from reid_sql.reductions.evidence import EVIDENCE


@table_function(
    "tbl, qi, population, method, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=EVIDENCE,
    question=Question.POPULATION,
    source="Rocher, Hendrickx & de Montjoye 2019, supplement, note 1",
    one_row_per_person=True,
    needs=Needs.POSITIONS,
)
def population_uniqueness(
    rows: EvidenceRows, population: Count, method: Method = "all"
) -> list[PopulationUniqueness]:
    """Estimate how many people are alone in their class in the population, from a random sample of it.

    Each method has a row. `_low` and `_high` are a 95 % interval under that method's own model; if there is
    none, they are NULL, and `status` gives the reason. The first method, 'people', is the answer of
    population_risk, the one to quote. The others come from the literature. 'bound' is not an estimate but an
    upper bound from the sample's own unique records. Refuses an empty table and a population smaller than the
    table.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    With `by` (up to 1,000 groups), each group is estimated separately, as a sample of the population. Pass
    the number of people of one group, because the number of all groups would understate the risk. If a
    population is smaller than one group, it is refused for all.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> sample = rows_from_columns({"age": ["1", "2", "3", "3", "4", "4", "5", "5", "6", "6"]})
    >>> round(population_uniqueness(sample, 100, "zayatz")[0].unique_records, 4)
    4.3137
    """
    evidence = UniquenessEvidence.from_rows(rows)
    return model.estimate_by_methods(evidence, float(population), method)  # type: ignore[arg-type]
