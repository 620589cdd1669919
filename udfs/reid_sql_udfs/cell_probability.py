"""q(x), the probability of a record under a fitted model."""

from reid_sql.function import model_function
from reid_sql.models.numerics.rectangle import Estimates
from reid_sql.parameters import Floats


@model_function(source="Rocher, Hendrickx & de Montjoye 2019, eq. 6 and 17 to 19")
def cell_probability(cell: Estimates) -> Floats:
    """Probability under a fitted model that a person of the population has exactly this record's values.

    Takes the values in the model's order; NULL is a value. 0 only for values that the sample gave no sign of:
    see fit_copula. Refuses a model that is not known, and another number of columns than the model's.

    >>> import numpy as np
    >>> cell_probability(Estimates(np.array([0.25]), np.array([0.0])))
    array([0.25])
    """
    return cell.probability
