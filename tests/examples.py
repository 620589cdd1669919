"""SQL that states its results: run it, and write the results that it really has.

A statement ends with a line that ends with a semicolon; its result follows as comment lines that begin with
`-- |`.
"""

import ast
import re
from pathlib import Path
from typing import Any

import duckdb

import reid_sql
from tests.processes import ROOT, command

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
    if "```sql\n" not in text:
        return text
    con = duckdb.connect()
    reid_sql.register(con)
    return re.sub(r"(?<=```sql\n)(.*?)(?=```)", lambda block: renew(block[1], con), text, flags=re.DOTALL)


def renew_commands(text: str, folder: Path = ROOT / "docs") -> str:
    """Give the document with what each command in its console blocks prints, and each file it shows, as they are."""
    text = re.sub(
        r"(?<=```console\n)\$ reid-sql (.*?)\n.*?(?=```)",
        lambda block: _printed(block[1]),
        text,
        flags=re.DOTALL,
    )
    return re.sub(
        r"(?<=```)(\w+ file=)(\S+)( of=(\S+))?\n.*?(?=```)",
        lambda block: f"{block[1]}{block[2]}{block[3] or ''}\n{_shown(folder / block[2], block[4])}",
        text,
        flags=re.DOTALL,
    )


def _printed(call: str) -> str:
    done = command(*call.split())
    if not done.stdout:
        raise LookupError(
            f"a command in a document must print something, got none from '{call}': {done.stderr}"
        )
    lines = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    return "\n".join([f"$ reid-sql {call}", *lines]) + "\n"


def _shown(file: Path, name: str | None) -> str:
    """The whole file, or the statement of a Python file that defines the name."""
    text = file.read_text(encoding="utf-8")
    if name is None:
        return text
    for node in ast.parse(text).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if name in {getattr(node, "name", None), *(getattr(target, "id", None) for target in targets)}:
            first = min([node.lineno, *(made.lineno for made in getattr(node, "decorator_list", []))])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno]) + "\n"
    raise LookupError(f"{file.name} must define '{name}'; show another part of it")


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
