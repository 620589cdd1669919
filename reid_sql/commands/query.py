"""A file of SQL, run with the functions there."""

import argparse
import sys
from pathlib import Path
from typing import Final

import duckdb

from reid_sql import register, screen
from reid_sql.commands.given import PASSED, print_json
from reid_sql.errors import UnknownNameError
from reid_sql.runner import run

WORDS: Final = "run a file of SQL with the functions there"
SHOWN: Final = (
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.CALL,
    duckdb.StatementType.PRAGMA,
    duckdb.StatementType.EXECUTE,
    duckdb.StatementType.RELATION,
)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE.sql", help="the SQL, or - for standard input")
    parser.add_argument(
        "--database", metavar="FILE.duckdb", default=":memory:", help="the DuckDB database to run it on"
    )
    parser.add_argument("--json", action="store_true", help="print each answer as one line of JSON")


def run_command(options: argparse.Namespace) -> int:
    """Run the statements, and show each answer before the next statement."""
    if options.file != "-" and not Path(options.file).is_file():
        raise UnknownNameError(
            f"FILE.sql must be an existing file, got '{options.file}'; pass its path, or - for standard input"
        )
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    con = duckdb.connect(options.database)
    register(con)
    for statement in con.extract_statements(text):
        answer = run(con, statement, None, "query")
        if statement.type not in SHOWN or not answer.columns:
            continue
        if options.json:
            print_json(answer.records())
        else:
            screen.console().print(screen.answer_table(answer))
        sys.stdout.flush()  # what is answered is shown before the next statement runs
    return PASSED
