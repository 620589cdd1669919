"""The classes that offend t-closeness."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import T_CLOSENESS_CLASSES


@table_function(
    "tbl, qi, sensitive, variant, t, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=T_CLOSENESS_CLASSES,
    question=Question.DISCLOSURE,
    source="Li, Li & Venkatasubramanian 2007",
    one_row_per_person=True,
)
def t_closeness_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes whose sensitive values are further than t from those of the table.

    The answer has one row for each class, with its values of the quasi-identifiers, its number of records and
    its `value` of the measure, as in `t_closeness`. A class without a value of the measure is listed too,
    with NULL.

    With `entity`, the column that identifies people (NULL is one person), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    the table. Without `entity`, one row per person is assumed.

    >>> t_closeness_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
