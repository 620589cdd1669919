"""ξ of a record under a fitted model."""

from reid_sql.function import Question, model_function
from reid_sql.models.fitted_model import Scores
from reid_sql.parameters import Count, Floats


@model_function(
    question=Question.MODEL_SCORES, source="Rocher, Hendrickx & de Montjoye 2019, eq. 2"
)
def uniqueness_xi(cell: Scores, population: Count) -> Floats:
    """Probability ξ that a person with this record's values is the only one of them in the population.

    Takes the values in the model's order; NULL is a value. Under a model of people, real cells scatter around
    the model's. The model estimates the share of a new value, such as an age that nobody in the sample has. A
    value unlike the sample's, such as a text among numbers, has no share: ξ is 1, so that no filter for risky
    records loses it. `score_records` reports both. A score has no status: under a model whose scores are far
    too low, it is refused, and `score_records` gives it with its status. Refuses a population below 1.

    >>> import numpy as np
    >>> from reid_sql.models.copula.gaussian_copula import CopulaCells
    >>> uniqueness_xi(CopulaCells(np.array([0.25]), np.array([0.0]), np.array(["ok"]), 1), 3)
    array([0.5625])
    """
    cell.refuse_doubts(population)
    return cell.uniqueness(population)
