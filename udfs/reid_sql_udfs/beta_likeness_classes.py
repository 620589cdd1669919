"""The classes that offend β-likeness."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import BETA_LIKENESS_CLASSES


@table_function(
    "tbl, qi, sensitive, variant, beta, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=BETA_LIKENESS_CLASSES,
    question=Question.DISCLOSURE,
    source="Cao & Karras 2012",
    one_row_per_person=True,
)
def beta_likeness_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes in which a sensitive value gains more than beta on its share in the table.

    The answer has one row for each class, with its values of the quasi-identifiers, its number of records and
    its `value` of the measure, as in `beta_likeness`. A class without a value of the measure is listed too,
    with NULL.

    With `entity`, the column that identifies people (NULL is one person), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    the table. Without `entity`, one row per person is assumed.

    >>> beta_likeness_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
