"""How a table compares with tables of people: shares by a log-linear model of main effects, overdispersion.

Columns are independent, with negative binomial counts: a class is expected to have μ = n Π_j p_j records. The
share p_j of a value leaves out the record itself, else a value that occurs once would have 1/n. A class of f
records is drawn f times as often as one of 1, so it counts by 1/f of its records. Source: Skinner & Shlomo
2008.
"""

from typing import Final

import numpy as np

from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population import loglinear
from reid_sql.models.population_risk.intervals import Comparison
from reid_sql.models.population_risk.shares import predict_by_shape

MAX_SHAPE: Final = 1e6  # as good as Poisson
MIN_LOG_SHAPE: Final = -1.0  # at 8 nats; nearly all tables of people have a greater mean of ln a
MIN_LOG_SHAPE_SLOPE: Final = -0.15  # for each nat


def compare(model: PeopleModel, evidence: PeopleEvidence, people: float, k: int) -> Comparison:
    """Compare a table with tables of people; main effects have no weights."""
    model = model.predicting
    excess = measure_overdispersion(model)
    by_main_effects = None if evidence.weighted else main_effects(model, evidence, people, k)
    if by_main_effects is None:
        return Comparison(overdispersion=excess)
    uniqueness = float(model.shapes @ predict_by_shape(model, "uniqueness", people, k).values)
    return Comparison(by_main_effects, uniqueness - by_main_effects["uniqueness"], excess)


def main_effects(
    model: PeopleModel, evidence: PeopleEvidence, people: float, k: int
) -> dict[str, float] | None:
    """The three shares; None where all classes have one size, or main effects repeat the sample."""
    n, size = evidence.records, evidence.drawn_size
    log_shares = [
        column.log_left_out[codes] for column, codes in zip(model.marginals, evidence.drawn.T, strict=True)
    ]
    log_expected = np.log(n) + np.sum(log_shares, axis=0)
    if (size == size[0]).all() or loglinear.is_saturated(size, log_expected):
        return None
    expected = np.exp(log_expected)
    q, shape = expected / n, min(loglinear.fit_shape(size, expected, 1 / size), MAX_SHAPE)
    unique = np.where(size == 1, overdispersion.uniqueness_known(q, shape, n, people), 0.0)
    return {
        "uniqueness": float(unique.mean()),
        "correctness": float(overdispersion.correctness_known(size, q, shape, n, people).mean()),
        "below_k": float(overdispersion.below_k_known(size, q, shape, (n, people), k).mean()),
    }


def measure_overdispersion(model: PeopleModel) -> float:
    """Nats by which the mean of ln a is below that of nearly all tables of people, −1 − 0.15 (H − 8).

    The mean falls as the entropy H grows. Below 0 the table is as those are.
    """
    limit = MIN_LOG_SHAPE + MIN_LOG_SHAPE_SLOPE * (model.likelihoods[0].entropy - overdispersion.CENTRE)
    return limit - float(model.shapes @ overdispersion.LOG_SHAPES)
