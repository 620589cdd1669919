"""Every record of a table, scored under a fitted model."""

from reid_sql.function import Question, scored_function
from reid_sql.models.copula.calibration import RecordRisk, SampleUse, record_risk
from reid_sql.models.fitted_model import Scores
from reid_sql.parameters import Count, Integers


@scored_function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 2, 17 to 19 and 27; supplement eq. 17",
)
def score_copula(
    cell: Scores, class_size: Integers, population: Count, sample: SampleUse = "ignored"
) -> RecordRisk:
    """Score every record of a table under a fitted model: its columns, with q(x), ξ, κ and their errors.

    The old name of score_records, which says the same under a model of either law.

    Each distinct record is scored once; the columns of the model are found by their names, NULL is a value.
    The errors are standard errors of the integration. With `sample := 'known'`, for the sample itself, a
    record that is not alone in the table has ξ = 0. `status` is that of score_records.

    >>> import numpy as np
    >>> from reid_sql.models.copula.gaussian_copula import CopulaCells
    >>> cell = CopulaCells(np.array([0.25]), np.array([0.0]), np.array(["ok"]), 1)
    >>> score_copula(cell, np.array([1]), 3).uniqueness_xi
    array([0.5625])
    """
    return record_risk(cell, class_size, population, sample)
