"""Whole columns as small numbers, one for each value."""

from typing import Final

from reid_sql.domains import COLUMNS
from reid_sql.models.extreme.quasi_identifiers import Codes
from reid_sql.reduction import KEPT_NULLS, KEY, TBL, Argument, Reduction

COLUMNS_AS_CODES: Final = {
    "names": "VARCHAR[]",
    "ordinal": "BOOLEAN[]",
    "codes": "INTEGER[][]",
    "position": "BIGINT[]",
}
WHOLE_COLUMNS: Final = {"ibis": "whole columns would have to come to the client"}
CODES: Final = Reduction(
    __name__,
    name="codes",
    words="each column as codes, one small number for each of its values",
    arguments=(TBL, Argument("columns", COLUMNS), KEPT_NULLS),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    absences=WHOLE_COLUMNS,
)
RECORD_CODES: Final = Reduction(
    __name__,
    name="record_codes",
    words="each column as codes, with the key of each record, else its place in the scan",
    arguments=(TBL, Argument("columns", COLUMNS), KEY, KEPT_NULLS),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    absences={
        "spark": "it goes through the codes of all records, again and again, in one memory",
        **WHOLE_COLUMNS,
    },
)
UNIQUES: Final = Reduction(
    __name__,
    name="uniques",
    words="each column as codes, with the key of each record, or else whom choices of the columns single out",
    arguments=(TBL, Argument("columns", COLUMNS), KEY, KEPT_NULLS),
    columns=COLUMNS_AS_CODES,
    arrays=Codes,
    whole=True,
    absences=WHOLE_COLUMNS,
)
