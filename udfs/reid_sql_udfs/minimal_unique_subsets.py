"""Why a record is exposed."""

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
    source="Manning, Haglin & Keane 2008 (SUDA2); scores of Elliot, Manning, Mayes, Gurd & Bane 2005",
)
def minimal_unique_subsets(
    table: Codes, max_size: MaxSize = 4, memory_mb: Memory = 1024, k: LeastShared = 2
) -> minimal_uniques.UniqueSubsets:
    """List, for each record, the smallest sets of columns that single it out.

    A set is listed if no other record has the same values in its columns, and no smaller set within it does
    this. Sets of more than max_size columns are not searched. With a higher `k`, it lists sets by which fewer
    than k records have the same values: the combinations that unsafe_combinations counts. The list is exact,
    and ordered by records and size; a record that no set singles out has no row. `status` is `incomplete` if
    larger sets were not searched; if no set was found then, one row without a record has the status. Refuses
    an empty table, and more than 200,000 sets of columns. One row per person is assumed; with `entity`,
    `record` is the person, and a set singles them out if one of their rows has values in its columns that no
    other person has.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> minimal_unique_subsets(people).columns.tolist()
    [['sex'], ['age', 'sex'], ['age']]
    """
    return minimal_uniques.list_subsets(find_minimal_uniques(table, max_size, memory_mb, k))
