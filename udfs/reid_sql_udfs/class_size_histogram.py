"""The class-size histogram."""

from reid_sql.function import Answer, table_function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.reductions.classes import HISTOGRAM


@table_function(
    "tbl, qi, nulls, entity, by",
    answer=Answer.REDUCTION,
    reduction=HISTOGRAM,
    source="the frequencies of frequencies on which every estimator of uniqueness rests",
    overlapping_classes=True,
)
def class_size_histogram(histogram: Histogram) -> Histogram:
    """Count how many classes, and how many records, have each class size, smallest first.

    With `entity`, the column that identifies people (a class counts people, and an attacker knows one row of
    each, the worst), sizes are numbers of people, and `records` are the people whose smallest class is of
    that size. With `nulls := 'wildcard'`, `blank_records` of the records are NULL in every quasi-identifier:
    such a record matches all others, so that its class size is that of the table, and is nobody else's match,
    as in ARX and sdcMicro. One row per person is assumed, unless `entity` says otherwise. With `by`, the
    histogram of each group of the columns' values, NULL a value; a group of which `nulls := 'drop'` leaves
    nothing has one row, without a class size.

    >>> import numpy as np
    >>> class_size_histogram(Histogram(np.array([1, 9]), np.array([1, 1]), np.array([1, 9]))).records
    array([1, 9])
    """
    return histogram
