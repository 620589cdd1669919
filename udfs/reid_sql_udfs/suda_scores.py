"""How exposed a record is."""

from reid_sql.function import Answer, table_function
from reid_sql.models.classes import minimal_uniques
from reid_sql.models.classes.class_keys import Memory
from reid_sql.models.classes.minimal_uniques import Dis, MaxSize, find_minimal_uniques
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.reductions.codes import UNIQUES


@table_function(
    "tbl, columns, max_size, dis, memory_mb, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=UNIQUES,
    source="Elliot, Manning, Mayes, Gurd & Bane 2005; DIS-SUDA of Elliot & Manning 2003",
)
def suda_scores(
    table: Codes, max_size: MaxSize = 4, dis: Dis = 0.1, memory_mb: Memory = 1024
) -> minimal_uniques.SudaScores:
    """Score each record that stands out: how many sets of columns single it out, and how small these are.

    Of A columns, a minimal unique set of k scores the product of A − i for i from k to max_size, if that is
    below A, and a record the sum of its sets; so with max_size of A − 1 or more a set scores (A − k)!, as in
    sdcMicro, which looks at sets of all sizes. A smaller max_size divides all these scores by one number and
    leaves out larger sets. `dis` is the chance that a unique match with the table is right, for the file as a
    whole; `dis_suda` gives each record its part of it: dis · score / mean score of the records that have one,
    and at most 1. sdcMicro works out the file's risk from a sampling fraction and scales by a rule of its
    own, so its values differ. A record that no set singles out has no row. Refuses what
    minimal_unique_subsets refuses, and a `dis` outside [0, 1]. One row per person is assumed; with `entity`,
    the column that identifies people (a class counts people, and an attacker knows one row of each person,
    the worst), people are scored, by the sets that single out one of their rows from all rows of others.

    >>> import numpy as np
    >>> people = Codes(["age", "sex"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> suda_scores(people).suda_score.tolist()
    [1.0, 1.0, 1.0]
    """
    return minimal_uniques.score_records(find_minimal_uniques(table, max_size, memory_mb), dis)
