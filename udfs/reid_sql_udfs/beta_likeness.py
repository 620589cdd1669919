"""How much an attacker gains on a sensitive value."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import sensitive
from reid_sql.reductions.disclosure import BETA_LIKENESS
from reid_sql_udfs.l_diversity import select


@table_function(
    "tbl, qi, sensitive, variant, beta, nulls, entity, by",
    answer=Answer.ROW,
    reduction=BETA_LIKENESS,
    question=Question.DISCLOSURE,
    source="Cao & Karras 2012",
    duckdb=select(
        "max",
        f"value > $beta * (1 + {sensitive.MEASURE_TOLERANCE})",
        "$variant",
        "$beta",
        sensitive.STATUS_NO_BETA,
    ),
    one_row_per_person=True,
)
def beta_likeness(
    class_values: sensitive.ClassValues,
    variant: sensitive.Likeness = "basic",
    beta: sensitive.Gain = 1,
) -> sensitive.Disclosure:
    """Measure β-likeness: how much more frequent a sensitive value is in a class than in the table.

    The excess is relative to the share in the table. `value` is the highest (p − q)/q of any class and value
    with the share p in the class and q in the table; it is 1 if a share doubles. enhanced: the gain must also
    stay within −ln q; otherwise there is no such beta, and `value` is infinite (status infinite_beta).

    With `entity`, the column that identifies people (NULL is refused), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    the table. Without `entity`, one row per person is assumed.

    With `by`, the answer has one row for each group of the columns' values; each group is a separate table,
    as in risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([3.0, 0.5]), np.array([2, 1]))
    >>> beta_likeness(answer).offending_share
    0.3333333333333333
    """
    return sensitive.summarize_highest(
        class_values, beta, variant, infinite=sensitive.STATUS_NO_BETA
    )
