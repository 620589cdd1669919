"""The one answer: who is unique in the population, how sure that is, and in a sentence."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.population_risk.answer import ClassSize, PopulationRisk, answer
from reid_sql.parameters import Names, Populations, Seed
from reid_sql.reduction import Needs
from reid_sql.reductions.evidence import PEOPLE


@table_function(
    "tbl, qi, populations, k, weight, marginals, ordered, nominal, seed, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=PEOPLE,
    question=Question.POPULATION,
    source="Chow & Liu 1968; Skinner & Shlomo 2008; Clopper & Pearson 1934; intervals measured on tables of "
    "people",
    one_row_per_person=True,
    needs=Needs.POSITIONS,
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

    Each share has a 95 % interval (`_low`, `_high`) under the `assumptions` that the answer lists, such as a
    random sample with one row per person. docs/accuracy_people.md reports how often such intervals contained
    the true value. `_provable_low` and `_provable_high` are bounds that need no model of people. If the
    population is the sample, the shares are counted. `weight`, `marginals`, `ordered` and `nominal` are as in
    fit_people. Columns that others determine are left out.

    `status` is `ok`, or a code and a sentence for each doubt. docs/statuses.md explains them. Only a bound is
    given with `few_records` (fewer than 100), `near_identifier` and `group_sample`. The interval is wider
    with `unlike_reference_tables`, `overdispersed` and `repeated_people`; where these come together, as with
    events, the shares are NULL. The upper end is the provable one with `fewer_repeats`, `possible_key`,
    `no_repeats`, and for `below_k` with `even_classes`. Crowded classes, such as blank records, are set
    apart. Within one call, the ends of the intervals never rise with the population. Refuses a population
    smaller than the sample.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    With `by` (up to 1,000 groups), each group is fitted separately, as a sample of the populations. Pass the
    number of people of one group, because the number of all groups would understate the risk. If a population
    is smaller than one group, it is refused for all; a group of few records has a status that says so.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> population_risk(rows_from_columns({"sex": ["F", "F", "M"]}), [3])[0].sentence
    'Of these 3 people, 33 % are unique by sex.'
    """
    evidence = evidence_from_rows(rows, ordered or (), nominal or ())
    return answer(evidence, populations, k=int(k), seed=int(seed))
