"""The class-size histogram."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.reduction import Needs
from reid_sql.reductions.classes import HISTOGRAM


@table_function(
    "tbl, qi, nulls, entity, by, tolerance",
    answer=Answer.REDUCTION,
    reduction=HISTOGRAM,
    question=Question.CLASS_SIZES,
    source="the frequencies of frequencies on which every estimator of uniqueness rests",
    overlapping_classes=True,
    needs=Needs.CODES,
)
def class_size_histogram(histogram: Histogram) -> Histogram:
    """Count how many classes, and how many records, have each class size, smallest first.

    One row per person is assumed. With `entity`, sizes are numbers of people, and `records` counts the people
    whose smallest class has that size.

    With `nulls := 'wildcard'`, `blank_records` counts the records that are NULL in every quasi-identifier.
    Their class size is that of the table, but no other record matches them, as in ARX; sdcMicro counts such
    records in.

    With `tolerance`, as in risk_summary, a size is the number of records that match.

    With `by`, if `nulls := 'drop'` drops all records of a group, the group has one row without a class size.

    >>> import numpy as np
    >>> class_size_histogram(Histogram(np.array([1, 9]), np.array([1, 1]), np.array([1, 9]))).records
    array([1, 9])
    """
    return histogram
