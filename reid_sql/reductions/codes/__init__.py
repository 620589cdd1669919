"""Columns and distinct records as codes, small numbers one for each value, or as texts."""

from dataclasses import replace
from typing import Final

from reid_sql.models.classes.class_keys import CODE_BYTES, KEY_BYTES, MEMORY, SPARE_ARRAYS
from reid_sql.models.classes.identifying_sets import DistinctCodes
from reid_sql.models.classes.quasi_identifiers import Codes
from reid_sql.models.validation.distinct_texts import DistinctTexts
from reid_sql.parameters import COLUMNS, Column, Columns
from reid_sql.reduction import (
    BY,
    DROPPABLE_NULLS,
    ENTITY,
    KEY,
    MAX_FITTED_GROUPS,
    QI,
    TBL,
    Argument,
    Reduction,
)

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


NAMES: Final = 0  # the line that holds the names of the columns; no records are in it
TEXTS: Final = Reduction(
    __name__,
    name="texts",
    words="the distinct records, each value as text, with the number of records that have each",
    arguments=(TBL, QI, BY, DROPPABLE_NULLS),
    columns={"line": "BIGINT", "texts": "VARCHAR[]", "records": "BIGINT"},
    arrays=DistinctTexts,
    distinct=True,
    max_groups=MAX_FITTED_GROUPS,
)
