"""How many people share a record's values."""

from typing import Annotated

import numpy as np
import numpy.typing as npt

from reid_sql.function import Question, window_function
from reid_sql.parameters import Entity, Integers
from reid_sql.reductions.classes import CLASS_SIZE


@window_function(
    reduction=CLASS_SIZE,
    question=Question.CLASS_SIZES,
    source="Sweeney 2002 (k-anonymity), of people in place of rows",
)
def equivalence_class_people(
    entity: Annotated[npt.ArrayLike, Entity()], *columns: npt.ArrayLike
) -> Integers:
    """Count the people, not rows, who share this record's quasi-identifiers (a window function).

    `entity`, the column that identifies people, comes first; then 1 to 64 quasi-identifiers, as in
    equivalence_class_size. A person with several rows counts once in each class that contains one of these
    rows. A row without an entity (NULL) is refused. The result is exact. Refuses a constant or a list
    in place of a column, and an entity among the quasi-identifiers.

    >>> equivalence_class_people([1, 1, 2], ["F", "F", "F"], [30, 30, 30])
    array([2, 2, 2])
    """
    people = np.unique(np.asarray(entity), return_inverse=True)[1]
    codes = [np.unique(np.asarray(column), return_inverse=True)[1] for column in columns]
    _, classes = np.unique(np.stack(codes), axis=1, return_inverse=True)
    of_classes = np.unique(np.stack([classes.ravel(), people]), axis=1)[0]
    return np.asarray(np.bincount(of_classes)[classes.ravel()], dtype=np.int64)
