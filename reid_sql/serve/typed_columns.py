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


def type_columns(con: DuckDBPyConnection, tables: Sequence[str]) -> None:
    """Give the columns of tables of texts the type that their texts have; that of a name is one in all."""
    columns = {
        table: [str(row[0]) for row in con.execute(f"DESCRIBE {quoted(table)}").fetchall()]
        for table in tables
    }
    found: dict[str, set[str | None]] = {}
    for table, names in columns.items():
        for name, kind in zip(names, _find_types(con, table, names), strict=True):
            found.setdefault(fold_case(name), set()).add(kind)
    for table, names in columns.items():
        for name in names:
            kind, *others = found[fold_case(name)]
            if kind and not others:
                con.execute(f"ALTER TABLE {quoted(table)} ALTER {quoted(name)} TYPE {kind}")


def _find_types(con: DuckDBPyConnection, table: str, names: Sequence[str]) -> list[str | None]:
    """Find the type of each column; None where its texts have none."""
    tests = [
        f"coalesce(bool_and(regexp_full_match({quoted(name)}, {sql_text(form)})"
        f" AND TRY_CAST({quoted(name)} AS {kind}) IS NOT NULL)"
        f" FILTER ({quoted(name)} IS NOT NULL), false)"
        for name in names
        for kind, form in FORMS.items()
    ]
    [row] = con.execute(f"SELECT {', '.join(tests)} FROM {quoted(table)}").fetchall()
    types: list[str | None] = []
    for place, name in enumerate(names):
        fits = row[place * len(FORMS) : (place + 1) * len(FORMS)]
        kind = next((kind for kind, fit in zip(FORMS, fits, strict=True) if fit), None)
        text = quoted(name)
        same = f"count(DISTINCT {text}) = count(DISTINCT {text}::{kind})"
        is_kept = kind and con.execute(f"SELECT {same} FROM {quoted(table)}").fetchall() == [
            (True,)
        ]
        types.append(kind if is_kept else None)
    return types
