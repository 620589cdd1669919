"""The page of each function: signature, words, parameters, result columns, engines, source, examples."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from reid_sql.commands.functions import meaning, statements
from reid_sql.function import Function
from tools import function_facts as facts
from tools.documents import ROOT
from tools.faces import FACES

DEFINES: Final = re.compile(
    r"CREATE (?:OR REPLACE )?(?:TEMP )?(?:TABLE|VIEW|MACRO) (\w+)|SET VARIABLE (\w+)"
    r"|(?:fit_\w+|load_model)\('(\w+)'"
)
SIGNATURE_WIDTH: Final = 88
FITS: Final = ("fit_copula", "fit_people")


def page(function: Function) -> str:
    """All that is said of the function."""
    told = facts.details(function)
    parts = [
        f"# {function.name}",
        _signature(function),
        function.words,
        *([told] if told else []),
        *_parameters(function),
        *_answer(function),
        " ".join([f"**Engines**: {facts.engines(function)}.", *facts.absences(function)]),
        f"**Source**: {function.source}.",
        *_outputs(function),
        *_also(function),
        *_in_sql(function.name),
        *_in_frames(function),
    ]
    return "\n\n".join(parts) + "\n"


def _signature(function: Function) -> str:
    """Write the signature as lines of code that the site shows whole."""
    return "\n".join(
        textwrap.wrap(
            function.signature,
            SIGNATURE_WIDTH,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
            break_on_hyphens=False,
        )
    )


def _parameters(function: Function) -> Iterator[str]:
    if not function.parameters:
        return
    lines = [
        f"| `{p.name}` | {p.domain.label} | {facts.default_words(p)} |\n"
        for p in function.parameters
        if p.name in facts.named(function)
    ]
    if facts.takes_a_record(function):
        lines.append(
            "| `c1, …` | the record's values: columns of any type, or one ROW or STRUCT | required |\n"
        )
    yield "".join(["| parameter | is | default |\n| --- | --- | --- |\n", *lines]).rstrip()


def _answer(function: Function) -> Iterator[str]:
    beside = facts.columns_beside(function)
    known = dict(facts.result_columns(function))
    first = [f"| {beside} | theirs | |\n"] if beside else []
    lines = [f"| `{name}` | {kind} | {meaning(function, name)} |\n" for name, kind in known.items()]
    head = "| result | type | is |\n| --- | --- | --- |\n"
    yield "".join([head, *first, *lines]).rstrip()


def _outputs(function: Function) -> Iterator[str]:
    """The outputs but the first, each with its result."""
    for each in function.all_outputs[1:]:
        yield f"## `{each.selector} := '{each.word}'`"
        yield each.words
        if told := facts.details(each):
            yield told
        if facts.answers_a_table(each):
            yield from _answer(each)
            yield " ".join([f"**Engines**: {facts.engines(each)}.", *facts.absences(each)])
        yield f"**Source**: {each.source}."


def _also(function: Function) -> Iterator[str]:
    """The further names that it has."""
    if function.also:
        yield f"**Also called**: {', '.join(f'`{name}`' for name in function.also)}."


def _in_sql(name: str) -> Iterator[str]:
    for script in sorted((ROOT / "sql_examples").glob("*.sql")):
        said = statements(script.read_text(encoding="utf-8"))
        for place, statement in enumerate(said):
            if facts.calls(statement, name):
                block = "\n\n".join([*needed(said[:place], statement), statement])
                yield f"## In SQL\n\n```sql\n{block}\n```"
                yield f"From [{script.name}](../../sql_examples/{script.name})."
                return


def needed(before: list[str], statement: str) -> list[str]:
    r"""The statements before that make what the statement names: tables, variables, models.

    >>> needed(["CREATE TABLE a AS SELECT 1;", "CREATE TABLE b AS FROM a;", "SELECT 2;"], "FROM b;")
    ['CREATE TABLE a AS SELECT 1;', 'CREATE TABLE b AS FROM a;']
    """
    found: list[str] = []
    wanted = statement
    for each in reversed(before):
        defined = [name for names in DEFINES.findall(_bare(each)) for name in names if name]
        listed = facts.calls(wanted, "fitted_models") and any(
            facts.calls(each, fit) for fit in FITS
        )
        if listed or any(re.search(rf"\b{name}\b", _bare(wanted)) for name in defined):
            found.insert(0, each)
            wanted += f"\n{each}"
    return found


def _bare(statement: str) -> str:
    """The statement without its comments."""
    return "\n".join(line for line in statement.splitlines() if not line.startswith("--"))


def _in_frames(function: Function) -> Iterator[str]:
    for face in FACES:
        if face.has(function):
            yield f"## {face.title}\n\n```python\n{face.shown(function)}\n```"
