"""Columns of text files as numbers and dates, so that clients may ask for ranges and means of them.

A text file says nothing of types, and the other commands read all of it as text. A column becomes a number
only where no two of its texts become one number, and none has a leading zero, as postcodes have: so each
count is what it was.
"""

from collections.abc import Sequence
from typing import Final

from duckdb import DuckDBPyConnection

from reid_sql.parameters import fold_case, quoted, sql_text

FORMS: Final = {  # how the texts of a type are written, the narrowest type first
    "BIGINT": r"-?(0|[1-9]\d{0,14})",
    "DOUBLE": r"-?(0|[1-9]\d{0,9})(\.\d{1,5})?",
    "DATE": r"\d{4}-\d\d-\d\d",
    "TIMESTAMP": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?",
}

FIRST_ROWS: Final = 1000


def type_columns(con: DuckDBPyConnection, tables: Sequence[str]) -> None:
    """Give the columns of tables of texts the type that their texts have; that of a name is one in all."""
    columns = {
        table: [str(row[0]) for row in con.execute(f"DESCRIBE {quoted(table)}").fetchall()]
        for table in tables
    }
    found: dict[str, set[str | None]] = {}
    for table, names in columns.items():
        for name in names:
            found.setdefault(fold_case(name), set()).add(_find_type(con, table, name))
    for table, names in columns.items():
        for name in names:
            kind, *others = found[fold_case(name)]
            if kind and not others:
                con.execute(f"ALTER TABLE {quoted(table)} ALTER {quoted(name)} TYPE {kind}")


def _find_type(con: DuckDBPyConnection, table: str, name: str) -> str | None:
    """Find the type of a column; None where its texts have none. The first texts rule out most types."""
    texts = f"SELECT {quoted(name)} AS text FROM {quoted(table)} WHERE {quoted(name)} IS NOT NULL"
    for kind, form in FORMS.items():
        fits = (
            f"SELECT bool_and(regexp_full_match(text, {sql_text(form)}) AND TRY_CAST(text AS {kind}) IS NOT NULL)"
            f" AND count(DISTINCT text) = count(DISTINCT TRY_CAST(text AS {kind}))"
        )
        sources = (f"({texts} LIMIT {FIRST_ROWS})", f"(SELECT DISTINCT text FROM ({texts}))")
        if all(con.execute(f"{fits} FROM {each}").fetchall() == [(True,)] for each in sources):
            return kind
    return None
