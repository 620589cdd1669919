"""An original table and its release, record by record where a key tells which belongs to which."""

from typing import Final

from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.parameters import QUASI_IDENTIFIERS, TABLE, Columns
from reid_sql.reduction import KEY, Argument, Reduction

WITH_KEY: Final = Columns("quasi-identifiers and key")
PAIRED_RECORDS: Final = Reduction(
    __name__,
    name="paired_records",
    words="the distinct records of the original, each with what was released of it, as codes",
    arguments=(
        Argument("original", TABLE),
        Argument("released", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        KEY,
    ),
    columns={
        "names": "VARCHAR[]",
        "keyed": "BOOLEAN[]",
        "original_codes": "INTEGER[][]",
        "released_codes": "INTEGER[][]",
        "records": "BIGINT[]",
        "original_values": "VARCHAR[][]",
        "released_values": "VARCHAR[][]",
    },
    arrays=PairedRecords,
    reasons={
        "entity": "it compares records, which key pairs, and not people",
        "by": "it compares two tables as a whole",
    },
    whole=True,
    distinct=True,
)
