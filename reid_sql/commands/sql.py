"""The functions that need no Python, as SQL for any DuckDB client."""

import argparse
from typing import Final

from reid_sql import __version__
from reid_sql.commands.options import PASSED, printed

WORDS: Final = "write the functions that need no Python as SQL for any DuckDB client"
BARE: Final = """-- They find each other where their database is the current one (USE). To call them from
-- others, name it: reid-sql sql --permanent NAME, attached as NAME everywhere."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--permanent",
        nargs="?",
        const="",
        metavar="NAME",
        help="keep the functions in the database, not in the session alone; NAME, that of the database, lets "
        "other databases call them too where it is attached under this name",
    )
    parser.add_argument(
        "--plan",
        metavar="CALL",
        help="print the query that a call runs, such as \"risk_summary(people, ['age', 'sex'])\"; the "
        "table need not exist",
    )


def run_command(options: argparse.Namespace) -> int:
    """Print the functions as SQL, or the query that a call of one runs."""
    from reid_sql.engines import duckdb as engine  # noqa: PLC0415 - help is shown without the functions
    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    functions = declared()
    if options.plan is not None:
        printed(engine.plan(options.plan, functions) + "\n")
        return PASSED
    left_out = [name for name, found in functions.items() if engine.needs_python(found)]
    permanent = options.permanent is not None
    script = engine.script(functions, permanent=permanent, database=options.permanent or "")
    head = [f"-- reid-sql {__version__}: the functions that need no Python"]
    head += [f"-- left out, as they need it: {', '.join(left_out)}"] if left_out else []
    head += [BARE] if options.permanent == "" else []
    printed("\n".join([*head, script]))
    return PASSED
