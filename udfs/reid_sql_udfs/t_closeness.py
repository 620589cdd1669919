"""How far the sensitive values of the classes are from the table's."""

from reid_sql.function import Answer, table_function
from reid_sql.models.classes import sensitive
from reid_sql.reductions.disclosure import T_CLOSENESS
from reid_sql_udfs.l_diversity import select


@table_function(
    "tbl, qi, sensitive, variant, t, nulls, entity, by",
    answer=Answer.ROW,
    reduction=T_CLOSENESS,
    source="Li, Li & Venkatasubramanian 2007",
    duckdb=select("max", f"value > $t * (1 + {sensitive.MEASURE_TOLERANCE})", "$variant", "$t"),
    one_row_per_person=True,
)
def t_closeness(
    class_values: sensitive.ClassValues, variant: sensitive.Distance = "equal", t: sensitive.Closeness = 0.2
) -> sensitive.Disclosure:
    """Measure t-closeness: how far each class's sensitive values are from the table's; beyond t offends.

    `value` is the highest earth mover's distance of any class, from 0 to 1. equal: all values are equally far
    from each other. ordered: by their places in their order. numeric: by their difference, over the range.
    The last two need a sensitive column that has an order, or numbers; where a NULL has no place among them,
    NULL and a status that says so.
    With `entity`, the column that identifies people (NULL is one person), people are counted: a class and a
    share count people, and an attacker knows one row of each, the worst. People of several sensitive values
    in the table are refused. Else one row per person is assumed.
    With `by`, one row for each group of the columns' values, each group a table of its own, as in
    risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([0.75, 0.1]), np.array([2, 1]))
    >>> t_closeness(answer).value
    0.75
    """
    return sensitive.summarize_highest(class_values, t, variant)
