"""SQL that states its results: run it, and write the results that it really has.

A statement ends with a line that ends with a semicolon; its result follows as comment lines that begin with
`-- |`.
"""

import ast
import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import duckdb

import reid_sql
from tests.processes import ROOT, command

RESULT = "-- |"
PAGE_WIDTH = 88  # characters of a block of code on the site


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
    return re.sub(
        r"(?<=```sql\n)(.*?)(?=```)", lambda block: renew(block[1], con), text, flags=re.DOTALL
    )


def renew_commands(text: str, folder: Path = ROOT / "docs") -> str:
    """Give the document with what each command in its console blocks prints, and each file as it is.

    The files are those that it shows.
    """
    text = re.sub(
        r"(?<=```console\n)\$ reid-sql (.*?)\n.*?(?=```)",
        lambda block: _printed(block[1]),
        text,
        flags=re.DOTALL,
    )
    return re.sub(
        r"(?<=```)(\w+ file=)(\S+)( of=(\S+))?\n.*?(?=```)",
        lambda block: (
            f"{block[1]}{block[2]}{block[3] or ''}\n{_shown(folder / block[2], block[4])}"
        ),
        text,
        flags=re.DOTALL,
    )


def _printed(call: str) -> str:
    done = command(*shlex.split(call), columns=PAGE_WIDTH)
    if not done.stdout:
        raise LookupError(
            f"a command in a document must print something, got none from '{call}': {done.stderr}"
        )
    lines = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    return "\n".join([f"$ reid-sql {call}", *lines]) + "\n"


def _shown(file: Path, names: str | None) -> str:
    """The whole file, or the parts of it that define the names."""
    text = file.read_text(encoding="utf-8")
    if names is None:
        return text
    part = _sql_part if file.suffix == ".sql" else _python_part
    parts = {name: part(text, name) for name in names.split(",")}
    if missing := [name for name, found in parts.items() if not found]:
        raise LookupError(f"{file.name} must define '{missing[0]}'; show another part of it")
    return "\n\n".join(parts.values()) + "\n"


def _sql_part(text: str, name: str) -> str:
    found = re.search(rf"^(?:MACRO|PLAN) {name}\(.*?;$", text, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def _python_part(text: str, name: str) -> str:
    """The statement that defines the name; for a name in quotes, the call that begins with it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt | ast.expr) and name in _names(node):
            first = min(
                [node.lineno, *(made.lineno for made in getattr(node, "decorator_list", []))]
            )
            return textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno]))
    return ""


def _names(node: Any) -> list[str]:
    if isinstance(node, ast.Call):
        return [repr(value.value) for value in node.args[:1] if isinstance(value, ast.Constant)]
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    defined = isinstance(node, ast.FunctionDef | ast.ClassDef)
    return [
        *([node.name] if defined else []),
        *(target.id for target in targets if isinstance(target, ast.Name)),
    ]


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
    return (
        "NULL"
        if value is None
        else ", ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
    )
