"""The exponent of ξ*."""

from dataclasses import replace

import numpy as np

from reid_sql.engines import registry
from reid_sql.function import Answer, Question, table_function
from reid_sql.models import fitted
from reid_sql.models.copula.calibration import Correction, ScoredClasses, correct_scores
from reid_sql.models.fitted_model import doubts_at
from reid_sql.models.marginals.column import join_status
from reid_sql.parameters import Count, Model
from reid_sql.reductions.records import SCORED_CLASSES
from reid_sql_udfs import score_records  # noqa: F401 - the reduction scores by it, on Polars


@table_function(
    "tbl, model, population",
    answer=Answer.ROW,
    reduction=SCORED_CLASSES,
    question=Question.FITTED_MODELS,
    source="Rocher, Hendrickx & de Montjoye 2019, supplementary note 2, eq. 16",
    models=True,
)
def copula_correction(scored: ScoredClasses, model: Model, population: Count) -> Correction:
    """Fit the exponent a by which the mean of ξ* = ξ^a over a table is the population's uniqueness.

    The mean is over the table's records. The uniqueness is that of copula_forecast. Write, as SQL,
    uniqueness_xi ** exponent with score_records. If no exponent gives this mean, it is 1, and `status`
    reports this. Refuses an empty table and an unknown model. One row per person is assumed.

    >>> with registry.within("a database without models"):
    ...     copula_correction(ScoredClasses(np.array([1]), np.array([0.5])), "nowhere", 10)
    Traceback (most recent call last):
    reid_sql.errors.UnknownNameError: model must be a fitted model, got 'nowhere'; there are no models
    """
    law = registry.known(model)
    answer = correct_scores(scored, fitted.forecast(law, np.array([population]))[0].uniqueness)
    doubts = doubts_at(law.doubts, float(np.asarray(population)))
    return replace(answer, status=join_status(*doubts, answer.status))
