"""A file of SQL, run with the functions there."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Final

from reid_sql import register
from reid_sql.commands.options import PASSED, format_options, print_answer, print_csv
from reid_sql.errors import UnknownNameError

WORDS: Final = "run a file of SQL with the functions there"
SHOWN: Final = ("SELECT", "EXPLAIN", "CALL", "PRAGMA", "EXECUTE", "RELATION")
MEMORY: Final = ":memory:"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE.sql", help="the SQL, or - for standard input")
    parser.add_argument(
        "--database", metavar="FILE.duckdb", default=MEMORY, help="the DuckDB database to run it on"
    )
    format_options(parser)


def run_command(options: argparse.Namespace) -> int:
    """Run the statements, and show each answer before the next statement."""
    import duckdb  # noqa: PLC0415 - help is shown without what counts

    from reid_sql import terminal  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    if options.file != "-" and not Path(options.file).is_file():
        raise UnknownNameError(
            f"FILE.sql must be an existing file, got '{options.file}'; pass its path, or - for standard input"
        )
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    _refuse_empty_database(options.database, text)
    con = duckdb.connect(options.database)
    register(con)
    for statement in con.extract_statements(text):
        answer = run(con, statement, None, "query")
        if statement.type.name not in SHOWN or not answer.columns:
            continue
        if options.format == "csv":
            print_csv(answer.columns, answer.rows)
        else:
            print_answer(options, answer.records(), [], partial(terminal.answer_table, answer))
        sys.stdout.flush()  # what is answered is shown before the next statement runs
    return PASSED


def _refuse_empty_database(database: str, text: str) -> None:
    """Refuse a database that is not there, unless the SQL makes something in it.

    Else a mistyped path would be one.
    """
    import duckdb  # noqa: PLC0415 - help is shown without what counts

    if database == MEMORY or Path(database).is_file():
        return
    with duckdb.connect() as con:
        made = any(statement.type.name == "CREATE" for statement in con.extract_statements(text))
    if not made:
        rule = (
            f"--database must be an existing DuckDB file where the SQL makes nothing in it, got '{database}'"
        )
        raise UnknownNameError(f"{rule}; mend the path")
