"""Households: the sizes of their classes, and the risk that one of their members is identified."""

from typing import Final

from reid_sql.models.classes.disclosure import Households
from reid_sql.parameters import Column, Columns
from reid_sql.reduction import DROPPABLE_NULLS, TBL, Argument, Reduction

HOUSEHOLD_COLUMN: Final = Column("household and columns")
HOUSEHOLD_AND_COLUMNS: Final = Columns("household and columns")
HOUSEHOLDS: Final = Reduction(
    __name__,
    name="households",
    words="how many households have each class size, number of members and risk",
    arguments=(
        TBL,
        Argument("household", HOUSEHOLD_COLUMN),
        Argument("columns", HOUSEHOLD_AND_COLUMNS),
        DROPPABLE_NULLS,
    ),
    columns={
        "class_size": "BIGINT",
        "members": "BIGINT",
        "risk": "DOUBLE",
        "member_risk": "DOUBLE",
        "households": "BIGINT",
    },
    arrays=Households,
    reasons={
        "entity": "a household counts its members, each of one row",
        "by": "a household may have members in several groups",
    },
    distinct=True,
)
