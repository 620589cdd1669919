"""Values of columns, and pairs of values of two columns: all that a copula is fitted to."""

from typing import Final

from reid_sql.models.copula.gaussian_copula import PairCounts
from reid_sql.models.evidence_kinds import UNIQUE_RECORDS as ALONE
from reid_sql.parameters import OPTIONAL_TABLE, WEIGHT
from reid_sql.reduction import DROPPABLE_NULLS, QI, TBL, Argument, Reduction

__all__ = ["ALONE", "PAIRS"]  # how a line is marked that counts the records alone in all columns
PAIRS: Final = Reduction(
    __name__,
    name="pairs",
    words="how often each value of each column occurs, and each pair of values of two columns",
    arguments=(
        TBL,
        QI,
        Argument("weight", WEIGHT, optional=True),
        Argument("marginals", OPTIONAL_TABLE, optional=True),
        DROPPABLE_NULLS,
    ),
    columns={
        "cell": "BIGINT",
        "first": "BIGINT",
        "second": "BIGINT",
        "label": "VARCHAR",
        "first_value": "VARCHAR",
        "second_value": "VARCHAR",
        "records": "BIGINT",
        "mass": "DOUBLE",
    },
    arrays=PairCounts,
    distinct=True,
)
