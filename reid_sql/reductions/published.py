"""The rows of tables of counts that are published, or are to be."""

from collections.abc import Sequence
from typing import Final

from reid_sql.models.tables.published_tables import PublishedRows
from reid_sql.parameters import TABLES
from reid_sql.reduction import Argument, Reduction
from reid_sql.sql.text import Source

PUBLISHED_ROWS: Final = Reduction(
    __name__,
    name="published_rows",
    words="the rows of published tables, each as a JSON object of its columns",
    arguments=(Argument("tables", TABLES),),
    columns={"place": "BIGINT", "tbl": "BIGINT", "text": "VARCHAR"},
    arrays=PublishedRows,
    reasons={"by": "the tables are read as a whole", "entity": "the tables hold counts, not people"},
)


def published_rows(tables: Sequence[Source]) -> str:
    """List the rows of all tables, each as a JSON object."""
    rows = " UNION ALL ".join(
        f"SELECT {number}::BIGINT AS tbl, to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text "
        f"FROM {table.items()}"
        for number, table in enumerate(tables, 1)
    )
    return f"""
        SELECT row_number() OVER () AS place, tbl, text, 0::BIGINT AS records_dropped, 'value' AS nulls
        FROM ({rows})"""
