"""Every function, with its signature, words and source; one of them with all that is said of it."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.options import PASSED, format_options, print_answer
from reid_sql.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from reid_sql.function import Function

ENGINES: Final = ("duckdb", "polars", "spark", "ibis")
WORDS: Final = "list every function with its signature, words and source"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    words = "one function, with its parameters, result columns, engines and an example"
    parser.add_argument("name", metavar="NAME", nargs="?", help=words)
    format_options(parser)


def run_command(options: argparse.Namespace) -> int:
    """List the functions."""
    from reid_sql_udfs import declared  # noqa: PLC0415 - help is shown without the functions

    functions = declared()
    if options.name and options.name not in functions:
        from reid_sql.suggestion import suggestion  # noqa: PLC0415 - asks DuckDB, which takes a while to load

        hint = suggestion(options.name, list(functions), "functions")
        raise UnknownNameError(f"NAME must be a function, got '{options.name}'; {hint}")
    chosen = [functions[options.name]] if options.name else list(functions.values())
    page = [_described(found) for found in chosen]
    rows = [{name: found[name] for name in ("name", "signature", "words", "source")} for found in page]
    print_answer(options, page, rows, lambda: _page(chosen, whole=bool(options.name)))
    return PASSED


def _page(chosen: "list[Function]", *, whole: bool) -> "RenderableType":
    from rich.console import Group  # noqa: PLC0415 - help is shown without it

    from reid_sql import terminal  # noqa: PLC0415 - the same

    lines = [terminal.function_lines(found.signature, found.words, found.source) for found in chosen]
    return Group(*lines, *(_told(chosen[0]) if whole else ()))


def _told(found: "Function") -> "Iterator[RenderableType]":
    """What the docstring says after its first sentence, parameters, the answer's columns, an example."""
    from reid_sql import facts, terminal  # noqa: PLC0415 - help is shown without the functions

    for paragraph in filter(None, facts.details(found).split("\n\n")):
        yield terminal.Text(" ".join(paragraph.split()))
        yield ""
    if named := facts.named(found):
        told = [p for p in found.parameters if p.name in named]
        rows = [(p.name, facts.domain_words(p.domain), facts.default_words(p)) for p in told]
        yield terminal.words_table(("parameter", "is", "unless given"), _bare(rows))
    beside = facts.columns_beside(found)
    rows = [(beside, "theirs", "")] if beside else []
    known = facts.result_columns(found)
    rows += [(name, kind, facts.meaning(found, name)) for name, kind in known]
    yield terminal.words_table(("result", "type", "is"), _bare(rows))
    yield from map(terminal.Text, _engines(found))
    yield ""
    if shown := facts.example(found.name):
        yield terminal.Text("Example", "bold")
        yield from map(terminal.Text, shown[1].splitlines())


def _bare(rows: list[tuple[str, str, str]]) -> list[tuple[str, ...]]:
    """The words without the marks that Markdown has for code."""
    return [tuple(cell.replace("`", "") for cell in row) for row in rows]


def _engines(found: "Function") -> "Iterator[str]":
    """Where the function is to be had, and why not elsewhere."""
    from reid_sql.engines.face import title  # noqa: PLC0415 - help is shown without the functions

    yield f"Engines: {', '.join(title(engine) for engine in ENGINES if not found.absence(engine))}."
    for engine in ENGINES:
        if why := found.absence(engine):
            yield f"Not on {title(engine)}: {why}."
        if why := found.partly(engine):
            yield f"On {title(engine)} in part: {why}."
        if how := found.handed_on(engine):
            yield f"On {title(engine)} {how}."


def _described(found: "Function") -> dict[str, Any]:
    from reid_sql import facts  # noqa: PLC0415 - help is shown without the functions
    from reid_sql.engines.duckdb import needs_python  # noqa: PLC0415 - the same

    named = facts.named(found)
    return {
        "name": found.name,
        "answer": found.answer.value,
        "signature": found.signature,
        "words": found.words,
        "source": found.source,
        "parameters": {p.name: facts.domain_words(p.domain) for p in found.parameters if p.name in named},
        "columns": found.answer_columns,
        "meanings": {name: facts.meaning(found, name) for name in found.answer_columns},
        "engines": [engine for engine in ENGINES if not found.absence(engine)],
        "needs_python": needs_python(found),
    }
