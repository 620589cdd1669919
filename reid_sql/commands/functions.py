"""List every function with its signature, summary and source; or all facts about one of them."""

import argparse
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType

from reid_sql.commands import facts
from reid_sql.commands.facts import USERS, answer_question, group_by_question
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer
from reid_sql.commands.terms import find_term, group_by_tier
from reid_sql.engines.public_api import title
from reid_sql.errors import UnknownNameError, suggestion
from reid_sql.function import Function, refuse_former_name
from reid_sql.terminal import pages
from reid_sql.terminal.console import Text, words_table
from reid_sql_udfs import declared

MORE: Final = "reid-sql functions NAME describes one; words work, too: reid-sql functions who is unique"
ENGINES: Final = ("duckdb", "polars", "spark", "ibis")


def run_functions(options: argparse.Namespace) -> int:
    """List the functions."""
    functions = declared()
    name = " ".join(options.name)
    is_exact = name in functions
    if options.question is not None:
        chosen = _answer(functions, options.question)
    elif is_exact:
        chosen = [functions[name]]
    else:
        chosen = [functions[each] for each in find_term(name)] or _search(functions, name)
    if not chosen:
        refuse_former_name(name, functions)
        hint = suggestion(name, list(functions), "functions")
        raise UnknownNameError(f"NAME must be a function, or words about one, got '{name}'; {hint}")
    page = [_described(function) for function in chosen]
    rows = [{name: function[name] for name in ("name", "signature", "words", "source")} for function in page]
    is_all = options.question is None and not name
    print_answer(
        options, page, rows, lambda: _overview(functions) if is_all else _page(chosen, whole=is_exact)
    )
    return PASSED


def _answer(functions: Mapping[str, Function], question: str) -> list[Function]:
    """Return the functions that answer a question, or those that a user needs first."""
    names = find_term(question) or answer_question(question, functions)
    if not names:
        rule = f"--for must be {', '.join(USERS)} or a question that a function answers, got '{question}'"
        raise UnknownNameError(f"{rule}; reid-sql functions lists all")
    return [functions[name] for name in names]


def _search(functions: Mapping[str, Function], text: str) -> list[Function]:
    """Return the functions whose name contains the text; or whose question and summary have its words.

    If none have, the whole description counts. An ending of up to three letters may differ: "identifies"
    finds identify. A text with _ is a name alone.
    """
    named = [function for name, function in functions.items() if text.lower() in name]
    words = [word for word in re.findall(r"\w{3,}", text.lower()) if word not in facts.STOP_WORDS]
    if named or "_" in text or not words:
        return named
    stems = [word[: max(4, len(word) - 3)] for word in words]
    asked = {name: question for question, names in group_by_question(functions).items() for name in names}
    short = {name: f"{name} {asked[name]} {each.words}" for name, each in functions.items()}
    whole = {name: f"{short[name]} {facts.details(each)} {each.source}" for name, each in functions.items()}
    for described in (short, whole):
        found = [name for name, text in described.items() if all(stem in text.lower() for stem in stems)]
        if found:
            return [functions[name] for name in found]
    return []


def _overview(functions: Mapping[str, Function]) -> RenderableType:
    """Show the tiers on one screen: a few words on those to start with, the names of the others."""
    tiers = group_by_tier(functions)
    rows = [(name, re.split(r"[:,(]", functions[name].words)[0].strip()) for name in tiers.pop("start")]
    others = [Text.assemble((f"{tier}  ", "bold"), ", ".join(names)) for tier, names in tiers.items()]
    return Group(words_table(("to start with", ""), rows), *others, Text(MORE, style="dim"))


def _page(chosen: list[Function], *, whole: bool) -> RenderableType:
    of = {function.name: function for function in chosen}
    lines: list[RenderableType] = []
    for question, names in group_by_question(of).items():
        lines += [Text(question, "bold underline"), ""]
        lines += [pages.function_lines(of[name].signature, of[name].words, of[name].source) for name in names]
    return Group(*(lines[2:] if whole else lines), *(_details(chosen[0]) if whole else ()))


def _details(function: Function) -> Iterator[RenderableType]:
    """Print the docstring after its first sentence, parameters, result columns, engines and an example."""
    for paragraph in filter(None, facts.details(function).split("\n\n")):
        yield Text(" ".join(paragraph.split()))
        yield ""
    if named := facts.named(function):
        parameters = [p for p in function.parameters if p.name in named]
        rows = [(p.name, p.domain.label, facts.default_words(p)) for p in parameters]
        yield words_table(("parameter", "is", "default"), _bare(rows))
    rest = facts.columns_beside(function)
    rows = [(rest, "theirs", "")] if rest else []
    rows += [(name, kind, facts.meaning(function, name)) for name, kind in facts.result_columns(function)]
    yield words_table(("result", "type", "is"), _bare(rows))
    yield from map(Text, _engines(function))
    yield ""
    if shown := facts.example(function.name):
        yield Text("Example", "bold")
        yield from map(Text, shown[1].splitlines())


def _bare(rows: list[tuple[str, str, str]]) -> list[tuple[str, ...]]:
    """Remove the backticks of Markdown."""
    return [tuple(cell.replace("`", "") for cell in row) for row in rows]


def _engines(function: Function) -> Iterator[str]:
    """Say which engines have the function, and why others lack it, or it lacks a parameter."""
    yield f"Engines: {', '.join(title(engine) for engine in ENGINES if not function.absence(engine))}."
    for engine in ENGINES:
        if why := function.absence(engine):
            yield f"Not on {title(engine)}: {why}."
        if how := function.fallback_note(engine):
            yield f"On {title(engine)} {how}."
    for parameter, why in function.lacked.items():
        yield f"Without {parameter}: {why}."


def _described(function: Function) -> dict[str, Any]:
    named = facts.named(function)
    return {
        "name": function.name,
        "answer": function.answer.value,
        "signature": function.signature,
        "words": function.words,
        "source": function.source,
        "parameters": {p.name: p.domain.label for p in function.parameters if p.name in named},
        "columns": function.answer_columns,
        "meanings": {name: facts.meaning(function, name) for name in function.answer_columns},
        "engines": [engine for engine in ENGINES if not function.absence(engine)],
        "needs_python": function.needs_python,
    }
