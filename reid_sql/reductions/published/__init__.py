"""The rows of tables of counts that are published, or are to be."""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from reid_sql.models.tables.published_tables import PublishedRows
from reid_sql.parameters import TABLES, Columns
from reid_sql.reduction import Argument, Reduction

TABLE_COLUMNS: Final = Columns("columns of tables")
FETCHED: Final = "the rows of published tables"
PUBLISHED_ROWS: Final = Reduction(
    __name__,
    name="published_rows",
    words="the rows of published tables, each as a JSON object of its columns",
    arguments=(Argument("tables", TABLES),),
    columns={"place": "BIGINT", "tbl": "BIGINT", "text": "VARCHAR"},
    arrays=PublishedRows,
    distinct=True,
    reasons={"by": "the tables are read as a whole", "entity": "the tables hold counts, not people"},
)


def encode_rows(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write each row as a JSON object."""
    return [json.dumps(row, default=_plain) for row in rows]


def _plain(value: Any) -> Any:  # noqa: ANN401 - what JSON has no word for
    return float(value) if isinstance(value, Decimal) else str(value)
