"""How far the sensitive values of the classes are from the table's."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import sensitive
from reid_sql.reductions.disclosure import T_CLOSENESS
from reid_sql_udfs.l_diversity import select


@table_function(
    "tbl, qi, sensitive, variant, t, nulls, entity, by",
    answer=Answer.ROW,
    reduction=T_CLOSENESS,
    question=Question.DISCLOSURE,
    source="Li, Li & Venkatasubramanian 2007",
    duckdb=select("max", f"value > $t * (1 + {sensitive.MEASURE_TOLERANCE})", "$variant", "$t"),
    one_row_per_person=True,
)
def t_closeness(
    class_values: sensitive.ClassValues,
    variant: sensitive.Distance = "equal",
    t: sensitive.Closeness = 0.2,
) -> sensitive.Disclosure:
    """Measure t-closeness: how far each class's sensitive values are from the table's; beyond t offends.

    `value` is the highest earth mover's distance of any class, from 0 to 1. equal: all values have the same
    distance from each other. ordered: the distance is that of their positions in the order. numeric: the
    distance is their difference, divided by the range. The last two need a sensitive column with an order, or
    of numbers. If a NULL has no position there, the answer is NULL, and `status` reports this.

    One row per person is assumed. With `entity`, classes and shares count people, an attacker knows the worst
    row of each, and people with several sensitive values in the table are refused.

    With `by`, each group is a separate table, as in risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([0.75, 0.1]), np.array([2, 1]))
    >>> t_closeness(answer).value
    0.75
    """
    return sensitive.summarize_highest(class_values, t, variant)
