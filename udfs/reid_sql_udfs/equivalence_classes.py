"""The equivalence classes of a table."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.disclosure import Classes
from reid_sql.reductions.classes import CLASSES


@table_function(
    "tbl, qi, nulls, entity, tolerance",
    answer=Answer.REDUCTION,
    reduction=CLASSES,
    question=Question.CLASS_SIZES,
    source="Sweeney 2002 (k-anonymity)",
    overlapping_classes=True,
)
def equivalence_classes(classes: Classes) -> Classes:
    """List the distinct combinations of values of the quasi-identifiers, with the records of each.

    `class_size` is the number of records that match the combination, and `records` the number that have
    exactly these values. They differ only with `nulls := 'wildcard'`, where a NULL in either record matches
    anything, and with `tolerance`, by which values match that differ by no more, as in risk_summary. One row
    per person is assumed; with `entity`, `class_size` is a number of people.

    >>> equivalence_classes(Classes({"sex": ["F", "M"]}, [3, 2], [3, 2])).class_size
    [3, 2]
    """
    return classes
