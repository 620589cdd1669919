"""SQL, or a file of it, run with the functions registered."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Final

import duckdb

from reid_sql import register
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer, print_csv, print_people, print_rendered
from reid_sql.engines.duckdb.planned_calls import planned_calls
from reid_sql.errors import UnknownNameError
from reid_sql.sources.identifiers import describe_calls
from reid_sql.sources.missing_value_codes import describe_codes_of_calls
from reid_sql.terminal.console import answer_table
from reid_sql.terminal.runner import Answer, run

WITH_ROWS: Final = ("SELECT", "EXPLAIN", "CALL", "PRAGMA", "EXECUTE", "RELATION")
ROWS_AT_A_TIME: Final = 1000  # that are printed while the others are computed
MEMORY: Final = ":memory:"


def run_query(options: argparse.Namespace) -> int:
    """Run the statements, and print each answer before the next statement."""
    text = _read_sql(options.file)
    _refuse_new_database(options.database, text)
    con = duckdb.connect(options.database)
    register(con)
    for statement in con.extract_statements(text):
        with planned_calls() as calls:
            answer = run(con, statement, None, "query", ROWS_AT_A_TIME)
            has_rows = statement.type.name in WITH_ROWS and bool(answer.columns)
            answer = _print_blocks(con, options.format, answer) if has_rows else answer
        people = " ".join(
            filter(None, [describe_calls(calls, con.sql), describe_codes_of_calls(calls, con.sql)])
        )
        if not has_rows or options.format == "csv":
            print_people(people)  # also of what was written into a table
        else:
            print_answer(options, answer.records(), [], partial(answer_table, answer), people)
        sys.stdout.flush()  # an answer is printed before the next statement runs
    return PASSED


def _print_blocks(con: duckdb.DuckDBPyConnection, form: str, answer: Answer) -> Answer:
    """Print a long answer in blocks while DuckDB computes it, and return what is left to print.

    All of CSV is printed here; JSON, which is one line, waits for all rows.
    """
    block, has_header = answer.rows, True
    while form == "csv" or len(block) == ROWS_AT_A_TIME:
        rows = con.fetchmany(ROWS_AT_A_TIME)
        if form == "json":
            answer.rows += rows
        elif form == "csv":
            print_csv(answer.columns, block, has_header=has_header)
        elif rows:
            print_rendered(lambda _, shown=block: answer_table(Answer(answer.columns, shown)))  # type: ignore[misc]
        if not rows:
            break
        block, has_header = rows, False
    return answer if form == "json" else Answer(answer.columns, block)


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
