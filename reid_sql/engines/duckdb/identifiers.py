"""Warn of a table in which a column is named like an identifier and repeats, while its query is written.

Its rows may not be people, and a group of them may be one person. Only tables of the database are looked at,
by another connection: they can be read again, where a view may draw its rows anew, and a stream is gone.
"""

import re
import warnings
from contextlib import suppress
from typing import Final

import duckdb

from reid_sql.engines import registry
from reid_sql.engines.counted_rows import CountedRows
from reid_sql.engines.duckdb.names import qualified
from reid_sql.errors import RowsNotPeopleWarning
from reid_sql.models.columns.identifiers import RepeatedColumn, hint, likely, repeating
from reid_sql.sql.text import name, text

PART: Final = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')  # of a name, in quotes or not
# A database of another system answers what it has by its network.
ARE_OURS: Final = qualified(
    "SELECT bool_and(type = 'duckdb') FROM duckdb_databases() WHERE NOT internal"
)
TABLES: Final = qualified(
    """SELECT database_name, schema_name, table_name, estimated_size FROM duckdb_tables()
    WHERE lower(table_name) = lower($1) AND NOT temporary"""
)
MAX_ROWS: Final = (
    50_000  # of which all are read; to read a large table takes longer than most questions
)


def warn_of_table(table: str, rows: CountedRows, database: str) -> None:
    """Warn of columns that repeat.

    A table of one connection alone is not seen, nor what a transaction has changed that has not ended.
    """
    opened = registry.open_cursor(database)
    if opened is None:
        return
    with opened as cursor, suppress(duckdb.Error):
        repeated = _find_repeated(cursor, table, rows)
        if repeated:
            advice = hint(repeated, "entity :=" if rows.takes_entity else None)
            warnings.warn(advice, RowsNotPeopleWarning, stacklevel=2)


def _find_repeated(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: CountedRows
) -> list[RepeatedColumn]:
    """Find the columns; of a large table in whole blocks that are drawn, so that most of it is not read.

    What repeats in them repeats in the table.
    """
    described = cursor.execute(f"DESCRIBE FROM query_table({text(table)})").fetchall()
    columns = likely([str(column) for column, *_ in described], rows.counted, rows.named)
    found = _find_table(cursor, table) if columns else None
    if found is None:
        return []
    item, size = found
    is_of_draw = size > MAX_ROWS
    draw = f"TABLESAMPLE {100 * MAX_ROWS / size:.6f}% (system, 1)" if is_of_draw else ""
    counts = ", ".join(f"count(DISTINCT {name(each)}), count({name(each)})" for each in columns)
    figures = cursor.execute(qualified(f"SELECT {counts}, count(*) FROM {item} {draw}")).fetchall()
    *numbers, number = figures[0]
    repeated = repeating(columns, numbers[::2], numbers[1::2], rows.counted, of_rows=number)
    return [each._replace(is_of_draw=is_of_draw) for each in repeated]


def _find_table(cursor: duckdb.DuckDBPyConnection, table: str) -> tuple[str, int] | None:
    """Find the full name of a table and about how many rows it has; None if it may be one of several."""
    *places, last = [quoted.replace('""', '"') or bare for quoted, bare in PART.findall(table)]
    if not cursor.execute(ARE_OURS).fetchall()[0][0]:
        return None
    matches = [
        row
        for row in cursor.execute(TABLES, [last]).fetchall()
        if {each.lower() for each in places} <= {each.lower() for each in row[:2]}
    ]
    return (".".join(map(name, matches[0][:3])), matches[0][3]) if len(matches) == 1 else None
