"""The classes that offend l-diversity."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import L_DIVERSITY_CLASSES


@table_function(
    "tbl, qi, sensitive, variant, c, l, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=L_DIVERSITY_CLASSES,
    question=Question.DISCLOSURE,
    source="Machanavajjhala et al. 2007",
    one_row_per_person=True,
)
def l_diversity_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes that have fewer than l sensitive values.

    The answer has one row for each class, with its values of the quasi-identifiers, its number of records and
    its `value` of the measure, as in `l_diversity`. A class without a value of the measure is listed too,
    with NULL.

    With `entity`, the column that identifies people (NULL is one person), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    one class. Without `entity`, one row per person is assumed.

    >>> l_diversity_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
