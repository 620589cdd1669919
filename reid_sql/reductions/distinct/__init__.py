"""Distinct records as small numbers, one for each value."""

from typing import Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, MEMORY
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.parameters import Columns
from reid_sql.reduction import DROPPABLE_NULLS, ENTITY, TBL, Argument, Reduction

CODE: Final = CODE_BYTES  # bytes of one code
COUNTS: Final = 2 * KEY_BYTES  # bytes of how many records there are of a distinct one, and of its person
SOME_COLUMNS: Final = Columns("columns", optional=True)
DISTINCT_CODES: Final = Reduction(
    __name__,
    name="distinct_codes",
    words="the distinct records as codes, one small number for each value, with how many have each",
    arguments=(
        TBL,
        Argument("columns", SOME_COLUMNS, optional=True),
        Argument("memory_mb", MEMORY, 1024),
        DROPPABLE_NULLS,
        ENTITY,
    ),
    columns={
        "names": "VARCHAR[]",
        "codes": "INTEGER[][]",
        "records": "BIGINT[]",
        "people": "BIGINT[]",
    },
    arrays=DistinctCodes,
    whole=True,
    distinct=True,
    reasons={"by": "its columns are compared as a whole"},
)
