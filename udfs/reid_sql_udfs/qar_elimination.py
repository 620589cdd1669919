"""The extreme risk of a table as records are removed."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.class_keys import Memory
from reid_sql.models.classes.quasi_identifiers import (
    ChoicesDrawn,
    Codes,
    Seed,
    Size,
    choose_quasi_identifiers,
    require_one_record_per_person,
)
from reid_sql.models.extreme import removal_path
from reid_sql.models.extreme.extreme_risk import Alpha, Level, TailShare
from reid_sql.models.extreme.removal_path import By, Removal, Remove
from reid_sql.reductions.qar import RECORD_CODES


@table_function(
    "tbl, columns, remove, by, p, alpha, tail, sample, seed, memory_mb, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=RECORD_CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="Béra et al. 2023, sections 3 and 4 (proper backward elimination)",
)
def qar_elimination(
    table: Codes,
    remove: Remove = 100,
    by: By = "exact",
    p: Size = 3,
    alpha: Alpha = 0.01,
    *,
    tail: TailShare = 0.05,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
    memory_mb: Memory = 1024,
) -> list[Removal]:
    """Remove the records of most extreme risk, one after the other, and give the risk after each.

    They are those that contribute most to the extreme risk of the table. Step 0 is the whole table. `by` is
    'exact', where each removal looks at what remains, or an order computed once: 'dt' (contribution),
    'u_plus', 'u_star', 'entropy', 'pls'. `bound` is a risk that no removal of the same number of records can
    reach. Refuses what qar_risk refuses, and to remove all records. One row per person is assumed; with
    `entity`, the column that identifies people, `record` is the person (NULL is refused); people whose
    values differ between their rows are refused.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> columns = [draw.integers(1, 6, 60) for _ in range(7)]
    >>> people = Codes(list("abcdefg"), [True] * 7, columns, np.arange(60))
    >>> [row.record for row in qar_elimination(people, 3, alpha=0.1, tail=0.5)]
    [None, 56, 40, 9]
    """
    return removal_path.remove_records(
        choose_quasi_identifiers(require_one_record_per_person(table), p, sample, seed),
        Level(alpha, tail),
        remove,
        by,
        memory_mb,
    )
