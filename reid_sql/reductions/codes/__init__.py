"""Whole columns as small numbers, one for each value."""

from dataclasses import replace
from typing import Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, MEMORY, SPARE_ARRAYS
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.parameters import COLUMNS, Column
from reid_sql.reduction import DROPPABLE_NULLS, ENTITY, KEY, TBL, Argument, Reduction

COLUMNS_AS_CODES: Final = {
    "names": "VARCHAR[]",
    "ordinal": "BOOLEAN[]",
    "codes": "INTEGER[][]",
    "position": "BIGINT[]",
    "people": "BIGINT[]",
}
MEMORY_MB: Final = Argument("memory_mb", MEMORY, 1024)
BYTES: Final = CODE_BYTES  # of one code
LEAST: Final = KEY_BYTES * (1 + SPARE_ARRAYS)  # bytes a record that any count takes in addition to the codes
BY_RECORD: Final = {
    "ibis": "whole columns would have to come to the client record by record, and records of the same values "
    "could not be distinguished"
}
NO_GROUPS: Final = {"by": "its columns are compared as a whole"}
CODES: Final = Reduction(
    __name__,
    name="codes",
    words="each column as codes, one small number for each of its values",
    arguments=(TBL, Argument("columns", COLUMNS), MEMORY_MB, DROPPABLE_NULLS, ENTITY),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    distinct=True,
    reasons=NO_GROUPS,
)
UNIQUES: Final = Reduction(
    __name__,
    name="uniques",
    words="each column as codes, with the key of each record, or else whom choices of the columns single out",
    arguments=(TBL, Argument("columns", COLUMNS), MEMORY_MB, KEY, DROPPABLE_NULLS, ENTITY),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    absences=BY_RECORD,
    reasons=NO_GROUPS,
)
RECORD_CODES: Final = replace(
    UNIQUES,
    name="record_codes",
    words="each column as codes, with the key of each record, else its place in the scan",
    absences={
        "spark": "it reads the codes of all records many times, in the memory of one process",
        **BY_RECORD,
    },
)
PERSON_ROWS: Final = replace(
    RECORD_CODES,
    name="person_rows",
    words="each column as codes, with the person of each distinct row",
    arguments=(TBL, Argument("entity", Column("columns and entity")), *CODES.arguments[1:-1]),
)
