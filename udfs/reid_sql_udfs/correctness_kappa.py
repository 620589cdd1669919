"""κ of a record under a fitted model."""

from reid_sql.function import Question, model_function
from reid_sql.models.fitted_model import Scores
from reid_sql.parameters import Count, Floats


@model_function(
    question=Question.MODEL_SCORES, source="Rocher, Hendrickx & de Montjoye 2019, eq. 27"
)
def correctness_kappa(cell: Scores, population: Count) -> Floats:
    """Probability κ that a match on this record's values in the population is the right person.

    Takes the values in the model's order; NULL is a value. Values that the sample does not contain count
    as in uniqueness_xi, which refuses the same models. ξ ≤ κ ≤ (1 + ξ)/2. Refuses a population below 1.

    >>> import numpy as np
    >>> from reid_sql.models.copula.gaussian_copula import CopulaCells
    >>> correctness_kappa(CopulaCells(np.array([0.25]), np.array([0.0]), np.array(["ok"]), 1), 2)
    array([0.875])
    """
    cell.refuse_doubts(population)
    return cell.correctness(population)
