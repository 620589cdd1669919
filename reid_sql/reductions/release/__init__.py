"""An original table with a second one: its release, record by record, or synthetic tables."""

from typing import Final

from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import QUASI_IDENTIFIERS, TABLE, Columns, OptionalTable
from reid_sql.reduction import ENTITY, KEY, Argument, Reduction

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


SENSITIVE_COLUMNS: Final = Columns("sensitive columns", optional=True)
AUDITED_COLUMNS: Final = Columns("quasi-identifiers and sensitive columns")
AUDITED_COLUMNS_AND_ENTITY: Final = Columns("quasi-identifiers, sensitive columns and entity")
TABLES: Final = ("original and synthetic", "original and holdout")  # whose types must be the same
NOT_COUNTED: Final = "it counts three tables together, which a warehouse cannot do here"
AUDITED_TABLES: Final = Reduction(
    __name__,
    name="audited_tables",
    words="the distinct records of the original, the synthetic table and the holdout together, as codes, "
    "each with how many records, or people, of each table have its values",
    arguments=(
        Argument("original", TABLE),
        Argument("synthetic", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        Argument("sensitive", SENSITIVE_COLUMNS, optional=True),
        Argument("holdout", OptionalTable(has_entity=True), optional=True),
        ENTITY,
    ),
    columns={
        "names": "VARCHAR[]",
        "is_sensitive": "BOOLEAN[]",
        "is_ordinal": "BOOLEAN[]",
        "codes": "INTEGER[][]",
        "originals": "BIGINT[]",
        "synthetics": "BIGINT[]",
        "controls": "BIGINT[]",
        "has_holdout": "BOOLEAN[]",
        "people": "BIGINT[]",
    },
    arrays=AuditedTables,
    whole=True,
    absences={"ibis": NOT_COUNTED},
    reasons={"by": "it compares tables as a whole"},
)
