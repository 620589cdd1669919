"""The one answer: who is unique in the population, how sure that is, and in a sentence."""

from reid_sql.function import Answer, table_function
from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.population_risk.answer import ClassSize, PopulationRisk, answer
from reid_sql.parameters import Names, Populations, Seed
from reid_sql.reductions.evidence import PEOPLE


@table_function(
    "tbl, qi, populations, k, weight, marginals, ordered, nominal, seed, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=PEOPLE,
    source="Chow & Liu 1968; Skinner & Shlomo 2008; Clopper & Pearson 1934; intervals measured on tables of "
    "people",
    one_row_per_person=True,
)
def population_risk(
    rows: EvidenceRows,
    populations: Populations,
    k: ClassSize = 5,
    *,
    ordered: Names = None,
    nominal: Names = None,
    seed: Seed = 0,
) -> list[PopulationRisk]:
    """Answer for populations that the table samples: the share of unique people, with a sentence to quote.

    Next to it the chance that a match is right and the share of people in classes smaller than `k`, each with
    a 95 % interval (`_low`, `_high`) under the `assumptions` that the answer lists, such as a random sample
    with one row per person. docs/accuracy_people.md has how often such intervals contained the truth.
    `_provable_low` and `_provable_high` need no model of people. At the sample's own size the shares are
    counted. `weight`, `marginals`, `ordered` and `nominal` are as in fit_people; columns that others
    determine are left out.
    `status` is `ok`, or has a code and a sentence for each doubt: only a bound is given for fewer than 100
    records (`few_records`), a column whose values never repeat (`near_identifier`) and samples of whole
    households (`group_sample`); the interval is wider for tables unlike the reference tables
    (`unlike_reference_tables`, `overdispersed`) and for records that repeat beyond chance
    (`repeated_people`). Ends fall as the populations of one call grow. Refuses a population smaller than the
    sample.
    With `entity`, the column that identifies people (NULL is one person), the sample is of people: a class
    counts its people, and an attacker knows one row of each, that of their smallest class; else one row per
    person is assumed.
    With `by`, the rows of each group of the columns' values, each fitted alone as a sample of the
    populations, as in risk_summary: up to 1,000 groups. Pass the people of one group: those of all groups
    would understate its risk. A population smaller than one group is refused for all; a group of few records
    has a status that says so.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> population_risk(rows_from_columns({"sex": ["F", "F", "M"]}), [3])[0].sentence
    'Of these 3 people, 33 % are unique by sex.'
    """
    evidence = evidence_from_rows(rows, ordered or (), nominal or ())
    return answer(evidence, populations, k=int(k), seed=int(seed))
