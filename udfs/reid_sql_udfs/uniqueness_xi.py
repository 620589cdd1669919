"""ξ of a record under a fitted model."""

from reid_sql.function import model_function
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.parameters import Count, Floats


@model_function(source="Rocher, Hendrickx & de Montjoye 2019, eq. 2")
def uniqueness_xi(cell: Estimates, population: Count) -> Floats:
    """Probability ξ that a person with this record's values is the only one of them in the population.

    Takes the values in the model's order; NULL is a value. Under a model of people, real cells scatter around
    the model's. Values that the sample never saw count by what the
    sample says of such values, and where it says nothing ξ is 1. Refuses a population below 1.

    >>> import numpy as np
    >>> uniqueness_xi(Estimates(np.array([0.25]), np.array([0.0])), 3)
    array([0.5625])
    """
    return cell.uniqueness(population)
