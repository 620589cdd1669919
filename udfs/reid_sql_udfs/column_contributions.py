"""Which columns make a record exposed."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import minimal_uniques
from reid_sql.models.classes.class_keys import Memory
from reid_sql.models.classes.minimal_uniques import MaxSize, find_minimal_uniques
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.models.classes.rare_combinations import LeastShared
from reid_sql.reductions.qar import UNIQUES


@table_function(
    "tbl, columns, max_size, memory_mb, key, nulls, entity, k",
    answer=Answer.ROWS,
    reduction=UNIQUES,
    question=Question.UNIQUE_RECORDS,
    source="Elliot, Manning, Mayes, Gurd & Bane 2005; sdcMicro's attribute contributions",
)
def column_contributions(
    table: Codes, max_size: MaxSize = 4, memory_mb: Memory = 1024, k: LeastShared = 2
) -> minimal_uniques.ColumnContributions:
    """Measure how far each column makes a record stand out, for each record that does.

    One row for each column that is in one of the record's minimal unique sets: the score of these sets, and
    its share of the record's SUDA score. A set counts for each of its columns, so the shares of a record may
    add up to more than 1. Of the whole table, a column's part is sum(score) over the sum of all SUDA scores.
    With a higher `k`, the sets are those by which fewer than k records have the same values: joined to the
    table by `key`, they show which value to merge first. `status` is as in minimal_unique_subsets. Refuses
    what minimal_unique_subsets refuses. One row per person is assumed; with `entity`, `record` is the person,
    and the sets are those that single out one of their rows from all rows of others.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> column_contributions(people).column_name.tolist()
    ['sex', 'age', 'sex', 'age']
    """
    return minimal_uniques.score_columns(find_minimal_uniques(table, max_size, memory_mb, k))
