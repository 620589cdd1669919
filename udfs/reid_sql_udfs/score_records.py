"""Every record of a table, scored under a fitted model of either law."""

from reid_sql.function import Question, scored_function
from reid_sql.models.copula.calibration import RecordRisk, SampleUse, record_risk
from reid_sql.models.fitted_model import Scores
from reid_sql.parameters import Count, Integers


@scored_function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 2, 17 to 19 and 27; supplement eq. 17; "
    "Skinner & Shlomo 2008",
)
def score_records(
    cell: Scores, class_size: Integers, population: Count, sample: SampleUse = "ignored"
) -> RecordRisk:
    """Score every record of a table under a fitted model of either law: its columns, with q(x), ξ and κ.

    The columns of the model are found by their names; NULL is a value. The errors are standard errors of a
    copula's integration, 0 under a model of people. For the sample that the model was fitted to, pass
    `sample := 'known'`: only the people outside it are unknown, so that a record that is not alone in the
    table has ξ = 0, and a population of the sample's size is counted. A model of people then leaves each
    record out of its own q. By 'ignored', ξ of records of the sample is too low. `status` contains every
    doubt of the model's fit that holds in this population, of a saved model, too. It names columns whose
    value the sample does not contain. The share of a new value is estimated; a record with a value unlike the
    sample's, such as a text among numbers, counts as unique.

    >>> import numpy as np
    >>> from reid_sql.models.copula.gaussian_copula import CopulaCells
    >>> cell = CopulaCells(np.array([0.25]), np.array([0.0]), np.array(["ok"]), 1)
    >>> score_records(cell, np.array([1]), 3).uniqueness_xi
    array([0.5625])
    """
    return record_risk(cell, class_size, population, sample)
