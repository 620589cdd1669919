"""The extreme re-identification risk of a table."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.class_keys import Memory
from reid_sql.models.classes.quasi_identifiers import (
    ChoicesDrawn,
    Codes,
    Seed,
    Size,
    choose_quasi_identifiers,
)
from reid_sql.models.extreme import extreme_risk
from reid_sql.models.extreme.extreme_risk import (
    Alpha,
    ExtremeRisk,
    Level,
    QuasiIdentifierRisk,
    TailShare,
)
from reid_sql.parameters.outputs import Output
from reid_sql.reduction import Needs
from reid_sql.reductions.qar import CODES


@table_function(
    "tbl, columns, p, alpha, tail, sample, seed, memory_mb, nulls, entity",
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
    memory_mb: Memory = 1024,
) -> ExtremeRisk:
    """Estimate the risk that only a share alpha of choices of p columns exceed, by extreme-value theory.

    It is the QaR of the table, over all choices, which `output := 'quasi_identifiers'` lists. The risk of a
    choice is its distinct values over the records. A generalised Pareto law (`shape`, `scale`) is fitted to
    the logits of the risks above `threshold`, the 1 − tail quantile. `risk_low` and `risk_high` are the 95 %
    bootstrap interval over quasi-identifiers. If there is no fit, the risk is NULL, and `status` gives the
    reason. Refuses alpha not below tail. One row per person is assumed; with `entity`, the risk of a choice
    is the mean over people of 1/size of the smallest of their classes, in people.

    >>> import numpy as np
    >>> columns = [np.array([1, 2, 3, 4]), np.array([1, 1, 2, 2])]
    >>> people = Codes(["id", "sex"], [True, False], columns, np.arange(4))
    >>> qar_risk(people, 1).risk
    1.0
    """
    return extreme_risk.estimate_extreme_risk(
        choose_quasi_identifiers(table, p, sample, seed), Level(alpha, tail), memory_mb
    )


@table_function(
    "tbl, columns, p, sample, seed, memory_mb, nulls, entity",
    answer=Answer.ROWS,
    reduction=CODES,
    question=Question.IDENTIFYING_COLUMNS,
    source="AFNOR SPEC Z90-030 (QaR); Béra et al. 2023",
    needs=Needs.CODES,
    output=Output("output", ("quasi_identifiers",), of="qar_risk"),
)
def qar_quasi_identifiers(
    table: Codes, p: Size = 3, sample: ChoicesDrawn = 0, seed: Seed = 0, memory_mb: Memory = 1024
) -> list[QuasiIdentifierRisk]:
    """List every choice of p columns with its distinct values and its risk, the riskiest first.

    `sample` is the number of choices to draw instead of counting all; `status` then reports this. `memory_mb`
    bounds the memory that counting takes in addition to the engine's. Refuses an empty table, p beyond the
    columns, and more than 200,000 choices. `entity` is as above.

    >>> import numpy as np
    >>> columns = [np.array([1, 2, 3, 3]), np.array([1, 1, 2, 2])]
    >>> people = Codes(["age", "sex"], [True, False], columns, np.arange(4))
    >>> [(row.quasi_identifier, row.risk) for row in qar_quasi_identifiers(people, 1)]
    [(['age'], 0.75), (['sex'], 0.5)]
    """
    return extreme_risk.rank_quasi_identifiers(
        choose_quasi_identifiers(table, p, sample, seed), memory_mb
    )
