"""SQL, or a file of it, run with the functions registered."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Final

import duckdb

from reid_sql import register
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer, print_csv, print_people
from reid_sql.engines.duckdb.planned_calls import planned_calls
from reid_sql.errors import UnknownNameError
from reid_sql.sources.identifiers import describe_calls
from reid_sql.terminal.console import answer_table
from reid_sql.terminal.runner import run

WITH_ROWS: Final = ("SELECT", "EXPLAIN", "CALL", "PRAGMA", "EXECUTE", "RELATION")
MEMORY: Final = ":memory:"


def run_query(options: argparse.Namespace) -> int:
    """Run the statements, and print each answer before the next statement."""
    text = _read_sql(options.file)
    _refuse_new_database(options.database, text)
    con = duckdb.connect(options.database)
    register(con)
    for statement in con.extract_statements(text):
        with planned_calls() as calls:
            answer = run(con, statement, None, "query")
        people = describe_calls(calls, con.sql)
        if statement.type.name not in WITH_ROWS or not answer.columns:
            print_people(people)  # of what was written into a table
        elif options.format == "csv":
            print_csv(answer.columns, answer.rows)
            print_people(people)
        else:
            print_answer(options, answer.records(), [], partial(answer_table, answer), people)
        sys.stdout.flush()  # an answer is printed before the next statement runs
    return PASSED


def _read_sql(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    if _is_file(file):
        return Path(file).read_text(encoding="utf-8")
    if len(file.split()) > 1 and not file.endswith(".sql"):
        return file
    rule = f"FILE.sql must be an existing file, got '{file}'"
    raise UnknownNameError(f"{rule}; pass its path, the SQL itself in quotes, or - for standard input")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # a statement may be too long for a path
        return False


def _refuse_new_database(database: str, text: str) -> None:
    """Refuse a database that does not exist unless the SQL creates something: the path may be mistyped."""
    if database == MEMORY or Path(database).is_file():
        return
    with duckdb.connect() as con:
        creates = any(statement.type.name == "CREATE" for statement in con.extract_statements(text))
    if not creates:
        rule = f"--database must be an existing DuckDB file unless the SQL creates a table, got '{database}'"
        raise UnknownNameError(f"{rule}; correct the path")
