"""Correctness, uniqueness and k-anonymity violations in a larger population."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.models.pyc.pitman_yor import ClassSize, Prior
from reid_sql.models.pyc.pitman_yor_forecast import PycForecast
from reid_sql.parameters import Populations
from reid_sql.reduction import Needs
from reid_sql.reductions.classes import HISTOGRAM


@table_function(
    "tbl, qi, populations, k, prior, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=HISTOGRAM,
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025, eq. 12 to 14; urn of Pitman 1995",
    needs=Needs.CODES,
)
def pyc_forecast(
    histogram: Histogram, populations: Populations, k: ClassSize = 5, prior: Prior = "archer"
) -> list[PycForecast]:
    """Forecast right matches, unique people and people in sets smaller than k, to any population.

    Each is a share. The table is a random sample of each population, and the population contains its classes.
    `_low` and `_high` are the ends of 95 % intervals, widened by the model's error within the sample. On real
    tables they contained the true correctness in 74 to 89 % of cases (docs/accuracy.md). Refuses a population
    smaller than the table, an empty table, and `nulls := 'wildcard'`.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    With `by`, each group is fitted separately. Pass the number of people of one group, because the number of
    all groups would understate the risk. If a population is smaller than one group, it is refused for all.

    >>> import numpy as np
    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> pyc_forecast(sample, [32])[0].uniqueness
    0.25
    """
    return pitman_yor_forecast.forecast_pitman_yor(histogram, populations, k, prior)
