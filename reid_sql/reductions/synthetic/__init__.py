"""An original, a synthetic table made from it, and people who were not used: what attacks are right about."""

from typing import Final

from reid_sql.models.synthetic.audit import AttackCounts
from reid_sql.parameters import OPTIONAL_TABLE, QUASI_IDENTIFIERS, TABLE, Columns
from reid_sql.reduction import Argument, Reduction

SENSITIVE_COLUMNS: Final = Columns("sensitive columns", optional=True)
AUDITED_COLUMNS: Final = Columns("quasi-identifiers and sensitive columns")
NOT_COUNTED: Final = "three tables are counted together, which is written for DuckDB and Polars alone"
SYNTHETIC_ATTACKS: Final = Reduction(
    __name__,
    name="synthetic_attacks",
    words="how many records of the original, and of people who were not used, each attack on a synthetic "
    "table is right about",
    arguments=(
        Argument("original", TABLE),
        Argument("synthetic", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        Argument("sensitive", SENSITIVE_COLUMNS, optional=True),
        Argument("holdout", OPTIONAL_TABLE, optional=True),
    ),
    columns={
        "place": "BIGINT",
        "attack": "VARCHAR",
        "column_name": "VARCHAR",
        "hits": "BIGINT",
        "control_hits": "BIGINT",
        "originals": "BIGINT",
        "synthetics": "BIGINT",
        "controls": "BIGINT",
    },
    arrays=AttackCounts,
    absences={"spark": NOT_COUNTED, "ibis": NOT_COUNTED},
    reasons={
        "entity": "it compares records of tables that share no person",
        "by": "it compares tables as a whole",
    },
)
