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
from reid_sql.models.columns.identifiers import hint, likely, repeating_by_sketch
from reid_sql.sql.text import name, text, texts

PART: Final = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')  # of a name, in quotes or not
# A database of another system answers what it has by its network.
ARE_OURS: Final = qualified(
    "SELECT bool_and(type = 'duckdb') FROM duckdb_databases() WHERE NOT internal"
)
TABLES: Final = qualified(
    """SELECT database_name, schema_name, table_name FROM duckdb_tables()
    WHERE lower(table_name) = lower($1) AND NOT temporary"""
)


def warn_of_table(table: str, rows: CountedRows, database: str) -> str | None:
    """Write the test that warns, true but where a warning is an error; None where there is nothing to see.

    Distinct values are estimated: to count them would take longer than most questions. A table of one
    connection alone, or of a transaction that has not ended, is not seen.
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
    """Find the table of a name, and write its full name; None if it is none, or may be one of several."""
    *places, last = [quoted.replace('""', '"') or bare for quoted, bare in PART.findall(table)]
    if not cursor.execute(ARE_OURS).fetchall()[0][0]:
        return None
    matches = [
        row
        for row in cursor.execute(TABLES, [last]).fetchall()
        if {each.lower() for each in places} <= {each.lower() for each in row[:2]}
    ]
    return ".".join(map(name, matches[0])) if len(matches) == 1 else None


def _write_warning(item: str, columns: Sequence[str], rows: CountedRows) -> str:
    option = "entity :=" if rows.takes_entity else ""
    estimates, filled = (
        ", ".join(f"{count}({name(column)})" for column in columns)
        for count in ("approx_count_distinct", "count")
    )
    return f"""(
        SELECT coalesce(error({REFUSE}('identifiers', {text(option)}, {texts(rows.counted)},
          {texts(columns)}, [{estimates}], [{filled}], count(*)))::BOOLEAN, true)
        FROM {item}
      )"""


def warn_of_identifiers(
    option: str,
    counted: Sequence[str],
    columns: Sequence[str],
    *counts: Any,  # noqa: ANN401 - what DuckDB passes
) -> None:
    """Warn of columns that repeat: estimates of their distinct values, rows with one, and all rows."""
    distinct, filled, rows = counts
    repeated = repeating_by_sketch(columns, distinct, filled, counted, of_rows=rows)
    if repeated:
        warnings.warn(hint(repeated, option or None), RowsNotPeopleWarning, stacklevel=2)
