"""The classes that disclose a sensitive value."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import DISCLOSING_CLASSES


@table_function(
    "tbl, qi, sensitive, measure, variant, threshold, c, k, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=DISCLOSING_CLASSES,
    question=Question.DISCLOSURE,
    source="Machanavajjhala et al. 2007; Li, Li & Venkatasubramanian 2007; Wong et al. 2006; "
    "Cao & Karras 2012; Brickell & Shmatikov 2008",
    one_row_per_person=True,
)
def disclosing_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes that disclose more of a sensitive column than a measure allows.

    `measure` names the function that measures each class. A class is listed if its value is above
    `threshold`; with l_diversity, if it is below. With alpha_k_anonymity, a class of fewer than `k` records
    is listed, too. By default, `variant`, `threshold` and `k` are those of that function. `c` is for the
    variant 'recursive' of l_diversity.

    A class without a value of the measure is listed too, with NULL.

    One row per person is assumed. With `entity`, classes and shares count people, an attacker knows the worst
    row of each, and people with several sensitive values are refused: in one class, or in the table where the
    measure compares classes with it.

    >>> disclosing_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
