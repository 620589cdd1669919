"""What each record contributes to the extreme risk of its table."""

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
from reid_sql.models.extreme import record_contributions
from reid_sql.models.extreme.extreme_risk import Alpha, Level, TailShare
from reid_sql.models.extreme.record_contributions import Contribution
from reid_sql.reductions.qar import RECORD_CODES


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, memory_mb, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=RECORD_CODES,
    question=Question.UNIQUE_RECORDS,
    source="Béra et al. 2023, section 3",
)
def qar_contributions(
    table: Codes,
    p: Size = 3,
    alpha: Alpha = 0.01,
    tail: TailShare = 0.05,
    *,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
    memory_mb: Memory = 1024,
) -> list[Contribution]:
    """Measure exactly how far the table's extreme risk falls without each record, in table order.

    `record` is the value of the column `key`, or without `key` the position in the scan, from 0. A negative
    contribution means that the risk would rise. `u_plus` and `u_star` sum the risks, and one less the risks,
    of the quasi-identifiers for which the record is unique; `entropy` and `pls` need columns that have an
    order, without NULL. Refuses what qar_risk refuses. One row per person is assumed; with `entity`, the
    column that identifies people (a class counts people, and an attacker knows one row of each person, the
    worst), `record` is the person (NULL is refused); people whose values differ between their rows are
    refused.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> columns = [draw.integers(1, 6, 60) for _ in range(7)]
    >>> people = Codes(list("abcdefg"), [True] * 7, columns, np.arange(60))
    >>> round(max(row.contribution for row in qar_contributions(people, 3, 0.1, 0.5)), 4)
    0.0052
    """
    return record_contributions.list_contributions(
        choose_quasi_identifiers(require_one_record_per_person(table), p, sample, seed),
        Level(alpha, tail),
        memory_mb,
    )
