"""q(x), the probability of a record under a fitted model."""

from reid_sql.function import Question, model_function
from reid_sql.models.fitted_model import Scores
from reid_sql.parameters import Floats


@model_function(
    question=Question.MODEL_SCORES,
    source="Rocher, Hendrickx & de Montjoye 2019, eq. 6 and 17 to 19",
)
def cell_probability(cell: Scores) -> Floats:
    """Probability under a fitted model that a person of the population has exactly this record's values.

    Takes the values in the model's order; NULL is a value. It is 0 only for a value unlike the sample's, of
    whose share nothing is known: see score_records. Refuses an unknown model, and a number of columns that is
    not the model's.

    >>> import numpy as np
    >>> from reid_sql.models.copula.gaussian_copula import CopulaCells
    >>> cell_probability(CopulaCells(np.array([0.25]), np.array([0.0]), np.array(["ok"]), 1))
    array([0.25])
    """
    return cell.probability
