"""Prosecutor risk of a table."""

from typing import Final

from reid_sql.errors import NO_RECORDS
from reid_sql.function import NO_HOUSEHOLD, Answer, Question, table_function
from reid_sql.models.classes import disclosure
from reid_sql.parameters import Threshold, sql_text
from reid_sql.reduction import Needs
from reid_sql.reductions.classes import HISTOGRAM

SELECT = f"""
    CASE WHEN sum(records) IS NULL THEN error({sql_text(NO_RECORDS)})::BIGINT
    ELSE sum(records)::BIGINT END AS records,
    sum(classes)::BIGINT AS classes,
    min(class_size) AS k,
    coalesce(sum(records) FILTER (class_size = 1), 0)::BIGINT AS unique_records,
    coalesce(sum(records) FILTER (class_size = 1), 0)::DOUBLE / sum(records) AS uniqueness,
    1::DOUBLE / min(class_size) AS highest_risk,
    sum(records::DOUBLE / class_size) / sum(records) AS average_risk,
    sum(classes::DOUBLE / class_size) / sum(classes) AS average_class_risk,
    coalesce(sum(records) FILTER (1::DOUBLE / class_size > $threshold), 0)::DOUBLE
    / sum(records) AS records_at_risk,
    max($threshold) AS threshold
"""
BLANK: Final = "sum(blank_records)::BIGINT AS blank_records"


@table_function(
    "tbl, qi, threshold, nulls, entity, by, tolerance",
    answer=Answer.ROW,
    reduction=HISTOGRAM,
    question=Question.CLASS_SIZES,
    source="ARX prosecutor model; sdcMicro individual risk without weights",
    duckdb=f"{SELECT}, {BLANK}",
    overlapping_classes=True,
    reasons=NO_HOUSEHOLD,
    also=("k_anonymity",),
    needs=Needs.CODES,
)
def risk_summary(
    histogram: disclosure.Histogram, threshold: Threshold = 0.2
) -> disclosure.ProsecutorRisk:
    """Summarise the re-identification risk of a table, for an attacker who knows that a person is in it.

    A record's risk is 1/class_size. `average_risk` is its mean over records, `average_class_risk` over
    classes; `uniqueness` and `records_at_risk` are shares of the records. Refuses an empty table and a
    threshold outside [0, 1].

    One row per person is assumed. With `entity`, the column that identifies people (NULL is refused), all
    figures count people: a class counts its people, and an attacker knows the row of each person whose class
    has the fewest people.

    With `nulls := 'wildcard'`, NULL matches any value. A record that is NULL in every quasi-identifier
    matches all others, but no other record matches it; `blank_records` counts such records.

    With `tolerance`, such as `{'age': 2, 'income': '5 %', 'date': '3 days', 'surname': '1 edit'}`, values
    match that differ by no more. An attacker who knows values only so closely has all records within the
    tolerance of a person's as candidates: a class size is their number, and the risk is lower than with
    exact knowledge. Such classes overlap. A percentage is of the larger of two values. A value on the
    boundary matches; NULL, NaN and infinities match only themselves. Texts, as in a CSV file, are read as
    numbers or times if every value is one, else refused.

    With `by`, each group of the columns' values (NULL is a value) is a separate table. A column may be in
    both `qi` and `by`. If `nulls := 'drop'` drops all records of a group, its `records` is 0 and the other
    figures are NULL.

    >>> import numpy as np
    >>> risk_summary(disclosure.Histogram(np.array([1, 9]), np.array([1, 1]), np.array([1, 9]))).average_risk
    0.2
    """
    return disclosure.prosecutor_risk(histogram, threshold)
