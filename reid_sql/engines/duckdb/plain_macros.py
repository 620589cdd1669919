"""The functions that SQL alone can answer as macros, made from the plans that Python writes for them.

For each set of words among the options there is a macro that writes the plan for any columns; the function's
own macro checks its arguments, by the macros of pack.sql, and calls the one of its words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product
from typing import Any, Final, NamedTuple

from reid_sql.engines.duckdb.answers import check_arguments
from reid_sql.engines.duckdb.names import BUILTIN, qualified
from reid_sql.engines.duckdb.plain_sql import OF_PYTHON, REFUSAL_NEEDS_PYTHON
from reid_sql.engines.duckdb.planner import change_tables, write_answer
from reid_sql.engines.duckdb.templates import COLUMN, pieces
from reid_sql.errors import ReidError, UnavailableError
from reid_sql.function import Function
from reid_sql.parameters import sql_literal, sql_text
from reid_sql.parameters.columns import Column, Columns, Key, Named
from reid_sql.parameters.domain import REFUSAL_BOOLEAN, Table
from reid_sql.parameters.numbers import Number
from reid_sql.parameters.outputs import REQUIRED, Parameter
from reid_sql.parameters.words import Choice

TABLE: Final = "reidtable"
NUMBER: Final = "reidnumber_"  # before the name of a number in a plan
PLACEHOLDER: Final = 0.12345671  # stands for a number while a plan is written
LARGE_PLACEHOLDER: Final = 77771  # where that is too small, or not whole
REFUSAL_OPTION: Final = (
    "{} must be left out in plain SQL, got a value; use the Python package reid-sql"
)
REFUSAL_COMBINATION: Final = (
    "the options must fit together, got others; `reid-sql functions {}` says which do"
)
NUMBERS_TRIED: Final = (0.5, 1, 2, 3)  # a plan must be the same for all of them
LONG: Final = 60  # what several plans have in common is a macro of its own
ARGUMENT: Final = re.compile(r"\Areid_table\(|\Areplace\(\"|\A\(coalesce\(")  # of the call
Words = tuple[Any, ...]


class _Plan(NamedTuple):
    """The plan of some words, in pieces, and what it says to numbers that it does not have."""

    pieces: tuple[str, ...]
    refused: Mapping[str, str]


def plain_macros(functions: Iterable[Function]) -> dict[str, str]:
    """Write the macros of the functions by name, each after those that it calls.

    Plans have long texts in common, which are macros of their own. A function is left out where Python
    checks what no plan shows: that two tables have the same types, or a number by the bounds of a word.
    """
    answers = {}
    for declared in functions:
        of_one_table = [type(p.domain) for p in declared.parameters].count(Table) == 1
        if of_one_table and not declared.answer.of_rows and not declared.needs_python:
            with suppress(ValueError):
                answers[declared.name] = (declared, _answers(declared))
    answers = {
        name: (declared, each)
        for name, (declared, each) in answers.items()
        if any(isinstance(answer, _Plan) for answer in each.values())
    }
    plans = [
        plan for _, each in answers.values() for plan in each.values() if isinstance(plan, _Plan)
    ]
    count = Counter(piece for plan in dict.fromkeys(p.pieces for p in plans) for piece in plan)
    common = [p for p, n in count.items() if n > 1 and len(p) > LONG and not ARGUMENT.search(p)]
    texts = {piece: f"reid_text_{place}" for place, piece in enumerate(common, 1)}
    made = {name: f"(names) AS {piece}" for piece, name in texts.items()}
    for declared, each in answers.values():
        listed = ", ".join(
            "names" if isinstance(p.domain, Columns) else f'"{p.name}"' for p in _passed(declared)
        )
        names: dict[tuple[str, ...], str] = {}
        for plan in each.values():
            if isinstance(plan, _Plan) and plan.pieces not in names:
                names[plan.pieces] = f"reid_{declared.name}_{len(names) + 1}"
                text = " || ".join(f"{texts[p]}(names)" if p in texts else p for p in plan.pieces)
                made[names[plan.pieces]] = f"({listed}) AS TABLE FROM query({text})"
        made[declared.name] = _public_macro(declared, each, names)
    return made


def _answers(declared: Function) -> dict[Words, _Plan | str]:
    """The plan for each choice of words, or the refusal; nothing where Python must answer."""
    axes = _axes(declared)
    found: dict[Words, _Plan | str] = {}
    for words in product(*axes.values()):
        try:
            found[words] = _find_plan(declared, dict(zip(axes, words, strict=True)))
        except UnavailableError:
            continue
        except ReidError as error:
            found[words] = _general_rule(declared, str(error))
    return found


def _find_plan(declared: Function, words: Mapping[str, Any]) -> _Plan:
    """Plan with all numbers, or with the defaults of those that these words do not have."""
    spare = [
        p for p in declared.parameters
        if isinstance(p.domain, Number) and (p.domain.optional or _is_lacked(declared, p))
    ]  # fmt: skip
    refused: dict[str, str] = {}
    for size in range(len(spare) + 1):
        for left_out in combinations(spare, size):
            chosen = {**words, **{p.name: p.default for p in left_out}}
            try:
                _plan(declared, chosen, [f"{COLUMN}1"])
            except UnavailableError:
                raise
            except ReidError as error:
                for each in set(spare) - set(left_out) if size == len(spare) - 1 else ():
                    refused[each.name] = _general_rule(declared, str(error))
                last = error
                continue
            rest = [p for p in spare if p not in left_out and not _is_lacked(declared, p)]
            defaults = {p.name: _default_of(declared, chosen, p) for p in rest}
            kept = {p.name: refused.get(p.name, REFUSAL_OPTION.format(p.name)) for p in left_out}
            _refuse_other_plans(declared, chosen)
            return _Plan(tuple(_write_plan(declared, chosen, defaults)), kept)
    raise last


def _refuse_other_plans(declared: Function, words: Mapping[str, Any]) -> None:
    """Leave to Python what it plans otherwise for other numbers, or refuses by bounds of these words."""
    given = _plan(declared, words, [f"{COLUMN}1"])
    chosen = declared.outputs[words[declared.selector]] if declared.outputs else declared
    for parameter in chosen.parameters:
        domain = parameter.domain
        if not isinstance(domain, Number) or parameter.name in words:
            continue
        tried = {parameter.default, domain.low, domain.high, *NUMBERS_TRIED} - {None}
        for value in (v for v in tried if domain.low <= v <= domain.high):
            number = int(value) if domain.whole else float(value)
            expected = given.replace(f"{NUMBER}{parameter.name}", repr(number))
            try:
                plan = _plan(declared, {**words, parameter.name: number}, [f"{COLUMN}1"])
            except ReidError:
                plan = ""
            if plan != expected:
                raise UnavailableError(REFUSAL_NEEDS_PYTHON.format(declared.name))


def _default_of(declared: Function, chosen: Mapping[str, Any], parameter: Parameter) -> str:
    """The number that the plan has where an optional one is not given."""
    given = _plan(declared, chosen, [f"{COLUMN}1"])
    other = _plan(declared, {**chosen, parameter.name: None}, [f"{COLUMN}1"])
    word = f"{NUMBER}{parameter.name}"
    number = re.match(r"[\d.e+-]*", other[max(0, given.find(word)) :])
    default = number[0] if number and word in given else "NULL"
    if given.replace(word, default) != other:
        raise ValueError(f"the plan of {declared.name} has no default of {parameter.name}")
    return default


def _general_rule(declared: Function, sentence: str) -> str:
    """The refusal of options that do not fit together, without what stands for an argument."""
    is_general = not re.search(rf"{COLUMN}|{LARGE_PLACEHOLDER}|{PLACEHOLDER}", sentence)
    return sentence if is_general else REFUSAL_COMBINATION.format(declared.name)


def _passed(declared: Function) -> list[Parameter]:
    """The arguments of which a plan has the values."""
    kinds = (Table, Columns, Named, Number)
    return [parameter for parameter in declared.parameters if isinstance(parameter.domain, kinds)]


def _axes(declared: Function) -> dict[str, tuple[Any, ...]]:
    """The options that change the words of a plan, with what they may be."""
    axes: dict[str, tuple[Any, ...]] = {}
    for parameter in declared.parameters:
        domain = parameter.domain
        if isinstance(domain, Choice):
            axes[parameter.name] = (*[None] * domain.optional, *domain.words)
        elif isinstance(domain, Key):
            axes[parameter.name] = (None, f"{COLUMN}_{parameter.name}")
    return axes


def _is_lacked(declared: Function, parameter: Parameter) -> bool:
    """Whether an output of the function has no such parameter."""
    return any(
        parameter.name not in {p.name for p in output.parameters}
        for output in declared.outputs.values()
    )


def _placeholder(domain: Number) -> float:
    is_large = domain.whole or domain.low > PLACEHOLDER
    number = LARGE_PLACEHOLDER if is_large else PLACEHOLDER
    return number if domain.whole else float(number)


def _write_plan(
    declared: Function, chosen: Mapping[str, Any], defaults: Mapping[str, str]
) -> list[str]:
    """Write the plan over the arguments that are passed."""
    named = {TABLE: "reid_table(tbl)"}
    for parameter in _passed(declared):
        kind = "BIGINT" if getattr(parameter.domain, "whole", False) else "DOUBLE"
        column = f'"{parameter.name}"'
        value = f"coalesce({column}, {defaults.get(parameter.name, 'NULL')})"
        named[f"{COLUMN}_{parameter.name}"] = column
        named[f"{NUMBER}{parameter.name}"] = f"({value})::{kind}::VARCHAR"
    return pieces(lambda columns: _plan(declared, chosen, columns), named)


def _plan(declared: Function, chosen: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Write the plan of a call by these columns, with words for the other arguments."""
    values, numbers = [], {}
    for parameter in declared.parameters:
        domain, value = parameter.domain, chosen.get(parameter.name, parameter.default)
        if isinstance(domain, Table):
            value = TABLE
        elif isinstance(domain, Columns):
            value = list(columns)
        elif isinstance(domain, Column):
            value = f"{COLUMN}_{parameter.name}"
        elif isinstance(domain, Number) and parameter.name not in chosen:
            value = _placeholder(domain)
        if isinstance(domain, Number) and value == _placeholder(domain):
            if repr(value) in numbers:
                raise ValueError(f"two numbers of {declared.name} have the same placeholder")
            numbers[repr(value)] = f"{NUMBER}{parameter.name}"
        values.append(value)
    checked = check_arguments(declared, values, may_read_files=False, is_plain=True)
    output, checked = declared.choose(checked)
    checked = change_tables(checked, lambda _, table: replace(table, checks_itself=True))
    plan = "" if output.needs_python else qualified(write_answer(output, checked, ""))
    if output.needs_python or OF_PYTHON.search(plan):
        raise UnavailableError(REFUSAL_NEEDS_PYTHON.format(declared.name))
    plan = plan.replace(f"{BUILTIN}query_table('{TABLE}')", TABLE)
    for number, word in numbers.items():
        plan = plan.replace(number, word)
    return plan


def _public_macro(
    declared: Function, answers: Mapping[Words, _Plan | str], names: Mapping[tuple[str, ...], str]
) -> str:
    """Check the arguments, and call the macro of their words with them."""
    shown = ", ".join(
        f'"{p.name}"' if p.default is REQUIRED else f'"{p.name}" := {sql_literal(p.default)}'
        for p in declared.parameters
    )
    axes, passed = _axes(declared), _passed(declared)
    types = ", ".join(f'typeof("{p.name}")' for p in declared.parameters)
    boolean = REFUSAL_BOOLEAN.format(f"parameters of {declared.name}")
    tests = [f"WHEN 'BOOLEAN' IN ({types}) THEN {_error(boolean)}"]
    tests += [
        f'WHEN "{p.name}" IS NOT NULL THEN {_error(REFUSAL_OPTION.format(p.name))}'
        for p in declared.parameters
        if p not in passed and p.name not in axes
    ]
    words = [_word(declared, place, name, answers) for place, name in enumerate(axes)]
    cases = []
    for key, answer in answers.items():
        called = "|".join(
            _shown(declared, each, name) for each, name in zip(key, axes, strict=True)
        )
        cases.append(f"WHEN {sql_text(called)} THEN {_answer(declared, answer, names)}")
    chosen = f"CASE concat_ws('|', {', '.join(words)}) {' '.join(cases)} END"
    given = " || ', ' || ".join(_argument(declared, p) for p in passed)
    call = f"'FROM ' || {chosen} || {given} || ')'"
    return f"({shown}) AS TABLE FROM query(CASE {' '.join(tests)} ELSE {call} END)"


def _error(sentence: str) -> str:
    return f"error({sql_text(sentence)})::VARCHAR"


def _answer(declared: Function, answer: _Plan | str, names: Mapping[tuple[str, ...], str]) -> str:
    """Write the name of the plan's macro; a number that the plan does not have is refused."""
    if isinstance(answer, str):
        return _error(answer)
    made = f"'{names[answer.pieces]}('"
    for parameter in declared.parameters:
        if parameter.name in answer.refused:
            given = f'"{parameter.name}" IS DISTINCT FROM {sql_literal(parameter.default)}'
            refused = _error(answer.refused[parameter.name])
            made = f"CASE WHEN {given} THEN {refused} ELSE {made} END"
    return made


def _shown(declared: Function, value: Any, option: str) -> str:  # noqa: ANN401 - a word or a column
    """A word, or whether a column is given."""
    is_key = any(p.name == option and isinstance(p.domain, Key) for p in declared.parameters)
    return str(value is not None).lower() if is_key else str(value)


def _word(declared: Function, place: int, option: str, answers: Mapping[Words, _Plan | str]) -> str:
    """Write the word of an option, refused where it has no answer, or whether the option is given."""
    parameter = next(p for p in declared.parameters if p.name == option)
    if not isinstance(parameter.domain, Choice):
        return f'("{option}" IS NOT NULL)::VARCHAR'
    planned = (key[place] for key, answer in answers.items() if isinstance(answer, _Plan))
    words = dict.fromkeys(word for word in planned if word is not None)
    listed = ", ".join(map(sql_text, words))
    chosen = f"reid_choice('{option}', \"{option}\", [{listed}])"
    return (
        f"CASE WHEN \"{option}\" IS NULL THEN 'None' ELSE {chosen} END"
        if parameter.domain.optional
        else chosen
    )


def _argument(declared: Function, parameter: Parameter) -> str:
    """Write the text of an argument, once it is checked."""
    column, domain = f'"{parameter.name}"', parameter.domain
    if isinstance(domain, Columns):
        return _columns(declared, parameter)
    if isinstance(domain, Number):
        other = "'NULL'" if domain.optional else _error(domain.sentence(parameter.name, "NULL"))
        return f"coalesce(({_cell(declared, parameter)})::VARCHAR, {other})"
    return f"coalesce(reid_text({column}), {'NULL' if isinstance(domain, Table) else sql_text('NULL')})"


def _cell(declared: Function, parameter: Parameter) -> str:
    """Check a number, by the bounds of the output that is chosen."""
    cases = [
        f'WHEN "{declared.selector}" = {sql_text(word)} THEN {own.domain.cell(own.name)}'
        for word, output in declared.outputs.items()
        for own in output.parameters
        if own.name == parameter.name
    ]
    checked = parameter.domain.cell(parameter.name)
    return f"CASE {' '.join(cases)} ELSE {checked} END" if cases else checked


def _columns(declared: Function, parameter: Parameter) -> str:
    """List the names of the columns, which differ from each other and from those of other arguments."""
    label, names = "quasi-identifiers", f"reid_names('quasi-identifiers', \"{parameter.name}\")"
    every, labels = "names", []
    for other in declared.parameters:
        if isinstance(other.domain, Column):
            label, every = f"{label} and {other.name}", f'list_append({every}, "{other.name}")'
        elif isinstance(other.domain, Key):
            given = f'"{other.name}" IS NULL'
            every = f'CASE WHEN {given} THEN {every} ELSE list_append({every}, "{other.name}") END'
            labels.append(f" || CASE WHEN {given} THEN '' ELSE ' and {other.name}' END")
    checked = f"reid_names('{label}'{''.join(labels)}, {every})"
    listed = "'[' || array_to_string(list_transform(names, lambda c: reid_text(c)), ', ') || ']'"
    return f"list_transform([{names}], lambda names: CASE WHEN {checked} IS NOT NULL THEN {listed} END)[1]"
