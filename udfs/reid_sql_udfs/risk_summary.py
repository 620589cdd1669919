"""Prosecutor risk of a table."""

from typing import Final

from reid_sql.function import Answer, table_function
from reid_sql.models.classes import disclosure
from reid_sql.parameters import Threshold, sql_text
from reid_sql.reductions.classes import HISTOGRAM

SELECT = f"""
    CASE WHEN sum(records) IS NULL THEN error({sql_text(disclosure.NO_RECORDS)})::BIGINT
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
    "tbl, qi, threshold, nulls, entity, by",
    answer=Answer.ROW,
    reduction=HISTOGRAM,
    source="ARX prosecutor model; sdcMicro individual risk without weights",
    duckdb=f"{SELECT}, {BLANK}",
    overlapping_classes=True,
)
def risk_summary(histogram: disclosure.Histogram, threshold: Threshold = 0.2) -> disclosure.ProsecutorRisk:
    """Summarise the risk of re-identification of a table against somebody who knows that the person is in it.

    A record's risk is 1/class_size. `average_risk` is the mean over records (classes/records; the marketer
    risk), and `average_class_risk` the mean over classes. `uniqueness` and `records_at_risk` (risk above the
    threshold) are shares of the records. One row per person is assumed; with `entity`, the column that
    identifies people (a class counts people, and an attacker knows one row of each person, the worst), all
    figures count people: the size of a class is its number of people, each person counts by the smallest of
    their classes, and NULL is one person. With `nulls := 'wildcard'` a record that is NULL in every
    quasi-identifier matches all others, and no other record matches it; `blank_records` is the number of such
    records. With `by`, the answer has one row for each group of the columns' values (NULL is a value); each
    group is a separate table, and all are counted at once. If `nulls := 'drop'` drops all records of a group,
    its `records` is 0 and the rest NULL. A column may be in both `qi` and `by`; it is then constant within
    each group. Refuses an empty table and a threshold outside [0, 1].

    >>> import numpy as np
    >>> risk_summary(disclosure.Histogram(np.array([1, 9]), np.array([1, 1]), np.array([1, 9]))).average_risk
    0.2
    """
    return disclosure.prosecutor_risk(histogram, threshold)
