"""An original, a synthetic table made from it, and people who were not used: the distinct records of all."""

from typing import Final

from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import OPTIONAL_TABLE, QUASI_IDENTIFIERS, TABLE, Columns
from reid_sql.reduction import Argument, Reduction

SENSITIVE_COLUMNS: Final = Columns("sensitive columns", optional=True)
AUDITED_COLUMNS: Final = Columns("quasi-identifiers and sensitive columns")
NOT_COUNTED: Final = "it counts three tables together, which only DuckDB and Polars can do here"
AUDITED_TABLES: Final = Reduction(
    __name__,
    name="audited_tables",
    words="the distinct records of the original, the synthetic table and the holdout together, as codes, "
    "each with how many records of each table have its values",
    arguments=(
        Argument("original", TABLE),
        Argument("synthetic", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        Argument("sensitive", SENSITIVE_COLUMNS, optional=True),
        Argument("holdout", OPTIONAL_TABLE, optional=True),
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
    },
    arrays=AuditedTables,
    whole=True,
    absences={"spark": NOT_COUNTED, "ibis": NOT_COUNTED},
    reasons={
        "entity": "it compares records of tables that share no person",
        "by": "it compares tables as a whole",
    },
)
