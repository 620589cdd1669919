"""Distinct records on the columns that a scenario speaks of."""

from typing import Final

from reid_sql.domains import Columns
from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.reduction import ANY_NULLS, KEY, TBL, TEXTS_DIFFER, Argument, Reduction
from reid_sql.scenario import SCENARIO

SCENARIO_COLUMNS: Final = Columns("columns of the scenario")
KEYED_COLUMNS: Final = Columns("columns of the scenario, and key,")
KNOWN_RECORDS: Final = Reduction(
    __name__,
    name="known_records",
    words="the distinct records on a scenario's columns, as codes, with how many and which records hold each",
    arguments=(TBL, Argument("scenario", SCENARIO), KEY, ANY_NULLS),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "codes": "BIGINT[]",
        "texts": "VARCHAR[]",
        "members": "BIGINT[]",
    },
    arrays=KnownRecords,
    absences=TEXTS_DIFFER,
)
