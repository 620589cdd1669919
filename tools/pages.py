"""The page of each function: signature, words, parameters, result columns, engines, source, examples."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from reid_sql.commands.functions import statements
from reid_sql.function import Function
from tools import function_facts as facts
from tools.documents import ROOT
from tools.faces import FACES

DEFINES: Final = re.compile(
    r"CREATE (?:OR REPLACE )?(?:TEMP )?(?:TABLE|VIEW|MACRO) (\w+)|SET VARIABLE (\w+)"
    r"|(?:fit_\w+|load_model)\('(\w+)'"
)
TITLE: Final = re.compile(r"\A(?:--.*\n)+\n")  # of a script
LINK: Final = re.compile(r"\bdocs/(\w+\.md)")  # of a docstring
SIDES: Final = ("lower", "upper")
SIGNATURE_WIDTH: Final = 88
FITS: Final = ("fit_copula", "fit_people")


def page(function: Function) -> str:
    """All that is said of the function."""
    told = _details(function)
    parts = [
        f"# {function.name}",
        _signature(function),
        function.words,
        *([told] if told else []),
        *_parameters(function),
        *_answer(function),
        *_shared(function),
        _engines(function),
        f"**Source**: {function.source}.",
        *_outputs(function),
        *_also(function),
        *_in_sql(function.name),
        *_in_frames(function),
    ]
    return "\n\n".join(parts) + "\n"


def _details(function: Function) -> str:
    """The docstring beyond its first sentence, with links to the pages that it names."""
    return LINK.sub(r"[\1](../\1)", facts.details(function))


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
    """What the parameters accept. The signature has defaults; the index has what many functions share."""
    rows = [
        (f"`{row[0]}`", *row[1:])
        for row in facts.parameter_rows(function)
        if not facts.is_shared(row)
    ]
    if facts.takes_a_record(function):
        rows.append(("`c1, …`", "the record's values: columns of any type, or one ROW or STRUCT"))
    if rows:
        yield _table(("parameter", "is"), rows)


def _answer(function: Function, above: Function | None = None) -> Iterator[str]:
    """The columns of the answer but those that many answers have; those of the answer above by name alone."""
    rows = [row for row in facts.result_rows(function) if row not in facts.shared_results()]
    repeated = [row for row in rows if above and row in facts.result_rows(above)]
    beside = facts.columns_beside(function)
    table = [(beside, "theirs", "")] if beside else []
    ends = {words: name for name, _, words in rows}
    for name, kind, words in (row for row in rows if row not in repeated):
        low, high = (ends.get(f"{side} end of the 95 % interval of `{name}`") for side in SIDES)
        if low and high:
            table.append((f"`{name}`, `{low}`, `{high}`", kind, f"{words}; its 95 % interval"))
        elif not facts.INTERVAL_END.fullmatch(words):
            table.append((f"`{name}`", kind, words))
    yield _table(("result", "type", "is"), table)
    if repeated:
        yield f"As above: {', '.join(f'`{name}`' for name, _, _ in repeated)}."


def _table(head: tuple[str, ...], rows: Iterable[facts.Row]) -> str:
    lines = [head, ("---",) * len(head), *facts.merge_rows(rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shared(function: Function) -> Iterator[str]:
    """Name what the page describes no further, and link to what does."""
    outputs = [each for each in function.all_outputs if facts.answers_a_table(each)]
    rows = {row: None for each in outputs for row in facts.result_rows(each)}
    columns = [f"`{row[0]}`" for row in facts.shared_results() if row in rows]
    parts = [f"columns {', '.join(columns)}"] if columns else []
    if any(map(facts.is_shared, facts.parameter_rows(function))):
        parts.insert(0, "other parameters")
    if parts:
        yield f"**[Shared](index.md#shared-parameters-and-columns)**: {'; '.join(parts)}."


def _engines(function: Function) -> str:
    return " ".join([f"**Engines**: {facts.engines(function)}.", *facts.absences(function)])


def _outputs(function: Function) -> Iterator[str]:
    """The outputs but the first, each with its result."""
    for each in function.all_outputs[1:]:
        yield f"## `{each.selector} := '{each.word}'`"
        yield each.words
        if told := _details(each):
            yield told
        if facts.answers_a_table(each):
            yield from _answer(each, above=function)
            if _engines(each) != _engines(function):
                yield _engines(each)
        yield f"**Source**: {each.source}."


def _also(function: Function) -> Iterator[str]:
    """The further names that it has."""
    if function.also:
        yield f"**Also called**: {', '.join(f'`{name}`' for name in function.also)}."


def _in_sql(name: str) -> Iterator[str]:
    for script in sorted((ROOT / "sql_examples").glob("*.sql")):
        said = statements(TITLE.sub("", script.read_text(encoding="utf-8")))
        for place, statement in enumerate(said):
            if facts.calls(statement, name):
                block = "\n\n".join([*needed(said[:place], statement), statement])
                yield f"## In SQL\n\n```sql\n{block}\n```"
                yield f"[{script.name}](../../sql_examples/{script.name})"
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
