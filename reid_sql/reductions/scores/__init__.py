"""Distinct records, scored under a fitted model."""

from typing import Final

from reid_sql.models.copula.calibration import ScoredClasses
from reid_sql.parameters import COUNT, MODEL
from reid_sql.reduction import TBL, Argument, Reduction

SCORED_CLASSES: Final = Reduction(
    __name__,
    name="scored_classes",
    words="the distinct records on a model's columns, with their numbers of records and their scores",
    arguments=(TBL, Argument("model", MODEL), Argument("population", COUNT)),
    columns={"place": "BIGINT", "class_size": "BIGINT", "uniqueness_xi": "DOUBLE"},
    arrays=ScoredClasses,
    reasons={
        "entity": "the scores of a model are of records",
        "by": "one exponent corrects all scores of a model",
    },
    distinct=True,
)
