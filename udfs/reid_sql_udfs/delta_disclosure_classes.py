"""The classes that offend δ-disclosure."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import DELTA_DISCLOSURE_CLASSES


@table_function(
    "tbl, qi, sensitive, variant, delta, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=DELTA_DISCLOSURE_CLASSES,
    question=Question.DISCLOSURE,
    source="Brickell & Shmatikov 2008",
    one_row_per_person=True,
)
def delta_disclosure_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes in which a sensitive value's share differs from the table's by more than delta.

    The answer has one row for each class, with its values of the quasi-identifiers, its number of records and
    its `value` of the measure, as in `delta_disclosure`. A class without a value of the measure is listed
    too, with NULL.

    With `entity`, the column that identifies people (NULL is one person), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    the table. Without `entity`, one row per person is assumed.

    >>> delta_disclosure_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
