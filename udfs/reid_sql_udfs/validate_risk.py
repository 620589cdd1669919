"""Every method's error on one's own table."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.evidence import DistinctTexts
from reid_sql.models.population import backtest
from reid_sql.models.population.backtest import Backtest, Fractions, Repeats
from reid_sql.models.population.subsample import encode_table
from reid_sql.parameters import Names, Seed
from reid_sql.reduction import Needs
from reid_sql.reductions.distinct_records import TEXTS


@table_function(
    "tbl, qi, fractions, samples, methods, seed, nulls, entity, by",
    answer=Answer.ROWS,
    reduction=TEXTS,
    one_row_per_person=True,
    question=Question.POPULATION,
    source="Rocher, Hendrickx & de Montjoye 2019, supplement, algorithms 2 and 3, tables 1 and 7, figure 7",
    needs=Needs.POSITIONS,
)
def validate_risk(
    table: DistinctTexts,
    fractions: Fractions = None,
    samples: Repeats = 5,
    *,
    methods: Names = None,
    seed: Seed = 0,
) -> list[Backtest]:
    """Measure each method's error on this table, which serves as the population of its own samples.

    `samples` is the number of samples at each of the `fractions`: by default a tenth and a hundredth if these
    have at least 50 records, otherwise a half. A row with a `sample` has a method's estimate from that
    sample, its 95 % interval and the `truth`, for the figures 'uniqueness' (Ξ) and, if the method has it,
    'correctness' (κ). Rows without a `sample` are summaries: `…_error` (mean absolute), `…_bias`, `…_width`,
    and `…_held`, the share of intervals that contain the true value.

    For 'people' and 'copula', the function also compares ξ of up to 1,000 people outside each sample with
    who is unique: 'auc', 'brier' and that of the best constant, 'false_discovery_rate' and 'recall' above
    ξ = 0.95, 'f_score' above 0.5, 'reliability' (mean distance), and a row for each 'tenth' of the scale
    with its mean ξ and the true share.

    `methods` are those of population_uniqueness (default: all). The errors are those within this table; a
    forecast from the table to a larger population may err more. Refuses fewer than 20 records and more than
    5,000,000, and `fractions` that leave fewer than 50. One row per person is assumed; with `entity`, the
    table has one row of each person, that of their smallest class, and these rows form new classes. With `by`
    (up to 1,000 groups), each group is a separate table; a group with too few records has one row, and its
    `status` reports this.

    >>> import numpy as np
    >>> lines = [["age"], *([str(age)] for age in range(60))]
    >>> table = DistinctTexts(np.arange(61), lines, np.array([0, *[2] * 60]))
    >>> rows = validate_risk(table, [0.5], 1, methods=["bound"])
    >>> [(row.figure, row.truth) for row in rows if row.sample == 1]
    [('uniqueness', 0.0)]
    """
    whole, chosen = encode_table(table), backtest.choose_methods(methods)
    return backtest.backtest(
        whole.codes,
        fractions,
        int(samples),
        int(seed),
        texts=whole.texts,
        names=whole.names,
        methods=chosen,
    )
