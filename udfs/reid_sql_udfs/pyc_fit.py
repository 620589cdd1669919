"""Entropy and tail complexity of a table's anonymity sets."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.pitman_yor import Prior, PycFit
from reid_sql.reduction import Needs
from reid_sql.reductions.classes import HISTOGRAM


@table_function(
    "tbl, qi, prior, nulls, entity, by",
    answer=Answer.ROW,
    reduction=HISTOGRAM,
    question=Question.CORRECTNESS,
    source="Rocher, Hendrickx & de Montjoye 2025 (MAP); prior of Archer, Park & Pillow 2014",
    needs=Needs.CODES,
    body_of_groups=pitman_yor.fit_groups,
)
def pyc_fit(histogram: Histogram, prior: Prior = "archer") -> PycFit:
    """Fit the entropy and tail complexity of a table's anonymity sets, with 95 % credible intervals.

    The entropy is in nats. The fit uses only the class-size histogram. `prior` is 'archer' (tail complexity
    from 0 to 1, heavy tails unlikely) or 'flat' (from −1 to 1). Refuses an empty table, and
    `nulls := 'wildcard'`, whose classes overlap.

    One row per person is assumed. With `entity`, the sample consists of people, each with the row of their
    smallest class.

    With `by`, each group is fitted separately.

    >>> import numpy as np
    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> pyc_fit(geometric).records
    32
    """
    return pitman_yor.fit_pitman_yor(histogram, prior)[0]
