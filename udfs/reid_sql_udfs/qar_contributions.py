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
from reid_sql.models.extreme import record_contributions, removal_path
from reid_sql.models.extreme.extreme_risk import Alpha, Level, TailShare
from reid_sql.models.extreme.record_contributions import Contribution, ProxyAgreement
from reid_sql.models.extreme.removal_path import By, Removal, Remove
from reid_sql.parameters.outputs import Output
from reid_sql.reductions.qar import CODES, RECORD_CODES


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, memory_mb, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=RECORD_CODES,
    question=Question.UNIQUE_RECORDS,
    source="Béra et al. 2023, section 3",
    output=Output("output", ("contributions",)),
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

    `output := 'elimination'` removes records one after the other, 'proxies' compares what is quicker to
    compute. `entropy` and `pls` need columns that have an order, without NULL. Refuses what qar_risk refuses.
    One row per person is assumed; with `entity`, `record` is the person, and people whose values differ
    between their rows are refused.

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


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, memory_mb, nulls, entity",
    answer=Answer.ROWS,
    reduction=CODES,
    absences=RECORD_CODES.absences,
    question=Question.IDENTIFYING_COLUMNS,
    source="Béra et al. 2023, sections 3.3 to 3.5",
    output=Output("output", ("proxies",), of="qar_contributions"),
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
    NULL and a status where there is no such proxy. `entity` is as above.

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


@table_function(
    "tbl, columns, remove, ranking, p, alpha, tail, sample, seed, memory_mb, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=RECORD_CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="Béra et al. 2023, sections 3 and 4 (proper backward elimination)",
    output=Output("output", ("elimination",), of="qar_contributions"),
)
def qar_elimination(
    table: Codes,
    remove: Remove = 100,
    ranking: By = "exact",
    p: Size = 3,
    alpha: Alpha = 0.01,
    *,
    tail: TailShare = 0.05,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
    memory_mb: Memory = 1024,
) -> list[Removal]:
    """Remove the records of most extreme risk, one after the other, and give the risk after each.

    `ranking` is 'exact', where each removal looks at what remains, or an order computed once: 'dt'
    (contribution), 'u_plus', 'u_star', 'entropy', 'pls'. Refuses to remove all records. `entity` is as above.

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
        ranking,
        memory_mb,
    )
