"""How exposed a record is."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import minimal_uniques
from reid_sql.models.classes.class_keys import Memory
from reid_sql.models.classes.minimal_uniques import Dis, MaxSize, find_minimal_uniques
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.reductions.qar import UNIQUES


@table_function(
    "tbl, columns, max_size, dis, memory_mb, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=UNIQUES,
    question=Question.UNIQUE_RECORDS,
    source="Elliot, Manning, Mayes, Gurd & Bane 2005; DIS-SUDA of Elliot & Manning 2003",
)
def suda_scores(
    table: Codes, max_size: MaxSize = 4, dis: Dis = 0.1, memory_mb: Memory = 1024
) -> minimal_uniques.SudaScores:
    """Score each record that stands out: how many sets of columns single it out, and how small these are.

    The score of a record is the sum of the scores of its minimal unique sets. Of A columns, a set of k
    columns scores the product of A − i for i from k to `max_size`, or to A − 1 if that is smaller. With
    `max_size` of A − 1 or more, a set scores (A − k)!, as in sdcMicro, which uses sets of all sizes. A
    smaller `max_size` divides all these scores by one number and leaves out larger sets: `status` is then
    `incomplete`. A record that no searched set singles out has no row.

    `dis` is the chance that a unique match with the table is right, on average, and `dis_suda` this chance
    for each record: dis · score / mean score of the records that have one, at most 1. sdcMicro computes `dis`
    from a sampling fraction and scales differently, so its values differ.

    Refuses what minimal_unique_subsets refuses, and a `dis` outside [0, 1]. One row per person is assumed;
    with `entity`, the function scores people, by the sets that single out one of their rows from all rows of
    others.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> suda_scores(people).suda_score.tolist()
    [1.0, 1.0, 1.0]
    """
    return minimal_uniques.score_records(find_minimal_uniques(table, max_size, memory_mb), dis)
