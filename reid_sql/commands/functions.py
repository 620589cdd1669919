"""List every function with its signature, summary and source; or all facts about one of them.

Where a user finds a function: three tiers, and the words of the field that are no names here.
"""

import inspect
import re
import tomllib
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

from rich.console import Group, RenderableType

from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer
from reid_sql.engines.public_api import title
from reid_sql.errors import UnavailableError, UnknownNameError, suggestion
from reid_sql.function import Answer, Function, Question
from reid_sql.parameters import sql_literal
from reid_sql.parameters.outputs import REQUIRED, Parameter
from reid_sql.terminal import pages
from reid_sql.terminal.console import Text, heading, note, words_table
from reid_sql_udfs import declared

MORE: Final = (
    "reid-sql functions NAME describes one; words work, too: reid-sql functions who is unique"
)
ENGINES: Final = ("duckdb", "polars", "spark", "ibis")


def run_functions(options: Namespace) -> int:
    """List the functions, or print what an agent reads of all."""
    if options.skill:
        print(next(file for file in SKILLS if file.exists()).read_text(encoding="utf-8"), end="")  # noqa: T201
        return PASSED
    functions = declared()
    name = " ".join(options.name)
    is_exact = name in functions
    if options.question is not None:
        chosen = _answer(functions, options.question)
    else:
        chosen = [functions[name]] if is_exact else _find(functions, name)
    if not chosen:
        hint = suggestion(name, list(functions), "functions")
        raise UnknownNameError(f"NAME must be a function, or words about one, got '{name}'; {hint}")
    page = [_described(function) for function in chosen]
    rows = [
        {name: function[name] for name in ("name", "signature", "words", "source")}
        for function in page
    ]
    is_all = options.question is None and not name
    render = partial(_overview, functions) if is_all else partial(_page, chosen, whole=is_exact)
    print_answer(options, page, rows, render)
    return PASSED


def _answer(functions: Mapping[str, Function], question: str) -> list[Function]:
    """Return the functions that answer a question, or those that a user needs first."""
    names = find_term(question) or answer_question(question, functions)
    if not names:
        raise UnknownNameError(
            f"--for must be {', '.join(USERS)} or a question that a function answers, got '{question}'; reid-sql functions lists all"
        )
    return [functions[name] for name in names]


def _find(functions: Mapping[str, Function], text: str) -> list[Function]:
    """Return the functions for a word of the field, or those whose descriptions have the words."""
    return [functions[name] for name in find_term(text)] or _search(functions, text)


def _search(functions: Mapping[str, Function], text: str) -> list[Function]:
    """Return the functions whose name contains the text; or whose question and summary have its words.

    If none have, the whole description counts. An ending of up to three letters may differ: "identifies"
    finds identify. A text with _ is a name alone.
    """
    named = [function for name, function in functions.items() if text.lower() in name]
    words = [word for word in re.findall(r"\w{3,}", text.lower()) if word not in STOP_WORDS]
    if named or "_" in text or not words:
        return named
    stems = [word[: max(4, len(word) - 3)] for word in words]
    for describe in (_describe_shortly, _describe_wholly):
        matches = [each for each in functions.values() if _has_all(describe(each), stems)]
        if matches:
            return matches
    return []


def _has_all(text: str, stems: Iterable[str]) -> bool:
    return all(stem in text.lower() for stem in stems)


def _describe_shortly(function: Function) -> str:
    """The name, the question and the summary of a function."""
    return f"{function.name} {function.question.value} {function.words}"


def _describe_wholly(function: Function) -> str:
    """The same, with the descriptions of all of its outputs."""
    outputs = (f"{each.words} {details(each)} {each.source}" for each in function.all_outputs)
    return " ".join([_describe_shortly(function), *outputs])


def _overview(functions: Mapping[str, Function]) -> RenderableType:
    """Show the tiers on one screen: a few words on those to start with, the names of the others."""
    tiers = group_by_tier(functions)
    rows = [
        (name, re.split(r"[:,(]", functions[name].words)[0].strip()) for name in tiers.pop("start")
    ]
    more = (Text.assemble((f"{tier}  ", "bold"), ", ".join(tiers[tier])) for tier in tiers)
    return Group(words_table(("to start with", ""), rows), *more, note(MORE))


def _page(chosen: list[Function], *, whole: bool) -> RenderableType:
    of = {function.name: function for function in chosen}
    lines: list[RenderableType] = []
    for question, names in group_by_question(of).items():
        lines += [Text(question, "bold underline"), ""]
        lines += [
            pages.function_lines(of[name].signature, of[name].words, of[name].source)
            for name in names
        ]
    return Group(*(lines[2:] if whole else lines), *(_details(chosen[0]) if whole else ()))


def _details(function: Function) -> Iterator[RenderableType]:
    """Print the docstring after its first sentence, parameters, result columns, engines and an example."""
    for paragraph in filter(None, details(function).split("\n\n")):
        yield Text(" ".join(paragraph.split()))
        yield ""
    if names := named(function):
        parameters = [p for p in function.parameters if p.name in names]
        rows = [(p.name, p.domain.label, default_words(p)) for p in parameters]
        yield words_table(("parameter", "is", "default"), _bare(rows))
    first, *outputs = function.all_outputs
    yield words_table(("result", "type", "is"), _bare(_results(first)))
    yield from map(Text, _engines(first))
    yield ""
    for each in outputs:
        yield heading(f"{each.selector} := '{each.word}'")
        yield Text(" ".join(f"{each.words} {details(each)}".split()))
        if not each.answer.of_rows:
            yield words_table(("result", "type", "is"), _bare(_results(each)))
        yield from map(Text, _engines(each))
        yield ""
    if shown := example(function.name):
        yield heading("Example")
        yield from map(Text, shown[1].splitlines())


def _results(function: Function) -> list[tuple[str, str, str]]:
    """The result columns, with their types and meanings."""
    rest = columns_beside(function)
    rows = [(rest, "theirs", "")] if rest else []
    return rows + [(name, kind, meaning(function, name)) for name, kind in result_columns(function)]


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
    names = named(function)
    return {
        "name": function.name,
        "answer": function.answer.value,
        "signature": function.signature,
        "words": function.words,
        "source": function.source,
        "parameters": {p.name: p.domain.label for p in function.parameters if p.name in names},
        "columns": function.answer_columns,
        "meanings": {name: meaning(function, name) for name in function.answer_columns},
        "engines": [engine for engine in ENGINES if not function.absence(engine)],
        "needs_python": function.needs_python,
        "outputs": {
            each.word: {name: meaning(each, name) for name in each.answer_columns}
            for each in function.all_outputs[1:]
        },
    }


HERE: Final = Path(__file__).parent
PACKAGE: Final = HERE.parent
SCRIPTS: Final = (
    PACKAGE / "sql_examples",
    PACKAGE.parent / "sql_examples",
)  # where installed, and in a clone
SKILLS: Final = (
    PACKAGE / "SKILL.md",
    PACKAGE.parent / "skills" / "reid-sql" / "SKILL.md",
)
BY_KEY: Final = "BIGINT, or the type of `key`"
BY_PERSON: Final = "the type of `entity`"  # where each row is a person


def counts_in_a_window(function: Function) -> bool:
    """Whether it is an expression over all records, and takes columns alone."""
    return function.answer is Answer.WINDOW


def named(function: Function) -> list[str]:
    """The parameters that have a name in SQL: all but the record's values."""
    return [
        p.name
        for p in function.parameters
        if not (counts_in_a_window(function) and p.name == "columns")
    ]


def details(function: Function) -> str:
    """The docstring beyond its first sentence, as Markdown: without its example, `code` where it is SQL."""
    doc = inspect.getdoc(function.body) or ""
    return doc.partition(">>>")[0].partition("\n\n")[2].strip().removesuffix(":").strip()


def result_columns(function: Function) -> Iterator[tuple[str, str]]:
    """Name and SQL type of each column of the answer that has a fixed name."""
    has_key = any(each.name == "key" for each in function.parameters)
    for name, kind in function.answer_columns.items():
        yield name, kind if name != "record" else BY_KEY if has_key else BY_PERSON


def field_words(function: Function) -> dict[str, str]:
    """Return the comments of the fields of the answer's dataclass, without shapes."""
    answer = get_type_hints(function.body)["return"]
    row = get_args(answer)[0] if get_origin(answer) is list else answer
    source = inspect.getsource(row) if is_dataclass(row) and isinstance(row, type) else ""
    above = re.findall(r"^    #\s*([^(\s].*)\n    (\w+):", source, re.MULTILINE)
    same_line = re.findall(r"^    (\w+):[^#\n]*#\s*([^(\s].*)$", source, re.MULTILINE)
    return {name: words for words, name in above} | dict(same_line)


def columns_beside(function: Function) -> str:
    """Describe the columns before those with fixed names; empty if there are none."""
    if function.answer is Answer.SCORED_TABLE:
        return "the table's own columns"
    names = dict(result_columns(function))
    of_classes = (
        function.answer is Answer.REDUCTION and "class_size" in names and "classes" not in names
    )
    if "total_over" in names:
        return "the columns of `by`"
    return "the quasi-identifiers" if of_classes else ""


def default_words(parameter: Parameter) -> str:
    """Return the default as text."""
    return "required" if parameter.default is REQUIRED else f"`{sql_literal(parameter.default)}`"


def calls(text: str, name: str) -> bool:
    """Whether the SQL calls the function, comments aside."""
    statements_ = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return re.search(rf"\b{name}\(", statements_) is not None


def meaning(function: Function, column: str) -> str:
    """Return the meaning of the column in this function's answer."""
    bare, _, end = column.rpartition("_")
    words = meanings()
    if of_function := words.get(function.key, {}).get(column):
        return of_function
    if bare and end in {"low", "high"}:
        return f"{'lower' if end == 'low' else 'upper'} end of the 95 % interval of `{bare}`"
    return words["every"].get(column) or field_words(function).get(column, "")


@cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """The meanings of result columns, for every function and for one alone."""
    return tomllib.loads((HERE / "result_columns.toml").read_text(encoding="utf-8"))


def statements(script: str) -> list[str]:
    r"""The statements of a script, each with the words before and the result after it.

    >>> statements("-- One.\nSELECT 1;\n-- | 1 |\n\nSELECT 2;\n")
    ['-- One.\nSELECT 1;\n-- | 1 |', 'SELECT 2;']
    """
    cut = re.sub(r"^((?!--).*;\n(?:-- \|.*\n)*)", "\\1\0", script, flags=re.MULTILINE)
    return [part.strip() for part in cut.split("\0") if part.strip()]


def example(name: str) -> tuple[Path, str] | None:
    """The first statement of the examples that calls the function, with its words and its result."""
    folder = next((each for each in SCRIPTS if each.is_dir()), HERE)
    for script in sorted(folder.glob("*.sql")):
        for statement in statements(script.read_text(encoding="utf-8")):
            if calls(statement, name):
                return script, statement
    return None


FINDING: Final = tomllib.loads((HERE / "terms.toml").read_text(encoding="utf-8"))
USERS: Final[Mapping[str, list[str]]] = FINDING["users"]
START: Final[tuple[str, ...]] = tuple(FINDING["start"])  # in the order in which a table is measured
TERMS: Final[Mapping[str, list[str]]] = FINDING["terms"]  # of the field
NOT_HERE: Final[Mapping[str, str]] = FINDING["not_here"]
STOP_WORDS: Final = frozenset(FINDING["stop_words"])
RESEARCH: Final = (Question.MODEL_SCORES, Question.CORRECTNESS, Question.FITTED_MODELS)
TIERS: Final = ("start", "more", "research")
MIN_STEM: Final = 4
MAX_STEM: Final = 6  # anonymity and anonymous share these


def group_by_question(names: Iterable[str]) -> dict[str, list[str]]:
    """Group functions by the question that they answer, in the order of the questions.

    >>> group_by_question(["compare", "profile"])
    {'What is each column like?': ['profile'], 'What does a release still reveal?': ['compare']}
    """
    functions = declared()
    groups: dict[str, list[str]] = {question.value: [] for question in Question}
    for name in names:
        groups[functions[name].question.value].append(name)
    return {question: group for question, group in groups.items() if group}


def answer_question(text: str, names: Iterable[str]) -> list[str]:
    """Name the functions for a user, or for the question that shares most words with the text.

    >>> answer_question("who stands out", ["profile", "suda_scores"])
    ['suda_scores']
    >>> answer_question("officer", ["profile", "risk_summary"])
    ['risk_summary']
    """
    functions = list(names)
    if text.lower() in USERS:
        return [name for name in USERS[text.lower()] if name in functions]
    stems = _stems(text)
    groups = group_by_question(functions)
    shared = {question: len(stems & _stems(question)) for question in groups}
    best = max(shared.values(), default=0)
    nearest = [groups[question] for question in groups if best and shared[question] == best]
    return [name for group in nearest for name in group]


def _stems(text: str) -> set[str]:
    """Words without endings and without those that every question has."""
    words = set(re.findall(r"\w{3,}", text.lower())) - STOP_WORDS
    return {word[: min(MAX_STEM, max(MIN_STEM, len(word) - 2))] for word in words}


def find_term(text: str) -> list[str]:
    """Return the functions for a word of the field, the best first; refuse what reid-sql does not measure.

    >>> find_term("k-map"), find_term("marketer risk")[:1], find_term("who stands out")
    (['journalist_risk'], ['risk_summary'], [])
    """
    words = " ".join(re.findall(r"[a-z]+", text.lower().replace("δ", "delta")))
    for term, instead in NOT_HERE.items():
        if f" {term} " in f" {words} ":
            raise UnavailableError(
                f"NAME must be what reid-sql measures, got '{term}'; not here: {instead}"
            )
    terms = [term for term in TERMS if f" {term} " in f" {words} " or f" {term}s " in f" {words} "]
    return TERMS[max(terms, key=len)] if terms else []


def tier_of(name: str) -> str:
    """Return whether a function is one to start with, one more, or one of research."""
    if name in START:
        return "start"
    return "research" if declared()[name].question in RESEARCH else "more"


def group_by_tier(names: Iterable[str]) -> dict[str, list[str]]:
    """Group functions by tier, in the order of a measurement, then of the questions."""
    questions = [*Question]
    order = sorted(names, key=lambda name: questions.index(declared()[name].question))
    groups = {tier: [name for name in order if tier_of(name) == tier] for tier in TIERS}
    groups["start"].sort(key=START.index)
    return {tier: group for tier, group in groups.items() if group}
