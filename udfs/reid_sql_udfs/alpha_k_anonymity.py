"""How frequent the most frequent sensitive value of the classes is."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import sensitive
from reid_sql.reductions.disclosure import ALPHA_K_ANONYMITY
from reid_sql_udfs.l_diversity import select


@table_function(
    "tbl, qi, sensitive, alpha, k, nulls, entity, by",
    answer=Answer.ROW,
    reduction=ALPHA_K_ANONYMITY,
    question=Question.DISCLOSURE,
    source="Wong et al. 2006 (general model)",
    duckdb=select(
        "max",
        f"value > $alpha * (1 + {sensitive.MEASURE_TOLERANCE}) OR class_size < $k",
        "'general'",
        "$alpha",
    )
    + ", max($k) AS threshold_k",
    one_row_per_person=True,
)
def alpha_k_anonymity(
    class_values: sensitive.ClassValues, alpha: sensitive.Alpha = 0.5, k: sensitive.MinK = 2
) -> sensitive.AlphaDisclosure:
    """Measure (α, k)-anonymity: the share of the most frequent sensitive value, and the size, of each class.

    `value` is the highest such share of any class, for any sensitive value (the general model). `k` is the
    size of the smallest class. A class offends if its share is above alpha, or if it has fewer than `k`
    records.

    With `entity`, the column that identifies people (NULL is refused), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    one class. Without `entity`, one row per person is assumed.

    With `by`, the answer has one row for each group of the columns' values; each group is a separate table,
    as in risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([1.0, 0.5]), np.array([2, 1]))
    >>> alpha_k_anonymity(answer).value
    1.0
    """
    shown = vars(sensitive.summarize_highest(class_values, alpha, "general", k=k))
    return sensitive.AlphaDisclosure(**shown, threshold_k=k)
