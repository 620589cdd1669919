"""The query that a call runs, as text for a database administrator; nothing of it is run."""

import re
from collections.abc import Mapping
from typing import Final

import duckdb

from reid_sql.engines.duckdb.arguments import ANSWER, literal
from reid_sql.engines.duckdb.layout import laid_out
from reid_sql.engines.duckdb.macros import (
    DIVIDED,
    arguments_of,
    named_answer,
    parameters,
    plan_of,
    select,
)
from reid_sql.engines.duckdb.many_columns import window_of
from reid_sql.engines.duckdb.qualify import BUILTIN, HOME
from reid_sql.engines.duckdb.registering import register
from reid_sql.engines.duckdb.template import compile_text
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.function import Answer, Function, Parameter
from reid_sql.parameters import MAX_COLUMNS, MODEL
from reid_sql.reduction import Reduction
from reid_sql.suggestion import suggestion

CALL: Final = re.compile(r"\s*(?:FROM\s+)?(\w+)\s*\((.*)\)\s*;?\s*", re.DOTALL | re.IGNORECASE)
OPTION: Final = re.compile(r"(\w+)\s*:=")
WRITTEN: Final = re.compile(r"\b(?:system\.main\.)?query\((?=\s*reid\.main\.)")
BRACKET: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]""")
EXAMPLE: Final = "risk_summary(people, ['age', 'sex'])"
SHOWN: Final = "reid_shown"
IS_DIVIDED: Final = f"{{{{ ({DIVIDED})::VARCHAR }}}}"  # the hole for it


def plan(call: str, functions: Mapping[str, Function]) -> str:
    """Write the query that a call of a function runs, laid out; the table need not exist.

    Refuses what is no call, a function that is none, an option that is none, and a call whose query depends
    on a model.
    """
    found = CALL.fullmatch(call)
    if not found:
        raise OutOfDomainError(
            f"--plan must be a call of a function, got '{call}'; write it like \"{EXAMPLE}\""
        )
    name, given = found[1].lower(), found[2]
    if name not in functions:
        raise UnknownNameError(
            f"--plan must be a call of a function, got '{name}'; "
            f"{suggestion(name, list(functions), 'functions')}"
        )
    declared = functions[name]
    if declared.answer is Answer.COUNT:
        return _window(declared, given)
    reduction = declared.reduction
    if not declared.answer.of_table or not reduction or any(p.domain is MODEL for p in declared.parameters):
        raise OutOfDomainError(
            f"--plan must be a call of a function that counts in a table, got '{name}'; "
            f"its body is Python or stands in `reid-sql sql`"
        )
    _refuse_options(declared, given)
    return laid_out(_asked(declared, reduction, given, functions).replace(BUILTIN, ""))


def _asked(declared: Function, reduction: Reduction, given: str, functions: Mapping[str, Function]) -> str:
    """Ask DuckDB for the text: a table macro, as names without quotes are texts to one alone."""
    planned = plan_of(reduction, arguments_of(declared, reduction), individuals=declared.individuals)
    text = compile_text(select(declared, _spelled, f"({{{{ {planned} }}}})", IS_DIVIDED))
    with duckdb.connect() as con:
        register(con, functions)
        con.execute("SET search_path = 'memory.main,reid.main'")  # what the plans are made of
        taken = f"{parameters(declared)}, {ANSWER} := {named_answer(declared)}"
        con.execute(f"CREATE TEMP MACRO {SHOWN}({taken}) AS TABLE FROM query('SELECT ' || reid_text({text}))")
        shown = _shown(con, declared, given)
        return unfolded(con, shown.replace(HOME, "reid.main."))


def _shown(con: duckdb.DuckDBPyConnection, declared: Function, given: str) -> str:
    """The text that the macro writes, or the refusal of a call that has too little or too much."""
    try:
        written: str = con.execute(f"FROM {SHOWN}({given})").fetchall()[0][0]
    except duckdb.BinderException as error:
        if f"{SHOWN}()" not in str(error):
            raise
        rule = f"--plan must be a call like {declared.signature}, got '{declared.name}({given})'"
        raise OutOfDomainError(f"{rule}; pass all that has no default, and no more than there is") from None
    return written


def unfolded(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """The query with what its parts write in place of the parts that are written when they are run."""
    while found := WRITTEN.search(text):
        closed = _closing(text, found.end() - 1)
        written: str = con.execute(f"SELECT {text[found.end() : closed]}").fetchall()[0][0]
        text = f"{text[: found.start()]}({written}){text[closed + 1 :]}"
    return text


def _closing(text: str, opened: int) -> int:
    """The place of the parenthesis that closes the one at a place; none in quotes is meant."""
    depth = 0
    for found in BRACKET.finditer(text, opened):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return found.start()
    raise AssertionError(f"a plan must close its parentheses, got {text}")


def _spelled(parameter: Parameter) -> str:
    """The hole in which the checked value stands."""
    return f"{{{{ {literal(parameter)} }}}}"


def _refuse_options(declared: Function, given: str) -> None:
    known = [parameter.name for parameter in declared.parameters]
    bare = re.sub(r"'(?:[^']|'')*'", "''", given)
    for option in OPTION.findall(bare):
        if option.lower() not in known:
            raise UnknownNameError(
                f"{declared.name} must be given options that it has, got '{option}'; "
                f"{suggestion(option, known, 'options')}"
            )


def _window(declared: Function, given: str) -> str:
    named, before = (
        [column.strip() for column in given.split(",") if column.strip()],
        len(declared.parameters) - 1,
    )
    columns = named[before:]
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise OutOfDomainError(
            f"{declared.name} must be given 1 to {MAX_COLUMNS} columns, got {len(columns)}; "
            "pass the columns by which people can be told apart, such as age, sex"
        )
    return window_of(named[:before], columns)
