"""Journalist risk of a table, against a population table."""

from reid_sql.function import Answer, table_function
from reid_sql.models.classes import disclosure
from reid_sql.parameters import Threshold, sql_text
from reid_sql.reductions.population import POPULATION_HISTOGRAM
from reid_sql_udfs.risk_summary import BLANK, SELECT

COVERED = f"""
    sum(uncovered)::BIGINT AS uncovered_records,
    CASE WHEN sum(uncovered) = 0 THEN '{disclosure.OK}'
    ELSE replace({sql_text(disclosure.STATUS_UNCOVERED)}, '{{}}', sum(uncovered)::VARCHAR) END AS status
"""


@table_function(
    "tbl, population_tbl, qi, threshold, nulls, entity, by",
    answer=Answer.ROW,
    reduction=POPULATION_HISTOGRAM,
    source="ARX journalist model",
    duckdb=f"{SELECT}, {COVERED}, {BLANK}",
    overlapping_classes=True,
)
def journalist_risk(
    histogram: disclosure.PopulationHistogram, threshold: Threshold = 0.2
) -> disclosure.JournalistRisk:
    """Summarise the risk of re-identification against somebody who must find the person in a population.

    The risk is that of a table. As risk_summary, with the size of the record's class in the population table;
    `classes` are the sample's. A population contains its sample: where the population table has fewer such
    records than the sample, the sample's class size counts, `uncovered_records` says for how many records,
    and the status says so. With `entity`, the column of both tables that identifies people (a class counts
    people, and an attacker knows one row of each, the worst), people are counted, as in risk_summary. One row
    per person is assumed, unless `entity` identifies people. With `by`, one row for each group of the table,
    as in risk_summary, each against the whole population table.

    >>> import numpy as np
    >>> ten_in_population = disclosure.PopulationHistogram(
    ...     np.array([10]), np.array([1]), np.array([2]), np.array([0])
    ... )
    >>> journalist_risk(ten_in_population).highest_risk
    0.1
    """
    return disclosure.journalist_risk(histogram, threshold)
