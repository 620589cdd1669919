"""The classes that offend β-likeness."""

from reid_sql.function import Answer, table_function
from reid_sql.models.classes.sensitive import OffendingClasses
from reid_sql.reductions.disclosure import BETA_LIKENESS_CLASSES


@table_function(
    "tbl, qi, sensitive, variant, beta, nulls, entity",
    answer=Answer.REDUCTION,
    reduction=BETA_LIKENESS_CLASSES,
    source="Cao & Karras 2012",
    one_row_per_person=True,
)
def beta_likeness_classes(classes: OffendingClasses) -> OffendingClasses:
    """List the classes in which a sensitive value gains more than beta on its share in the table.

    One row a class, with its values of the quasi-identifiers, its number of records and its `value` of the
    measure, as in `beta_likeness`. A class whose value is not known is listed too, with NULL.
    With `entity`, the column that identifies people (NULL is one person), people are counted: a class and a
    share count people, and an attacker knows one row of each, the worst. People of several sensitive values
    in the table are refused. Else one row per person is assumed.

    >>> beta_likeness_classes(OffendingClasses({"sex": ["F"]}, [3], [0.5])).class_size
    [3]
    """
    return classes
