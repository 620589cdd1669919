"""Journalist risk of a table, against a population table."""

from reid_sql.function import Answer, Question, table_function
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
    "tbl, population_tbl, qi, threshold, nulls, entity, by, tolerance",
    answer=Answer.ROW,
    reduction=POPULATION_HISTOGRAM,
    question=Question.CLASS_SIZES,
    source="ARX journalist model",
    duckdb=f"{SELECT}, {COVERED}, {BLANK}",
    overlapping_classes=True,
)
def journalist_risk(
    histogram: disclosure.PopulationHistogram, threshold: Threshold = 0.2
) -> disclosure.JournalistRisk:
    """Summarise the re-identification risk, for an attacker who must find the person in a population.

    The figures are those of risk_summary, but the size of a record's class is counted in the population
    table; `classes` counts the classes of the sample. A population contains its sample. If the population
    table has fewer records of a class than the sample, the class size in the sample counts;
    `uncovered_records` is the number of such records, and `status` reports them.

    With `tolerance`, as in risk_summary, candidates are all people of the population within it.

    One row per person is assumed. With `entity`, a column of both tables, all figures count people, as in
    risk_summary. With `by`, each group is compared with the whole population table.

    >>> import numpy as np
    >>> ten_in_population = disclosure.PopulationHistogram(
    ...     np.array([10]), np.array([1]), np.array([2]), np.array([0])
    ... )
    >>> journalist_risk(ten_in_population).highest_risk
    0.1
    """
    return disclosure.journalist_risk(histogram, threshold)
