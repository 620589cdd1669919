"""Correctness within samples of a table, exactly."""

from typing import Annotated

import numpy.typing as npt

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import CurvePoint
from reid_sql.parameters import COUNT, Numbers
from reid_sql.reduction import Needs
from reid_sql.reductions.classes import HISTOGRAM


@table_function(
    "tbl, qi, sizes, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=HISTOGRAM,
    question=Question.CORRECTNESS,
    source="Hurlbert 1971 (rarefaction); Rocher, Hendrickx & de Montjoye 2025",
    needs=Needs.CODES,
)
def correctness_curve(
    histogram: Histogram,
    sizes: Annotated[npt.ArrayLike | None, Numbers(COUNT, optional=True)] = None,
) -> list[CurvePoint]:
    """Correctness and uniqueness to expect in a random sample of n records, exactly, without drawing any.

    `sizes` are whole numbers from 1 to the number of records; by default 50 numbers, evenly spaced on a
    logarithmic scale. Refuses other sizes, an empty table, and `nulls := 'wildcard'`.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    With `by`, each group is a separate table. If a size is above the number of records of one group, it is
    refused for all.

    >>> import numpy as np
    >>> pairs = Histogram(np.array([2]), np.array([2]), np.array([4]))
    >>> correctness_curve(pairs, [4])[0].correctness
    0.5
    """
    return uniqueness.rarefy(histogram, sizes)
