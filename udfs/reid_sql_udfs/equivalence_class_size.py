"""How many records share a record's values."""

import numpy as np
import numpy.typing as npt

from reid_sql.function import Question, window_function
from reid_sql.parameters import Integers
from reid_sql.reductions.classes import CLASS_SIZE


@window_function(
    reduction=CLASS_SIZE, question=Question.CLASS_SIZES, source="Sweeney 2002 (k-anonymity)"
)
def equivalence_class_size(*columns: npt.ArrayLike) -> Integers:
    """Count the records that share this record's values in the quasi-identifiers (a window function).

    Takes 1 to 64 columns of any type, or one ROW or STRUCT of them. NULL is a separate value, and so is NaN.
    In DuckDB the comparison is exact for any number of columns. It refuses a constant or a list in place of a
    column, which would make one class of all records: write names without quotes. One row per person is
    assumed. If a person has several, use equivalence_class_people(person_id, age, sex), which counts people;
    Polars and Spark also take `entity` here.

    >>> equivalence_class_size(["F", "F", "M"], [30, 30, 41])
    array([2, 2, 1])
    """
    codes = [np.unique(np.asarray(column), return_inverse=True)[1] for column in columns]
    _, inverse, counts = np.unique(np.stack(codes), axis=1, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse.ravel()], dtype=np.int64)
