"""Which columns together identify people."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import identifying_sets
from reid_sql.models.classes.identifying_sets import AtLeast, DistinctCodes, MaxSets, Sets
from reid_sql.parameters import MAX_COLUMNS, SubsetSize
from reid_sql.reduction import Needs
from reid_sql.reductions.distinct_records import DISTINCT_CODES


@table_function(
    "tbl, columns, at_least, max_size, nulls, entity, max_sets, sets",
    answer=Answer.ROWS,
    reduction=DISTINCT_CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="Motwani & Xu 2007 (quasi-identifiers and keys); Huhtala et al. 1999 (stripped partitions)",
    needs=Needs.CODES,
)
def quasi_identifiers(
    table: DistinctCodes,
    at_least: AtLeast = 0.05,
    max_size: SubsetSize = MAX_COLUMNS,
    max_sets: MaxSets = 0,
    *,
    sets: Sets = "minimal",
) -> list[identifying_sets.QuasiIdentifier]:
    """List every minimal set of columns by which at least a share of the records is unique.

    A set is listed if at least the share `at_least` of the records is unique by its columns, and no smaller
    set within it reaches the share. Every other set that reaches the share contains a listed one. With
    `at_least := 1` these are the minimal keys. All columns of the table are searched unless `columns` names
    some. The smallest sets come first. The list is exact and complete up to `max_size` columns. With
    `sets := 'smallest'` the search ends with the sets of the fewest columns that reach the share, and lists
    only these. If no set reaches the share, the answer is one row without columns. The search counts at most
    `max_sets` sets of columns; by default, 0, as many as take a few seconds. If it stops there (of keys,
    after as many again, size by size), `status` gives the number of columns up to which the list is complete,
    and no larger set is listed. If the list would be empty then, it has the best set that a greedy search
    finds, and `status` is `greedy`, or `greedy_below` if that set does not reach the share. `nulls := 'drop'`
    drops the records with a NULL in any of the columns. Refuses an empty table, and more than 64 columns. One
    row per person is assumed; with `entity`, a person is unique if one of their rows has values that no other
    person has.

    >>> import numpy as np
    >>> codes = [np.array([1, 1, 2]), np.array([1, 2, 2]), np.array([1, 1, 1])]
    >>> people = DistinctCodes(["age", "sex", "state"], codes, np.array([1, 1, 1]))
    >>> [row.columns for row in quasi_identifiers(people, 0.5)]
    [['age', 'sex']]
    """
    return identifying_sets.find_quasi_identifiers(table, at_least, max_size, max_sets, sets=sets)
