"""The extreme re-identification risk of a table, and what each record contributes to it."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.quasi_identifiers import (
    ChoicesDrawn,
    Codes,
    Seed,
    Size,
    choose_quasi_identifiers,
    require_one_record_per_person,
)
from reid_sql.models.extreme import extreme_risk, record_contributions, removal_path
from reid_sql.models.extreme.extreme_risk import (
    Alpha,
    ExtremeRisk,
    Level,
    QuasiIdentifierRisk,
    TailShare,
)
from reid_sql.models.extreme.record_contributions import Contribution, ProxyAgreement
from reid_sql.models.extreme.removal_path import By, Removal, Remove
from reid_sql.parameters.outputs import Output
from reid_sql.reduction import Needs
from reid_sql.reductions.qar import CODES, RECORD_CODES


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, nulls, entity",
    answer=Answer.ROW,
    reduction=CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="AFNOR SPEC Z90-030 (QaR); Béra et al. 2023, section 2; Hosking & Wallis 1987",
    needs=Needs.CODES,
    output=Output("output", ("risk",)),
)
def qar_risk(
    table: Codes,
    p: Size = 3,
    alpha: Alpha = 0.01,
    tail: TailShare = 0.05,
    *,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
) -> ExtremeRisk:
    """Estimate the risk that only a share alpha of choices of p columns exceed, by extreme-value theory.

    It is the QaR of the table, over all choices, which `output := 'quasi_identifiers'` lists. 'contributions'
    measures how much of it is due to each record, and 'elimination' the risk after the removal of records.
    The risk of a choice is its distinct values over the records. A generalised Pareto law (`shape`, `scale`)
    is fitted to the logits of the risks above `threshold`, the 1 − tail quantile. `risk_low` and `risk_high`
    are the 95 % bootstrap interval over quasi-identifiers. If there is no fit, the risk is NULL, and `status`
    gives the reason. Refuses alpha not below tail. One row per person is assumed; with `entity`, the risk of
    a choice is the mean over people of 1/size of the smallest of their classes, in people.

    >>> import numpy as np
    >>> columns = [np.array([1, 2, 3, 4]), np.array([1, 1, 2, 2])]
    >>> people = Codes(["id", "sex"], [True, False], columns, np.arange(4))
    >>> qar_risk(people, 1).risk
    1.0
    """
    return extreme_risk.estimate_extreme_risk(
        choose_quasi_identifiers(table, p, sample, seed), Level(alpha, tail)
    )


@table_function(
    "tbl, columns, p, sample, seed, nulls, entity",
    answer=Answer.ROWS,
    reduction=CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="AFNOR SPEC Z90-030 (QaR); Béra et al. 2023",
    needs=Needs.CODES,
    output=Output("output", ("quasi_identifiers",), of="qar_risk"),
)
def qar_quasi_identifiers(
    table: Codes, p: Size = 3, sample: ChoicesDrawn = 0, seed: Seed = 0
) -> list[QuasiIdentifierRisk]:
    """List every choice of p columns with its distinct values and its risk, the riskiest first.

    `sample` is the number of choices to draw instead of counting all; `status` then reports this.
    Refuses an empty table, p beyond the columns, and more than 200,000 choices. `entity` is as above.

    >>> import numpy as np
    >>> columns = [np.array([1, 2, 3, 3]), np.array([1, 1, 2, 2])]
    >>> people = Codes(["age", "sex"], [True, False], columns, np.arange(4))
    >>> [(row.quasi_identifier, row.risk) for row in qar_quasi_identifiers(people, 1)]
    [(['age'], 0.75), (['sex'], 0.5)]
    """
    return extreme_risk.rank_quasi_identifiers(choose_quasi_identifiers(table, p, sample, seed))


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=RECORD_CODES,
    question=Question.UNIQUE_RECORDS,
    source="Béra et al. 2023, section 3",
    output=Output("output", ("contributions",), of="qar_risk"),
)
def qar_contributions(
    table: Codes,
    p: Size = 3,
    alpha: Alpha = 0.01,
    tail: TailShare = 0.05,
    *,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
) -> list[Contribution]:
    """Measure exactly how far the table's extreme risk falls without each record, in table order.

    `entropy` and `pls` need columns that have an order, without NULL; 'proxies' compares them with the exact
    contribution. With `entity`, `record` is the person, and people whose values differ between their rows are
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
    )


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, nulls, entity",
    answer=Answer.ROWS,
    reduction=CODES,
    absences=RECORD_CODES.absences,
    question=Question.IDENTIFYING_COLUMNS,
    source="Béra et al. 2023, sections 3.3 to 3.5",
    output=Output("output", ("proxies",), of="qar_risk"),
)
def qar_proxies(
    table: Codes,
    p: Size = 3,
    alpha: Alpha = 0.01,
    tail: TailShare = 0.05,
    *,
    sample: ChoicesDrawn = 0,
    seed: Seed = 0,
) -> list[ProxyAgreement]:
    """Compare what is quick to compute for a record with its exact contribution to the extreme risk.

    For each of u_plus, u_star, entropy and pls: the correlations of Pearson and Kendall with the
    contribution, and the chance (`auc`) that it ranks a record that raises the risk above one that does not.
    NULL and a status where there is no such proxy. People whose values differ between their rows are refused.

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
    )


@table_function(
    "tbl, columns, remove, ranking, p, alpha, tail, sample, seed, key, nulls, entity",
    answer=Answer.ROWS,
    reduction=RECORD_CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="Béra et al. 2023, sections 3 and 4 (proper backward elimination)",
    output=Output("output", ("elimination",), of="qar_risk"),
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
) -> list[Removal]:
    """Remove the records of most extreme risk, one after the other, and give the risk after each.

    `ranking` is 'exact', where each removal looks at what remains, or an order computed once: 'dt'
    (contribution), 'u_plus', 'u_star', 'entropy', 'pls'. Refuses to remove all records. `entity` and
    `record` are as for 'contributions'.

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
    )
