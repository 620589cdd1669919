"""Risk of each record by a log-linear model of the population."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.population import loglinear
from reid_sql.models.population.loglinear import (
    FittedRecords,
    Fraction,
    Interactions,
    LoglinearRisk,
)
from reid_sql.reductions.records import FITTED_RECORDS


@table_function(
    "tbl, qi, sampling_fraction, interactions, key, nulls, entity",
    answer=Answer.PER_RECORD,
    reduction=FITTED_RECORDS,
    one_row_per_person=True,
    question=Question.POPULATION,
    source="Skinner & Shlomo 2008; Rocher et al. 2019, supplement",
)
def loglinear_risk(
    fitted: FittedRecords, sampling_fraction: Fraction, interactions: Interactions = 0
) -> LoglinearRisk:
    """Chance that each record of a random sample is unique in the population, and a match on it right.

    By a log-linear model with main effects, or with all two-way interactions, and Poisson counts; `nb_` with
    negative binomial counts of shape `nb_shape` (NULL where Poisson counts are as likely), which does better
    on most tables. `tau1` and `tau2` sum `uniqueness` and `correctness` over the records that are unique in
    the sample. Two-way models of small samples understate the risk, and the status reports it. One row per
    person is assumed; with `entity`, the sample consists of people, each with the row of their smallest
    class, and `record` is the person.

    >>> import numpy as np
    >>> four = FittedRecords(np.array([1, 3]), np.log([1.0, 3.0]), np.empty((2, 0), dtype=np.int64))
    >>> loglinear_risk(four, 0.5).uniqueness.round(4).tolist()
    [0.3679, 0.0]
    """
    return loglinear.score_fitted_records(fitted, sampling_fraction, interactions)
