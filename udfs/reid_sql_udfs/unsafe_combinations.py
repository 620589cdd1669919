"""Which combinations of values too few records share."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import rare_combinations as rare
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.classes.rare_combinations import LeastSharedBySize
from reid_sql.parameters import SubsetSize
from reid_sql.reduction import Needs
from reid_sql.reductions.distinct_records import DISTINCT_CODES


@table_function(
    "tbl, columns, k, max_size, nulls, entity",
    answer=Answer.ROWS,
    reduction=DISTINCT_CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="Terrovitis, Mamoulis & Kalnis 2008 (k^m-anonymity); Manning, Haglin & Keane 2008 (SUDA2)",
    needs=Needs.CODES,
)
def unsafe_combinations(
    table: DistinctCodes,
    k: LeastSharedBySize = 5,
    max_size: SubsetSize = 3,
) -> list[rare.UnsafeCombinations]:
    """Count the minimal combinations of values that fewer than k records share, by their columns.

    A combination is minimal if k or more records share each part of it. `k` may be a list with a threshold
    for each size: [20, 10, 3] asks 20 records for each value, 10 for each pair and 3 for each triple. The
    smallest sets come first. If no combination is found, the table is k^m-anonymous for m = `max_size`: any m
    values of a person match at least k records or none. `status` is `incomplete` if larger sets were not
    searched; if no combination was found then, one row without columns has the status. No value of the table
    is shown; suda_scores(output := 'subsets') lists the records. The counts are exact. `nulls := 'drop'`
    drops the records with a NULL in any of the columns. Refuses an empty table, and more than 200,000 sets of
    columns. One row per person is assumed; with `entity`, a combination counts the people who have it in one
    of their rows.

    >>> import numpy as np
    >>> codes = [np.array([1, 1, 2]), np.array([1, 2, 2])]
    >>> people = DistinctCodes(["age", "sex"], codes, np.array([9, 1, 9]))
    >>> [(row.columns, row.combinations, row.fewest) for row in unsafe_combinations(people)]
    [(['age', 'sex'], 1, 1)]
    """
    return rare.find_unsafe_combinations(table, k, max_size)
