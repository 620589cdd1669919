"""How well the proxies agree with the exact contributions."""

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
from reid_sql.models.extreme.record_contributions import ProxyAgreement
from reid_sql.reductions.qar import CODES, RECORD_CODES


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, memory_mb, nulls, entity",
    answer=Answer.ROWS,
    reduction=CODES,
    absences=RECORD_CODES.absences,
    question=Question.IDENTIFYING_COLUMNS,
    source="Béra et al. 2023, sections 3.3 to 3.5",
)
def qar_proxies(
    table: Codes,
    p: Size = 3,
    alpha: Alpha = 0.01,
    tail: TailShare = 0.05,
    *,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
    memory_mb: Memory = 1024,
) -> list[ProxyAgreement]:
    """Compare what is quick to compute for a record with its exact contribution to the extreme risk.

    For each of u_plus, u_star, entropy and pls: the correlations of Pearson and Kendall with the
    contribution, and the chance (`auc`) that it ranks a record that raises the risk above one that does not.
    NULL and a status where there is no such proxy. Refuses what qar_risk refuses. One row per person is
    assumed; with `entity`, the column that identifies people (a class counts people, and an attacker knows
    one row of each person, the worst), the function ranks people (NULL is refused), and refuses people
    whose values differ between their rows.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> columns = [draw.integers(1, 6, 60) for _ in range(7)]
    >>> people = Codes(list("abcdefg"), [True] * 7, columns, np.arange(60))
    >>> [row.proxy for row in qar_proxies(people, 3, 0.1, 0.5)]
    ['u_plus', 'u_star', 'entropy', 'pls']
    """
    return record_contributions.compare_proxies(
        choose_quasi_identifiers(require_one_record_per_person(table), p, sample, seed),
        Level(alpha, tail),
        memory_mb,
    )
