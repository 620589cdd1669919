"""Every function, with its signature, words and source; one of them with all that is said of it."""

import argparse
import inspect
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.options import PASSED, print_json
from reid_sql.errors import UnknownNameError

if TYPE_CHECKING:
    from reid_sql.function import Function

ENGINES: Final = ("duckdb", "polars", "spark", "ibis")
WORDS: Final = "list every function with its signature, words and source"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="one function, with its words and columns")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_command(options: argparse.Namespace) -> int:
    """List the functions."""
    from reid_sql import screen  # noqa: PLC0415 - help is shown without the functions
    from reid_sql_udfs import declared  # noqa: PLC0415 - the same

    functions = declared()
    if options.name and options.name not in functions:
        from reid_sql.suggestion import suggestion  # noqa: PLC0415 - asks DuckDB, which takes a while to load

        hint = suggestion(options.name, list(functions), "functions")
        raise UnknownNameError(f"NAME must be a function, got '{options.name}'; {hint}")
    chosen = [functions[options.name]] if options.name else list(functions.values())
    if options.json:
        print_json([_described(found) for found in chosen])
        return PASSED
    for found in chosen:
        screen.console().print(screen.function_lines(found.signature, found.words, found.source))
    if options.name:
        screen.console().print(_told(chosen[0]), markup=False)
    return PASSED


def _told(found: "Function") -> str:
    """What the docstring says after its first sentence, the answer's columns, and the engines without it."""
    paragraphs = (inspect.getdoc(found.body) or "").split("\n\n")[1:]
    said = [" ".join(part.split()) for part in paragraphs if not part.lstrip().startswith(">>>")]
    columns = [f"  {name} {kind}" for name, kind in found.answer_columns.items()]
    lacks = [f"Not on {engine.capitalize()}: {why}." for engine in ENGINES if (why := found.absence(engine))]
    partly = [
        f"On {engine.capitalize()} in part: {why}." for engine in ENGINES if (why := found.partly(engine))
    ]
    return "\n\n".join([*said, "\n".join(["Columns of the answer:", *columns]), *lacks, *partly])


def _described(found: "Function") -> dict[str, Any]:
    from reid_sql.engines.duckdb import needs_python  # noqa: PLC0415 - help is shown without the functions

    return {
        "name": found.name,
        "answer": found.answer.value,
        "signature": found.signature,
        "words": found.words,
        "source": found.source,
        "columns": found.answer_columns,
        "needs_python": needs_python(found),
    }
