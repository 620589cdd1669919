"""How many sensitive values the classes have."""

from reid_sql.errors import NO_RECORDS
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import disclosure, sensitive
from reid_sql.parameters import sql_text
from reid_sql.reductions.disclosure import L_DIVERSITY


def select(
    worst: str, offends: str, variant: str, threshold: str, infinite: str = disclosure.OK
) -> str:
    """Spell the summary over the classes of each size and value; `worst` is min or max."""
    judged = "count(value) = count(*)"
    at_fault = f"coalesce(sum(records) FILTER ({offends}), 0)"
    return f"""
    CASE WHEN sum(classes) IS NULL THEN error({sql_text(NO_RECORDS)})::VARCHAR
    ELSE {variant} END AS variant,
    CASE WHEN {judged} THEN {worst}(value) END AS value,
    coalesce(sum(records), 0)::BIGINT AS records,
    sum(classes)::BIGINT AS classes,
    min(class_size) AS k,
    CASE WHEN {judged} THEN coalesce(sum(classes) FILTER ({offends}), 0)::BIGINT END AS offending_classes,
    CASE WHEN {judged} THEN {at_fault}::BIGINT END AS offending_records,
    CASE WHEN {judged} THEN {at_fault}::DOUBLE / sum(records) END AS offending_share,
    max({threshold}) AS threshold,
    CASE WHEN NOT {judged} THEN {sql_text(sensitive.STATUS_NO_ORDER)}
    WHEN isinf({worst}(value)) THEN {sql_text(infinite)} ELSE '{disclosure.OK}' END AS status"""


@table_function(
    "tbl, qi, sensitive, variant, c, l, nulls, entity, by",
    answer=Answer.ROW,
    reduction=L_DIVERSITY,
    question=Question.DISCLOSURE,
    source="Machanavajjhala et al. 2007",
    duckdb=select("min", f"value < $l * (1 - {sensitive.MEASURE_TOLERANCE})", "$variant", "$l")
    + ", max(CASE WHEN $variant = 'recursive' THEN $c END) AS c",
    one_row_per_person=True,
)
def l_diversity(
    class_values: sensitive.ClassValues,
    variant: sensitive.DiversityVariant = "distinct",
    c: sensitive.Concentration = 3,
    l: sensitive.Diversity = 2,  # noqa: E741 - the field's own name
) -> sensitive.DiversityDisclosure:
    """Measure l-diversity: how many sensitive values each class has; fewer than l offends.

    `value` is the lowest number of any class. distinct: the number of values. entropy: exp of the class's
    entropy. recursive: the largest l for which the most frequent value is rarer than c times all values from
    the l-th most frequent on; 0 if there is none. A NULL among the sensitive values counts as a value, unless
    `nulls := 'drop'`. Refuses an empty table.

    One row per person is assumed. With `entity`, classes and shares count people, an attacker knows the worst
    row of each, and people with several sensitive values in one class are refused.

    With `by`, each group is a separate table, as in risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([1.0, 3.0]), np.array([2, 1]))
    >>> l_diversity(answer).offending_records
    2
    """
    shown = vars(sensitive.summarize_lowest(class_values, l, variant))
    return sensitive.DiversityDisclosure(**shown, c=c if variant == "recursive" else None)
