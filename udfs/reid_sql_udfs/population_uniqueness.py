"""Uniqueness in the population by every method."""

from reid_sql.function import Answer, table_function
from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.population import population_uniqueness as model
from reid_sql.models.population.population_uniqueness import Method, PopulationUniqueness, UniquenessEvidence
from reid_sql.parameters import Count
from reid_sql.reductions.evidence import EVIDENCE


@table_function(
    "tbl, qi, population, method, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=EVIDENCE,
    source="Rocher, Hendrickx & de Montjoye 2019, supplement, note 1",
    one_row_per_person=True,
)
def population_uniqueness(
    rows: EvidenceRows, population: Count, method: Method = "all"
) -> list[PopulationUniqueness]:
    """Estimate how many people are alone in their class in the population, from a random sample of it.

    One row a method; `uniqueness` is the share of the population, `_low` and `_high` the ends of a 95 %
    interval of that method's own model, NULL with a `status` that says why where there is none. The first,
    'people', is the answer of population_risk, the one to quote; the others are the literature's. 'bound' is
    no estimate but what the sample's own unique records allow at most. 'pitman_asymptotic' and
    'pitman_negative' are given by name alone. Refuses an empty table and a population smaller than the table.
    With `entity`, the column that identifies people (NULL is one person), the sample is of people: a class
    counts its people, and an attacker knows one row of each, that of their smallest class; else one row per
    person is assumed.
    With `by`, the rows of each group of the columns' values, each estimated alone as a sample of the
    population, as in risk_summary: up to 1,000 groups. Pass the people of one group: those of all groups
    would understate its risk. A population smaller than one group is refused for all.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> sample = rows_from_columns({"age": ["1", "2", "3", "3", "4", "4", "5", "5", "6", "6"]})
    >>> round(population_uniqueness(sample, 100, "zayatz")[0].unique_records, 4)
    4.3137
    """
    evidence = UniquenessEvidence.from_rows(rows)
    return model.estimate_by_methods(evidence, float(population), method)  # type: ignore[arg-type]
