"""Distinct records on the columns that a scenario speaks of."""

from typing import Final

from reid_sql.models.attacker.adversary import KnownRecords
from reid_sql.parameters import OPTIONAL_TABLE, Columns
from reid_sql.reduction import ANY_NULLS, ENTITY, KEY, TBL, Argument, Reduction
from reid_sql.scenarios import SCENARIO

SCENARIO_COLUMNS: Final = Columns("columns of the scenario")
NO_POPULATION: Final = -1  # people that hold a record, where no population table says how many
KEYED_COLUMNS: Final = Columns("columns of the scenario, and key,")
OF_PEOPLE: Final = Columns("columns of the scenario, and entity,")
KNOWN_BYTES: Final = 600
KNOWN_RECORDS: Final = Reduction(
    __name__,
    name="known_records",
    words="the distinct records on a scenario's columns, as codes, with how many and which records hold "
    "each, and how many of a population table, whose own records come along",
    arguments=(
        TBL,
        Argument("scenario", SCENARIO),
        Argument("population_tbl", OPTIONAL_TABLE, optional=True),
        KEY,
        ANY_NULLS,
        ENTITY,
    ),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "codes": "BIGINT[]",
        "texts": "VARCHAR[]",
        "people": "BIGINT",
        "members": "BIGINT[]",
    },
    arrays=KnownRecords,
    bytes_each=KNOWN_BYTES,
    reasons={"by": "a scenario describes one table and its population"},
    distinct=True,
)
