"""List every function with its signature, summary and source; or all facts about one of them."""

import argparse
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType

from reid_sql import facts
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer
from reid_sql.engines.public_api import title
from reid_sql.errors import UnknownNameError
from reid_sql.function import Function
from reid_sql.suggestion import suggestion
from reid_sql.terminal import pages
from reid_sql.terminal.console import Text, words_table
from reid_sql_udfs import declared

ENGINES: Final = ("duckdb", "polars", "spark", "ibis")


def run_functions(options: argparse.Namespace) -> int:
    """List the functions."""
    functions = declared()
    name = " ".join(options.name)
    is_exact = name in functions
    chosen = [functions[name]] if is_exact else _search(functions, name)
    if not chosen:
        hint = suggestion(name, list(functions), "functions")
        raise UnknownNameError(f"NAME must be a function, or words about one, got '{name}'; {hint}")
    page = [_described(found) for found in chosen]
    rows = [{name: found[name] for name in ("name", "signature", "words", "source")} for found in page]
    print_answer(options, page, rows, lambda: _page(chosen, whole=is_exact))
    return PASSED


def _search(functions: Mapping[str, Function], text: str) -> list[Function]:
    """Return the functions whose name contains the text; or, if none does, whose description has its words.

    An ending of up to three letters may differ: "identifies" finds identify. A text with _ is a name alone.
    """
    named = [found for name, found in functions.items() if text.lower() in name]
    stems = [word[: max(4, len(word) - 3)] for word in re.findall(r"\w{3,}", text.lower())]
    described = {
        name: f"{name} {found.words} {facts.details(found)}".lower() for name, found in functions.items()
    }
    if named or "_" in text or not stems:
        return named
    return [functions[name] for name, words in described.items() if all(stem in words for stem in stems)]


def _page(chosen: list[Function], *, whole: bool) -> RenderableType:
    lines = [pages.function_lines(found.signature, found.words, found.source) for found in chosen]
    return Group(*lines, *(_details(chosen[0]) if whole else ()))


def _details(found: Function) -> Iterator[RenderableType]:
    """Print the docstring after its first sentence, parameters, result columns, engines and an example."""
    for paragraph in filter(None, facts.details(found).split("\n\n")):
        yield Text(" ".join(paragraph.split()))
        yield ""
    if named := facts.named(found):
        parameters = [p for p in found.parameters if p.name in named]
        rows = [(p.name, facts.domain_words(p.domain), facts.default_words(p)) for p in parameters]
        yield words_table(("parameter", "is", "unless given"), _bare(rows))
    rest = facts.columns_beside(found)
    rows = [(rest, "theirs", "")] if rest else []
    rows += [(name, kind, facts.meaning(found, name)) for name, kind in facts.result_columns(found)]
    yield words_table(("result", "type", "is"), _bare(rows))
    yield from map(Text, _engines(found))
    yield ""
    if shown := facts.example(found.name):
        yield Text("Example", "bold")
        yield from map(Text, shown[1].splitlines())


def _bare(rows: list[tuple[str, str, str]]) -> list[tuple[str, ...]]:
    """Remove the backticks of Markdown."""
    return [tuple(cell.replace("`", "") for cell in row) for row in rows]


def _engines(found: Function) -> Iterator[str]:
    """Say which engines have the function, and why others lack it, or it lacks a parameter."""
    yield f"Engines: {', '.join(title(engine) for engine in ENGINES if not found.absence(engine))}."
    for engine in ENGINES:
        if why := found.absence(engine):
            yield f"Not on {title(engine)}: {why}."
        if why := found.partly(engine):
            yield f"On {title(engine)} in part: {why}."
        if how := found.fallback_note(engine):
            yield f"On {title(engine)} {how}."
    for parameter, why in found.lacked.items():
        yield f"Without {parameter}: {why}."


def _described(found: Function) -> dict[str, Any]:
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
        "needs_python": found.needs_python,
    }
