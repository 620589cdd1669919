"""The classes that offend (α, k)-anonymity."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import ALPHA_K_ANONYMITY_CLASSES


@table_function(
    "tbl, qi, sensitive, alpha, k, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=ALPHA_K_ANONYMITY_CLASSES,
    question=Question.DISCLOSURE,
    source="Wong et al. 2006 (general model)",
    one_row_per_person=True,
)
def alpha_k_anonymity_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes in which a sensitive value has a share above alpha, or that have fewer than k records.

    The answer has one row for each class, with its values of the quasi-identifiers, its number of records and
    its `value` of the measure, as in `alpha_k_anonymity`. A class without a value of the measure is listed
    too, with NULL.

    With `entity`, the column that identifies people (NULL is one person), classes and shares count people,
    and an attacker knows one row of each person, the worst. Refuses people with several sensitive values in
    one class. Without `entity`, one row per person is assumed.

    >>> alpha_k_anonymity_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
