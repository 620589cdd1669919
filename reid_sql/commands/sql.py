"""The functions as SQL: the script of plain macros, or the query of one call."""

import argparse
from typing import Final

from reid_sql import __version__
from reid_sql.commands.options import PASSED, printed
from reid_sql.errors import OutOfDomainError

WORDS: Final = "print SQL that needs no Python: functions for DuckDB, or the query of one call"
BARE: Final = """-- The functions find each other where their database is the current one (USE). To call them
-- from others, name it: reid-sql sql --permanent NAME, attached as NAME everywhere.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "call",
        nargs="?",
        metavar="CALL",
        help="print the query that a call runs, such as \"risk_summary(people, ['age', 'sex'])\"; the "
        "tables need not exist. Without a call, print the script of functions",
    )
    parser.add_argument(
        "--dialect",
        metavar="NAME",
        help="print the call's query for another database, such as snowflake, bigquery or postgres; needs "
        "pip install 'reid-sql[ibis]'",
    )
    parser.add_argument(
        "--permanent",
        nargs="?",
        const="",
        metavar="NAME",
        help="store the functions in the database, not only in the session; with NAME, other databases can "
        "call them, too, if this one is attached under that name",
    )
    parser.add_argument("--plan", metavar="CALL", help="the same as CALL")


def run_command(options: argparse.Namespace) -> int:
    """Print the functions as SQL, or the query that a call of one runs."""
    from reid_sql.engines.duckdb.dialects import DUCKDB  # noqa: PLC0415 - help needs no functions
    from reid_sql.engines.duckdb.plain_sql import plain_sql, script  # noqa: PLC0415 - the same
    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    call = options.call if options.call is not None else options.plan
    if call is not None:
        _refuse_both(options)
        printed(plain_sql(call, declared(), options.dialect or DUCKDB) + "\n")
        return PASSED
    if options.dialect is not None:
        rule = f"--dialect must be given with a call, got {options.dialect} without one"
        raise OutOfDomainError(f"{rule}; write reid-sql sql \"risk_summary(people, ['age'])\" --dialect NAME")
    head = f"-- reid-sql {__version__}\n"
    head += BARE if options.permanent == "" else ""
    printed(head + script(permanent=options.permanent is not None, database=options.permanent or ""))
    return PASSED


def _refuse_both(options: argparse.Namespace) -> None:
    if options.permanent is not None or None not in (options.call, options.plan):
        more = "--permanent" if options.permanent is not None else "--plan"
        raise OutOfDomainError(f"a call must be given alone, got {more} too; leave one of them out")
