"""How exposed a record is, which sets of columns single it out, and each column's part in it."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import minimal_uniques
from reid_sql.models.classes.minimal_uniques import Dis, MaxSize, find_minimal_uniques
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.models.classes.rare_combinations import LeastShared
from reid_sql.parameters.outputs import Output
from reid_sql.reductions.qar import UNIQUES


@table_function(
    "tbl, columns, max_size, dis, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=UNIQUES,
    question=Question.UNIQUE_RECORDS,
    source="Elliot, Manning, Mayes, Gurd & Bane 2005; DIS-SUDA of Elliot & Manning 2003",
    output=Output("output", ("scores",)),
)
def suda_scores(table: Codes, max_size: MaxSize = 4, dis: Dis = 0.1) -> minimal_uniques.SudaScores:
    """Score each record that stands out: how many sets of columns single it out, and how small these are.

    The score of a record is the sum of the scores of its minimal unique sets, which `output := 'subsets'`
    lists; 'columns' is each column's part in it. Of A columns, a set of k
    columns scores the product of A − i for i from k to `max_size`, or to A − 1 if that is smaller. With
    `max_size` of A − 1 or more, a set scores (A − k)!, as in sdcMicro, which uses sets of all sizes. A
    smaller `max_size` divides all these scores by one number and leaves out larger sets: `status` is then
    `incomplete`. A record that no searched set singles out has no row.

    `dis` is the chance that a unique match with the table is right, on average, and `dis_suda` this chance
    for each record: dis · score / mean score of the records that have one, at most 1. sdcMicro computes `dis`
    from a sampling fraction and scales differently, so its values differ.

    Refuses an empty table, more than 200,000 sets of columns, and a `dis` outside [0, 1]. One row per person
    is assumed; with `entity`, `record` is the person, and a set singles them out if one of their rows has
    values in its columns that no other person has.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> suda_scores(people).suda_score.tolist()
    [1.0, 1.0, 1.0]
    """
    return minimal_uniques.score_records(find_minimal_uniques(table, max_size), dis)


@table_function(
    "tbl, columns, max_size, key, nulls, entity, k",
    answer=Answer.ROWS,
    reduction=UNIQUES,
    question=Question.UNIQUE_RECORDS,
    source="Manning, Haglin & Keane 2008 (SUDA2); scores of Elliot, Manning, Mayes, Gurd & Bane 2005",
    output=Output("output", ("subsets",), of="suda_scores"),
)
def minimal_unique_subsets(
    table: Codes, max_size: MaxSize = 4, k: LeastShared = 2
) -> minimal_uniques.UniqueSubsets:
    """List, for each record, the smallest sets of columns that single it out.

    A set is listed if no other record has the same values in its columns, and no smaller set within it does
    this. With a higher `k`, it lists sets by which fewer than k records have the same values: the
    combinations that unsafe_combinations counts. The list is exact, and ordered by records and size. If no
    set was found and larger sets were not searched, one row without a record has the status.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> minimal_unique_subsets(people).columns.tolist()
    [['sex'], ['age', 'sex'], ['age']]
    """
    return minimal_uniques.list_subsets(find_minimal_uniques(table, max_size, k))


@table_function(
    "tbl, columns, max_size, key, nulls, entity, k",
    answer=Answer.ROWS,
    reduction=UNIQUES,
    question=Question.UNIQUE_RECORDS,
    source="Elliot, Manning, Mayes, Gurd & Bane 2005; sdcMicro's attribute contributions",
    output=Output("output", ("columns",), of="suda_scores"),
)
def column_contributions(
    table: Codes, max_size: MaxSize = 4, k: LeastShared = 2
) -> minimal_uniques.ColumnContributions:
    """Measure how far each column makes a record stand out, for each record that does.

    One row for each column that is in one of the record's minimal unique sets: the score of these sets, and
    its share of the record's SUDA score. A set counts for each of its columns, so the shares of a record may
    add up to more than 1. Of the whole table, a column's part is sum(score) over the sum of all SUDA scores.
    With a higher `k`, the sets are those by which fewer than k records have the same values: joined to the
    table by `key`, they show which value to merge first.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> column_contributions(people).column_name.tolist()
    ['sex', 'age', 'sex', 'age']
    """
    return minimal_uniques.score_columns(find_minimal_uniques(table, max_size, k))
