"""Every function, with its signature, words and source."""

import argparse
from typing import Any, Final

from reid_sql import screen
from reid_sql.commands.given import PASSED, print_json
from reid_sql.engines.duckdb import needs_python
from reid_sql.function import Function
from reid_sql_udfs import declared

WORDS: Final = "list every function with its signature, words and source"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_command(options: argparse.Namespace) -> int:
    """List the functions."""
    functions = declared()
    if options.json:
        print_json([_described(found) for found in functions.values()])
        return PASSED
    for found in functions.values():
        screen.console().print(screen.function_lines(found.signature, found.words, found.source))
    return PASSED


def _described(found: Function) -> dict[str, Any]:
    return {
        "name": found.name,
        "answer": found.answer.value,
        "signature": found.signature,
        "words": found.words,
        "source": found.source,
        "needs_python": needs_python(found),
    }
