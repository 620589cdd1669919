"""SQL that states its results: run it, and write the results that it really has.

A statement ends with a line that ends with a semicolon; its result follows as comment lines that begin with `-- |`.
"""

import re
from typing import Any

import duckdb

import reid_sql

RESULT = "-- |"


def renew(text: str, con: duckdb.DuckDBPyConnection | None = None) -> str:
    """Give the script with every result as it is."""
    if con is None:
        con = duckdb.connect()
        reid_sql.register(con)
    lines: list[str] = []
    statement: list[str] = []
    for line in text.splitlines():
        if line.startswith(RESULT):
            continue
        lines.append(line)
        statement.append(line)
        if line.rstrip().endswith(";") and not line.startswith("--"):
            lines += _result(con, "\n".join(statement))
            statement = []
    return "\n".join(lines) + "\n"


def renew_markdown(text: str) -> str:
    """Give the document with the results in its SQL blocks as they are; one connection serves all of them."""
    con = duckdb.connect()
    reid_sql.register(con)
    return re.sub(r"(?<=```sql\n)(.*?)(?=```)", lambda block: renew(block[1], con), text, flags=re.DOTALL)


def _result(con: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    statement = con.extract_statements(sql)[0]
    rows = con.execute(statement).fetchall()
    if statement.type != duckdb.StatementType.SELECT:
        return []
    table = [[column[0] for column in con.description or []], *rows]
    head, *body = ["-- | " + " | ".join(_cell(value) for value in row) + " |" for row in table]
    return [head, "-- |" + " --- |" * len(table[0]), *body]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "NULL" if value is None else ", ".join(value) if isinstance(value, list) else str(value)
