"""What classes disclose of a sensitive column: (α, k)-anonymity, β-likeness and δ-disclosure."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import sensitive
from reid_sql.parameters.outputs import Output
from reid_sql.reductions.disclosure import (
    ALPHA_K_ANONYMITY,
    BETA_LIKENESS,
    DELTA_DISCLOSURE,
    GAIN_VARIANT,
    THRESHOLD,
)
from reid_sql_udfs.l_diversity import select


@table_function(
    "tbl, qi, sensitive, measure, threshold, k, nulls, entity, by",
    answer=Answer.ROW,
    reduction=ALPHA_K_ANONYMITY,
    question=Question.DISCLOSURE,
    source="Wong et al. 2006 (general model)",
    duckdb=select(
        "max",
        f"value > $threshold * (1 + {sensitive.MEASURE_TOLERANCE}) OR class_size < $k",
        "'general'",
        "$threshold",
    )
    + ", max($k) AS threshold_k",
    one_row_per_person=True,
    output=Output("measure", ("alpha_k_anonymity",), shared={"threshold": THRESHOLD}),
)
def attribute_disclosure(
    class_values: sensitive.ClassValues, threshold: sensitive.Alpha = 0.5, k: sensitive.MinK = 2
) -> sensitive.AlphaDisclosure:
    """Measure what the classes disclose of a sensitive column: (α, k)-anonymity, β-likeness or δ-disclosure.

    (α, k)-anonymity is the share of the most frequent sensitive value, and the size, of each class. `value`
    is the highest such share of any class, for any sensitive value (the general model). `k` is the size of
    the smallest class. A class offends if its share is above `threshold`, or if it has fewer than `k`
    records. Without `threshold` it is 0.5, and 1 for β-likeness and δ-disclosure.

    One row per person is assumed. With `entity`, classes and shares count people, an attacker knows the
    worst row of each, and people with several sensitive values in one class are refused. With `by`, each
    group is a separate table, as in risk_summary.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([1.0, 0.5]), np.array([2, 1]))
    >>> attribute_disclosure(answer).value
    1.0
    """
    shown = vars(sensitive.summarize_highest(class_values, threshold, "general", k=k))
    return sensitive.AlphaDisclosure(**shown, threshold_k=k)


@table_function(
    "tbl, qi, sensitive, variant, threshold, nulls, entity, by",
    answer=Answer.ROW,
    reduction=BETA_LIKENESS,
    question=Question.DISCLOSURE,
    source="Cao & Karras 2012",
    duckdb=select(
        "max",
        f"value > $threshold * (1 + {sensitive.MEASURE_TOLERANCE})",
        "$variant",
        "$threshold",
        sensitive.STATUS_NO_BETA,
    ),
    one_row_per_person=True,
    output=Output(
        "measure", ("beta_likeness",), of="attribute_disclosure", shared={"variant": GAIN_VARIANT}
    ),
)
def beta_likeness(
    class_values: sensitive.ClassValues,
    variant: sensitive.Likeness = "basic",
    threshold: sensitive.Gain = 1,
) -> sensitive.Disclosure:
    """Measure β-likeness: how much more frequent a sensitive value is in a class than in the table.

    The excess is relative to the share in the table. `value` is the highest (p − q)/q of any class and value
    with the share p in the class and q in the table; it is 1 if a share doubles. enhanced: the gain must also
    stay within −ln q; otherwise there is no such beta, and `value` is infinite (status infinite_beta).

    `entity` and `by` are as above; people with several sensitive values in the table are refused.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([3.0, 0.5]), np.array([2, 1]))
    >>> beta_likeness(answer).offending_share
    0.3333333333333333
    """
    return sensitive.summarize_highest(
        class_values, threshold, variant, infinite=sensitive.STATUS_NO_BETA
    )


@table_function(
    "tbl, qi, sensitive, variant, threshold, nulls, entity, by",
    answer=Answer.ROW,
    reduction=DELTA_DISCLOSURE,
    question=Question.DISCLOSURE,
    source="Brickell & Shmatikov 2008",
    duckdb=select(
        "max",
        f"value > $threshold * (1 + {sensitive.MEASURE_TOLERANCE})",
        "$variant",
        "$threshold",
        sensitive.STATUS_NO_DELTA,
    ),
    one_row_per_person=True,
    output=Output("measure", ("delta_disclosure",), of="attribute_disclosure"),
)
def delta_disclosure(
    class_values: sensitive.ClassValues,
    variant: sensitive.Presence = "present",
    threshold: sensitive.Gain = 1,
) -> sensitive.Disclosure:
    """Measure δ-disclosure: the log factor between a sensitive value's shares in a class and the table.

    It is the logarithm of the factor by which the shares differ. `value` is the highest |ln(p/q)| of any
    class and value with the share p in the class and q in the table. present: over the values that a class
    has. all: over all values, as published; if a class lacks one, `value` is infinite, and `status` reports
    this.

    `entity` and `by` are as above; people with several sensitive values in the table are refused.

    >>> import numpy as np
    >>> answer = sensitive.ClassValues(np.array([1, 4]), np.array([0.5, 2.0]), np.array([4, 1]))
    >>> delta_disclosure(answer).offending_records
    4
    """
    return sensitive.summarize_highest(
        class_values, threshold, variant, infinite=sensitive.STATUS_NO_DELTA
    )
