"""Distinct records: with which records hold each, scored under a model, or as households."""

from typing import Final

from reid_sql.models.classes.disclosure import Households
from reid_sql.models.copula.calibration import ScoredClasses
from reid_sql.models.population.individual_risk import WeightedRecords
from reid_sql.models.population.loglinear import INTERACTIONS, FittedRecords
from reid_sql.parameters import COUNT, MODEL, Column, Columns, Key
from reid_sql.reduction import DROPPABLE_NULLS, HOUSEHOLD, KEY, QI, TBL, Argument, Reduction

KEYED_QI: Final = Columns("quasi-identifiers, weight and key")
HOUSED_QI: Final = Columns("quasi-identifiers, weight, household and key")
FITTED_BYTES: Final = 1400
WEIGHTED_BYTES: Final = 600
NOTHING_CREATED: Final = {
    "ibis": "answers for records would have to be put into a table of the warehouse, and nothing is "
    "created there"
}
NO_GROUPS: Final = {"by": "each record's answer is estimated from all records of the table"}
FITTED_RECORDS: Final = Reduction(
    __name__,
    name="fitted_records",
    words="the distinct records, with the number that have each and the number expected if columns were "
    "independent",
    arguments=(TBL, QI, Argument("interactions", INTERACTIONS, 0), KEY, DROPPABLE_NULLS),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "class_size": "BIGINT",
        "log_expected": "DOUBLE",
        "codes": "BIGINT[]",
        "members": "BIGINT[]",
    },
    arrays=FittedRecords,
    bytes_each=FITTED_BYTES,
    absences=NOTHING_CREATED,
    reasons=NO_GROUPS,
)
WEIGHTED_RECORDS: Final = Reduction(
    __name__,
    name="weighted_records",
    words="the distinct records, with the number that have each and the sum of their weights",
    arguments=(TBL, QI, Argument("weight", Key(), optional=True), HOUSEHOLD, KEY, DROPPABLE_NULLS),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "class_size": "BIGINT",
        "mass": "DOUBLE",
        "members": "BIGINT[]",
    },
    arrays=WeightedRecords,
    bytes_each=WEIGHTED_BYTES,
    absences=NOTHING_CREATED,
    reasons=NO_GROUPS,
)


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
