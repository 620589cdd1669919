"""Rows of published tables in SQL."""

from collections.abc import Sequence

from reid_sql.sql.text import Source


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
