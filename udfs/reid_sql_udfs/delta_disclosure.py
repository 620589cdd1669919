"""How much a class reveals about a sensitive value, either way."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import sensitive
from reid_sql.reductions.disclosure import DELTA_DISCLOSURE
from reid_sql_udfs.l_diversity import select


@table_function(
    "tbl, qi, sensitive, variant, delta, nulls, entity, by",
    answer=Answer.ROW,
    reduction=DELTA_DISCLOSURE,
    question=Question.DISCLOSURE,
    source="Brickell & Shmatikov 2008",
    duckdb=select(
        "max",
        f"value > $delta * (1 + {sensitive.MEASURE_TOLERANCE})",
        "$variant",
        "$delta",
        sensitive.STATUS_NO_DELTA,
    ),
    one_row_per_person=True,
)
def delta_disclosure(
    class_values: sensitive.ClassValues,
    variant: sensitive.Presence = "present",
    delta: sensitive.Gain = 1,
) -> sensitive.Disclosure:
    """Measure δ-disclosure: the log factor between a sensitive value's shares in a class and the table.

    It is the logarithm of the factor by which the shares differ. `value` is the highest |ln(p/q)| of any
    class and value with the share p in the class and q in the table. present: over the values that a class
    has. all: over all values, as published; if a class lacks one, `value` is infinite, and `status` reports
    this.

    With `entity`, the column that identifies people (NULL is refused), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    the table. Without `entity`, one row per person is assumed.

    With `by`, the answer has one row for each group of the columns' values; each group is a separate table,
    as in risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([0.5, 2.0]), np.array([4, 1]))
    >>> delta_disclosure(answer).offending_records
    4
    """
    return sensitive.summarize_highest(
        class_values, delta, variant, infinite=sensitive.STATUS_NO_DELTA
    )
