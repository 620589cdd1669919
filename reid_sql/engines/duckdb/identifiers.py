"""Warn, as a query runs, of a table in which a column is named like an identifier and repeats.

Its rows may not be people, and a group of them may be one person. Only tables of the database are looked at:
they can be read again, where a view may draw its rows anew, and a stream has none left.
"""

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import duckdb

from reid_sql.engines import registry
from reid_sql.engines.counted_rows import CountedRows
from reid_sql.engines.duckdb.names import REFUSE, qualified
from reid_sql.errors import RowsNotPeopleWarning
from reid_sql.models.columns.identifiers import hint, likely, repeating
from reid_sql.sql.text import name, text, texts

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


def warn_of_table(table: str, rows: CountedRows, database: str) -> str | None:
    """Write the test that warns, true but where a warning is an error; None where there is nothing to see.

    A table of one connection alone, or of a transaction that has not ended, is not seen.
    """
    opened = registry.open_cursor(database)
    if opened is None:
        return None
    with opened as cursor, suppress(duckdb.Error):
        described = cursor.execute(f"DESCRIBE FROM query_table({text(table)})").fetchall()
        candidates = likely([str(column) for column, *_ in described], rows.counted, rows.named)
        item = _find_table(cursor, table) if candidates else None
        if item is not None:
            return _write_warning(item, candidates, rows)
    return None


def _find_table(cursor: duckdb.DuckDBPyConnection, table: str) -> str | None:
    """Find the table of a name, and write it, or a draw of it; None if it may be one of several, or none.

    A draw takes whole blocks, so that most of the table is not read; what repeats in it repeats in the table.
    """
    *places, last = [quoted.replace('""', '"') or bare for quoted, bare in PART.findall(table)]
    if not cursor.execute(ARE_OURS).fetchall()[0][0]:
        return None
    matches = [
        row
        for row in cursor.execute(TABLES, [last]).fetchall()
        if {each.lower() for each in places} <= {each.lower() for each in row[:2]}
    ]
    if len(matches) != 1:
        return None
    *path, size = matches[0]
    share = "" if size <= MAX_ROWS else f" TABLESAMPLE {100 * MAX_ROWS / size:.6f}% (system, 1)"
    return f"{'.'.join(map(name, path))}{share}"


def _write_warning(item: str, columns: Sequence[str], rows: CountedRows) -> str:
    option = "entity :=" if rows.takes_entity else ""
    distinct, filled = (
        ", ".join(f"count({words}{name(column)})" for column in columns)
        for words in ("DISTINCT ", "")
    )
    return f"""(
        SELECT coalesce(error({REFUSE}('identifiers', {text(option)}, {texts(rows.counted)},
          {texts(columns)}, {"TABLESAMPLE" in item}, [{distinct}], [{filled}], count(*)))::BOOLEAN, true)
        FROM {item}
      )"""


def warn_of_identifiers(
    option: str,
    counted: Sequence[str],
    columns: Sequence[str],
    is_of_draw: bool,  # noqa: FBT001 - what DuckDB passes
    *counts: Any,  # noqa: ANN401 - the same
) -> None:
    """Warn of columns that repeat: their distinct values, rows with one, and all rows."""
    distinct, filled, rows = counts
    repeated = repeating(columns, distinct, filled, counted, of_rows=rows)
    if repeated:
        drawn = [each._replace(is_of_draw=is_of_draw) for each in repeated]
        warnings.warn(hint(drawn, option or None), RowsNotPeopleWarning, stacklevel=2)
