"""The macros: what each function is in DuckDB, over the plans of the reductions' rooms."""

import importlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from graphlib import TopologicalSorter
from importlib import resources
from string import Template
from typing import Final

from reid_sql.engines.duckdb.arguments import ANSWER, checked, checked_cell, checked_once, literal, word
from reid_sql.engines.duckdb.awaited import BEGIN, OWN_MODELS, awaited
from reid_sql.engines.duckdb.by_group import OWN_NAMES, awaited_by_group, by_group, every_column
from reid_sql.engines.duckdb.many_columns import SPELLED, met_first, spelled, window
from reid_sql.engines.duckdb.qualify import BUILTIN, HOME, NOT_USUAL, PYTHON, qualified
from reid_sql.engines.duckdb.template import compile_file
from reid_sql.function import REQUIRED, Answer, Function, Parameter, sql_literal
from reid_sql.parameters import (
    MAX_COLUMNS,
    MODEL,
    Choice,
    Document,
    Groups,
    Values,
)
from reid_sql.reduction import (
    FOLDED,
    GROUP,
    HOW_NULLS,
    KEY_OF_PEOPLE,
    ONE_RECORD,
    SEVERAL_VALUES,
    Argument,
    Reduction,
)
from reid_sql.reduction import reductions as all_reductions

PUBLIC: Final = "reid"  # the catalogue of short names: FROM reid.risk_summary(…)
CATALOGUE: Final = "reid_sql_functions"
DIVIDED: Final = '"by" IS NOT NULL'  # whether a call asks for groups
SCORED: Final = 8  # the same for scores, which gain less by it than each costs when macros are made
UNGIVEN: Final = "'reid: no column'"
WILDCARD: Final = "reid_wildcard_class_sizes"
MODEL_COLUMNS: Final = "reid_model_columns"
WILDCARD_OPTION: Final = "nulls := 'wildcard'"
ALONE: Final = "_without_python"  # the end of a plan's name that stands for another where there is no Python
CALLED: Final = re.compile(r"\breid_\w+(?=\()")


def needs_python(declared: Function) -> bool:
    """Whether DuckDB can bind the function only to its Python body."""
    return (
        declared.answer is not Answer.COUNT
        and declared.duckdb is None
        and declared.answer is not Answer.REDUCTION
    )


def macros(functions: Mapping[str, Function], *, python: bool) -> dict[str, str]:
    """Definition of every macro by name, each after those it calls.

    What needs Python says so where there is none.
    """
    found = {name: text for name, text in _plans().items() if not (python and name.endswith(ALONE))}
    own: dict[str, str] = {}
    for reduction in all_reductions().values():
        if reduction.arguments and (python or not _of_python(reduction.arguments)):
            own[f"reid_reduce_{reduction.name}"] = _reduction(reduction)
    for reduction in _of_individuals(functions):
        if python or not _of_python(reduction.arguments):
            own[f"reid_individuals_{reduction.name}"] = _individuals(reduction)
    for name, declared in functions.items():
        own |= _macro(name, declared) if python or not needs_python(declared) else _stub(name, declared)
    if not python:
        alone = [name for name in found if name.endswith(ALONE)]
        found |= {name.removesuffix(ALONE): found.pop(name) for name in alone}
        found = {name: text for name, text in found.items() if MODEL_COLUMNS not in text}
        own[BEGIN] = f"(name, codes, other_codes, other_counts) AS {_absent(WILDCARD_OPTION)}::BIGINT"
        own[WILDCARD] = f"(number) AS {_absent(WILDCARD_OPTION)}::BIGINT[]"
    return _ordered(found | {name: qualified(text) for name, text in own.items()})


def _stub(name: str, declared: Function) -> dict[str, str]:
    """What stands for a function where there is no Python."""
    if declared.answer is Answer.SCORE:
        return {name: spelled(lambda _: _absent(name), [p.name for p in _before(declared)], UNGIVEN, SCORED)}
    if declared.answer.of_rows:
        return {name: f"({parameters(declared)}) AS {_absent(name)}"}
    return {name: f"({parameters(declared)}) AS TABLE SELECT {_absent(name)} AS refusal"}


def _absent(what: str) -> str:
    rule = f"{what} needs the Python package reid-sql, got a connection without it; register it there"
    return f"error({sql_literal(rule)})"


def _ordered(definitions: Mapping[str, str]) -> dict[str, str]:
    """The definitions in an order that DuckDB takes: it looks for what a macro calls when it is made."""
    calls = {
        name: dict.fromkeys(
            called for called in CALLED.findall(text) if called in definitions and called != name
        )
        for name, text in definitions.items()
    }
    return {name: definitions[name] for name in TopologicalSorter(calls).static_order()}


def forwards(functions: Mapping[str, Function]) -> dict[str, str]:
    """A macro for every function that does no more than call the one in our catalogue."""
    found = {}
    for name, declared in functions.items():
        if declared.answer in {Answer.COUNT, Answer.SCORE}:
            before = [parameter.name for parameter in _before(declared)]
            defaults = ("NULL", SPELLED) if declared.answer is Answer.COUNT else (UNGIVEN, SCORED)
            found[name] = spelled(partial(_call, name, before), before, *defaults)
        else:
            listed = ", ".join(f'"{parameter.name}"' for parameter in declared.parameters)
            of_rows = "" if declared.answer.of_rows else "TABLE FROM "
            found[name] = f"({parameters(declared)}) AS {of_rows}{HOME}{name}({listed})"
    return found


def _call(name: str, before: Sequence[str], columns: Sequence[str]) -> str:
    return f"{HOME}{name}({', '.join([*before, *columns])})"


def _before(declared: Function) -> list[Parameter]:
    """The parameters that stand before a record's values."""
    return [parameter for parameter in declared.parameters if type(parameter.domain) is not Values]


def written(definitions: Mapping[str, str], create: str, home: str, python: str = BUILTIN) -> str:
    """The statements that make the macros, with the places where ours and those of Python live."""
    made = "\n\n".join(f"{create}{name}{definition};" for name, definition in definitions.items())
    return made.replace(HOME, home).replace(PYTHON, python) + "\n"


@cache
def _plans() -> dict[str, str]:
    """The macros of the kit's files and of the rooms', by name."""
    found: dict[str, str] = {}
    for package in (__package__, *sorted({reduction.room for reduction in all_reductions().values()})):
        constants = {
            **vars(importlib.import_module(package)),
            "MAX_COLUMNS": MAX_COLUMNS,
            "UNGIVEN": UNGIVEN,
            "NOT_USUAL": NOT_USUAL,
            "GROUP": GROUP,
            "SEVERAL_VALUES": SEVERAL_VALUES,
            "FOLDED": FOLDED,
            "KEY_OF_PEOPLE": KEY_OF_PEOPLE,
            "ONE_RECORD": ONE_RECORD,
        }
        for file in sorted(resources.files(package).iterdir(), key=lambda each: each.name):
            if file.name.endswith(".sql"):
                found |= compile_file(file.read_text(encoding="utf-8"), constants)
    return found


def documents(given: Iterable[Argument | Parameter]) -> list[Document]:
    """Documents among the parameters: only Python reads them."""
    return [each.domain for each in given if isinstance(each.domain, Document)]


def _of_python(given: Iterable[Argument]) -> bool:
    """Whether a reduction reads a document or scores by a model."""
    return any(isinstance(each.domain, Document) or each.domain is MODEL for each in given)


def _reduction(reduction: Reduction) -> str:
    """Write the table macro that checks the arguments and runs the plan."""
    names = [f'"{argument.name}"' for argument in reduction.arguments]
    taken = ", ".join([*names, *_answers_own(reduction)])
    return f"({taken}) AS TABLE FROM query({met_first(names[0], plan_of(reduction))})"


def _answers_own(reduction: Reduction) -> list[str]:
    """The parameter by which a function tells what its answer names its own columns, beside groups."""
    return [ANSWER] if any(isinstance(each.domain, Groups) for each in reduction.arguments) else []


def named_answer(declared: Function) -> str:
    """The value of that parameter."""
    return sql_literal(f"[{', '.join(map(sql_literal, declared.answer_columns))}]")


def _of_individuals(functions: Mapping[str, Function]) -> list[Reduction]:
    """The reductions from which functions answer about people, one row each."""
    found = [each.reduction for each in functions.values() if each.individuals and each.reduction]
    return list({reduction.name: reduction for reduction in found}.values())


def _individuals(reduction: Reduction) -> str:
    """Write the table macro that makes the table one of a row a person, where a column tells people apart."""
    names = [each.name for each in reduction.arguments if each.name != "entity"]
    given = [each.name if each.name != "entity" else "NULL" for each in reduction.arguments]
    plan = plan_of(reduction, given, individuals=True)
    named = ", ".join([*(f'"{name}"' for name in [*names, "entity"]), *_answers_own(reduction)])
    return f"({named}) AS TABLE FROM query({met_first(names[0], plan)})"


def _source_of_individuals(names: Collection[str]) -> str:
    """The table as a row a person, or a row for a person's sensitive value."""
    sensitive, of_what = ("sensitive::VARCHAR, ", "values") if "sensitive" in names else ("", "individuals")
    weight = "" if sensitive else f", {'weight' if 'weight' in names else 'NULL'}::VARCHAR"
    groups = 'try_cast("by" AS VARCHAR[])' if "by" in names else "NULL::VARCHAR[]"
    given = f"try_cast(qi AS VARCHAR[]), {sensitive}entity::VARCHAR, nulls::VARCHAR, {groups}{weight}"
    return f"reid_source_of_{of_what}(reid_table(tbl), {given})"


def plan_of(reduction: Reduction, given: Sequence[str] = (), *, individuals: bool = False) -> str:
    """Write the call of the plan with its arguments checked; NULL for those that `given` has NULL for.

    They are written as literals, and the plan is bound where the text runs: an expression for an argument is
    bound wherever it stands, and one within a lambda twice for each that is around it.
    """
    names = [each.name for each in reduction.arguments]
    values = {
        each.name: "'NULL'" if name == "NULL" else literal(Parameter(each.name, each.domain))
        for each, name in zip(reduction.arguments, given or names, strict=True)
    }
    if individuals:
        values["tbl"] = f"reid_text({_source_of_individuals(names)})"
        key = "reid_text_or_null(reid_key_of_people(key::VARCHAR, entity::VARCHAR))"
        values |= {"key": key} if "key" in values else {}
    refused = ""
    for each in reduction.arguments:
        if isinstance(each.domain, Choice) and values[each.name] != "'NULL'":
            values[each.name], refusal = word(each.name, each.domain)
            refused += f" || {refusal}"
    passed = " || ', ' || ".join(values.values())
    return f"'FROM {BUILTIN}query('{refused} || '{HOME}reid_plan_{reduction.name}(' || {passed} || '))'"


def _macro(name: str, declared: Function) -> dict[str, str]:
    """Define the macros of one function, helpers included."""
    if declared.answer is Answer.COUNT:
        before = [parameter.name for parameter in _before(declared)]
        return {name: spelled(partial(window, name, before), before, "NULL")}
    if declared.answer is Answer.VALUE:
        return _row(name, declared)
    if declared.answer is Answer.SCORE:
        before = [parameter.name for parameter in _before(declared)]
        return {name: spelled(partial(_of_model, declared), before, UNGIVEN, SCORED)}
    if declared.answer is Answer.BESIDE:
        return {f"reid_answered_{name}": _answered_scores(declared), name: _scores(declared)}
    if declared.answer is Answer.DRAWN:
        return {name: _drawn(declared)}
    handed = {each.name for each in declared.reduction.arguments} if declared.reduction else set()
    return {name: f"({parameters(declared)}) AS TABLE {select(declared, partial(checked_once, handed))}"}


def _of_model(declared: Function, columns: Sequence[str]) -> str:
    """Score the record of these columns, of which those not given are left out."""
    values = f"list_value({', '.join(f'{column}::VARCHAR' for column in columns)})"
    if len(columns) == MAX_COLUMNS:
        shown = ", ".join(f"alias({column})" for column in columns)
        values = f"list_slice({values}, 1, reid_number_given([{shown}]))"
    own = (checked_cell(each) for each in _before(declared)[1:])
    cells = ", ".join([values, f"{OWN_MODELS}()", "model", *own])
    return met_first("model", _answer(f"reid_body_{declared.name}({cells})"))


def _answer(call: str) -> str:
    """Give the answer, or the refusal in its own words."""
    return f"""list_extract(list_transform([{call}], lambda reid_answered:
        CASE WHEN reid_answered.refusal IS NULL THEN reid_answered.answer
        ELSE error(reid_answered.refusal) END), 1)"""


def _answered_scores(declared: Function) -> str:
    names = ", ".join(
        ["reid_values", "reid_class_size", "reid_model", *(p.name for p in declared.own_parameters)]
    )
    own = "".join(f", {parameter.name}" for parameter in declared.own_parameters)
    cells = f"reid_values, reid_class_size, {OWN_MODELS}(), reid_model{own}"
    return f"({names}) AS {_answer(f'reid_body_{declared.name}({cells})')}"


def _scores(declared: Function) -> str:
    """Write the table macro that scores distinct records and joins the scores back."""
    own = "".join(f" || ', ' || reid_text(({checked(p)})::VARCHAR)" for p in declared.own_parameters)
    found = f"{MODEL_COLUMNS}({OWN_MODELS}(), {checked(declared.parameters[1])})"
    added = f"[{', '.join(sql_literal(column) for column in declared.columns)}]"
    head = f"'{HOME}reid_answered_{declared.name}'"
    plan = f"reid_plan_scored(reid_table(tbl), {found}, {head}, reid_text(model){own} || ')', {added})"
    return f"({parameters(declared)}) AS TABLE FROM query({met_first(declared.parameters[0].name, plan)})"


def _drawn(declared: Function) -> str:
    """Write the table macro that draws a record for each place of a range."""
    model, n, *own = declared.parameters
    found = f"{MODEL_COLUMNS}({OWN_MODELS}(), {checked(model)})"
    given = "".join(f" || ', ' || reid_text(({checked(p)})::VARCHAR)" for p in own)
    plan = (
        f"reid_plan_drawn({found}, '{PYTHON}reid_body_{declared.name}', "
        f"{checked(n)}, reid_text(model){given})"
    )
    return f"({parameters(declared)}) AS TABLE FROM query({met_first(declared.parameters[0].name, plan)})"


def _row(name: str, declared: Function) -> dict[str, str]:
    """Check the arguments, then answer by the spelling over them as doubles, or by the Python body.

    The spelling holds each argument many times, and so not its check; least() would pass over a NULL.
    """
    names = ", ".join(parameter.name for parameter in declared.parameters)
    cells = [checked_cell(parameter) for parameter in declared.parameters]
    if declared.duckdb is None:
        return {name: f"({names}) AS reid_body_{name}({', '.join(cells)})"}
    missing = " OR ".join(f"{cell} IS NULL" for cell in cells)
    given = ", ".join(f"({parameter.name})::DOUBLE" for parameter in declared.parameters)
    answer = f"CASE WHEN {missing} OR NOT reid_is_usual() THEN NULL ELSE reid_spelled_{name}({given}) END"
    return {f"reid_spelled_{name}": f"({names}) AS {declared.duckdb}", name: f"({names}) AS {answer}"}


def parameters(declared: Function) -> str:
    """The parameters of a function's macro, with their defaults; in quotes, as some are words of SQL."""
    shown = [
        f'"{p.name}"' if p.default is REQUIRED else f'"{p.name}" := {sql_literal(p.default)}'
        for p in declared.parameters
    ]
    return ", ".join(shown)


def select(
    declared: Function, spelled: Callable[[Parameter], str], source: str = "", divided: str = DIVIDED
) -> str:
    """Select the answer over the reduction, with how NULLs were treated; over another source if given."""
    values = {p.name: spelled(p) for p in declared.own_parameters}
    reduction = declared.reduction
    if reduction is None:
        called = awaited(declared, list(values.values()))
        return f"SELECT unnest(answer) FROM (SELECT unnest(answers) AS answer FROM ({called}))"
    source = source or _source(declared, reduction)
    if declared.answer is Answer.REDUCTION:
        return f"{OWN_NAMES} FROM {source}" if declared.grouped else f"FROM {source}"
    aggregate = ", ".join(f"max({column}) AS {column}" for column in HOW_NULLS)
    treated = ", ".join(f"{column} AS {column}" for column in HOW_NULLS)
    if declared.duckdb is not None:
        answer = Template(declared.duckdb).substitute(values)
        said = treated if reduction.rowwise else aggregate
        found = f"{answer}, {said} FROM {source}"
        if declared.grouped:
            return by_group(declared, reduction, found)
        return f"FROM (SELECT {found}) AS reid_said WHERE {every_column('reid_said')}"
    if declared.grouped:
        return awaited_by_group(declared, reduction, list(values.values()), divided, source)
    return _awaited_answer(declared, reduction, list(values.values()), source)


def _awaited_answer(declared: Function, reduction: Reduction, own: Sequence[str], source: str) -> str:
    """The answer of a Python body, which is given whole columns of the reduction."""
    aggregate = ", ".join(f"max({column}) AS {column}" for column in HOW_NULLS)
    treated = ", ".join(f"{column} AS {column}" for column in HOW_NULLS)
    first = next(iter(reduction.columns))
    arrays = (
        list(reduction.inputs)
        if reduction.whole
        else [f"list({column} ORDER BY {first} ASC)" for column in reduction.inputs]
    )
    given = [*arrays, *own]
    if declared.answer is Answer.RECORDS:
        kept = f"list(members ORDER BY {first} ASC) AS reid_members, {aggregate}"
        called = awaited(declared, given, f"{kept} FROM {source}")
        each = f"SELECT unnest(reid_members) AS members, unnest(answers) AS answer, {treated} FROM ({called})"
        return (
            "SELECT unnest(members) AS record, unnest(answer), "
            f"{treated} FROM ({each}) ORDER BY record ASC NULLS LAST"
        )
    said = treated if reduction.whole else aggregate
    if reduction.keyed:
        called = awaited(declared, given, f"{said}, keys AS reid_keys FROM {source}")
        each = f"SELECT unnest(answers) AS answer, {treated}, reid_keys FROM ({called})"
        named = f"SELECT unnest(answer), {treated}, reid_keys FROM ({each})"
        return f"SELECT * EXCLUDE (reid_keys) REPLACE (reid_keys[record + 1] AS record) FROM ({named})"
    called = awaited(declared, given, f"{said} FROM {source}")
    each = f"SELECT unnest(answers) AS answer, {treated} FROM ({called})"
    return f"SELECT unnest(answer), {treated} FROM ({each})"


def _source(declared: Function, reduction: Reduction) -> str:
    """The reduction that the function answers from, called with what it hands on."""
    given = arguments_of(declared, reduction)
    told = [named_answer(declared) for _ in _answers_own(reduction)]
    if not declared.individuals:
        return f"reid_reduce_{reduction.name}({', '.join([*given, *told])})"
    names = [each.name for each in reduction.arguments]
    own = [value for name, value in zip(names, given, strict=True) if name != "entity"]
    return f"reid_individuals_{reduction.name}({', '.join([*own, 'entity', *told])})"


def arguments_of(declared: Function, reduction: Reduction) -> list[str]:
    """What the function hands to its reduction: a parameter of the same name, or NULL."""
    given = {p.name for p in declared.parameters} - ({"entity"} if declared.individuals else set())
    return [f'"{each.name}"' if each.name in given else "NULL" for each in reduction.arguments]
