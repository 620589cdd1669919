"""DuckDB: the reductions as planned SQL, the functions as macros and vectorised Arrow functions."""

import hashlib
import re
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from reid_sql import registry
from reid_sql.domains import (
    MAX_COLUMNS,
    MODEL,
    Checked,
    Column,
    Columns,
    Document,
    Domain,
    Key,
    Number,
    Numbers,
    Texts,
)
from reid_sql.engines.arrow import drawn_kernel, kernel, model_kernel, table_kernel
from reid_sql.errors import ReidError
from reid_sql.function import REQUIRED, Answer, Function, Parameter, sql_literal
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.reduction import HOW_NULLS, Argument, Reduction
from reid_sql.reduction import reductions as all_reductions

AS_THEY_ARE: Final = 4  # columns compared as they are; planner.sql's reid_key draws the same line
DATABASE: Final = "reid_sql_functions"
WILDCARD: Final = "reid_wildcard_class_sizes"
OWN_MODELS: Final = "reid_database"  # a text by which this database is known, for models are fitted in one
MODEL_COLUMNS: Final = "reid_model_columns"
HERE: Final = """SELECT coalesce(nullif(current_setting('search_path'), ''),
    '"' || replace(current_database(), '"', '""') || '"."' || replace(current_schema(), '"', '""') || '"')"""
LOCK: Final = threading.Lock()

# DuckDB does not keep a registered Python function alive: it must live as long as the process.
CALLABLES: Final[dict[str, Callable[..., Any]]] = {}


def register(con: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> None:
    """Put the functions into this connection; twice is harmless, and an open transaction stays as it is.

    Macros are temporary, so they leave no trace in a database file. Inside a transaction, whose rollback
    would take temporary macros along, they go to a database in memory that the connection's search path then
    ends with.
    """
    definitions = macros(functions, python=True)
    version = hashlib.sha256(repr(definitions).encode()).hexdigest()[:16]
    with LOCK:
        _register_python(
            con, functions
        )  # first: a transaction sees no function made after its first call of any
        done = con.execute("SELECT getvariable('reid_sql_registered') = $1", [version]).fetchall()[0][0]
        if done:
            return
        if _in_transaction(con):
            _register_searched(con, definitions, f"{DATABASE}_{version}")
        else:
            con.execute(_script(definitions, "CREATE OR REPLACE TEMP MACRO"))
            con.execute(f"SET VARIABLE reid_sql_registered = '{version}'")


def script(functions: Mapping[str, Function], *, permanent: bool = False) -> str:
    """Write the functions that need no Python as SQL that any DuckDB client can load."""
    return _script(macros(functions, python=False), f"CREATE OR REPLACE {'' if permanent else 'TEMP '}MACRO")


def needs_python(declared: Function) -> bool:
    """Whether DuckDB can bind the function only to its Python body."""
    return (
        declared.answer is not Answer.COUNT
        and declared.duckdb is None
        and declared.answer is not Answer.REDUCTION
    )


def macros(functions: Mapping[str, Function], *, python: bool) -> dict[str, str]:
    """Definition of every macro by name, helpers first; those over Python functions only where there is Python."""
    found = dict(_planner())
    if not python:
        refusal = "nulls := 'wildcard' needs the Python package reid-sql, got a connection without it; register it there"
        found[WILDCARD] = f"(codes, other_codes, other_counts) AS error({sql_literal(refusal)})::BIGINT[]"
        found = {name: definition for name, definition in found.items() if MODEL_COLUMNS not in definition}
    reductions = [
        each
        for each in all_reductions().values()
        if each.arguments and (python or not _of_python(each.arguments))
    ]
    found |= {f"reid_reduce_{reduction.name}": _reduction(reduction) for reduction in reductions}
    for name, declared in functions.items():
        if python or not needs_python(declared):
            found |= _macro(name, declared)
    return found


def _script(definitions: Mapping[str, str], create: str) -> str:
    return "\n\n".join(f"{create} {name}{definition};" for name, definition in definitions.items()) + "\n"


@cache
def _planner() -> dict[str, str]:
    """Helpers of the planner's files: name and definition, comments taken out."""
    folder = resources.files("reid_sql.engines")
    text = "\n".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("planner.sql", "disclosure.sql")
    )
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    statements = [statement.strip() for statement in re.split(r";\n(?:\n|$)", bare) if statement.strip()]
    parts = [statement.removeprefix("MACRO ").partition("(") for statement in statements]
    return {name: f"({rest}" for name, _, rest in parts}


def _documents(given: Iterable[Argument | Parameter]) -> list[Document]:
    """Documents among the parameters: only Python reads them."""
    return [each.domain for each in given if isinstance(each.domain, Document)]


def _of_python(given: Iterable[Argument]) -> bool:
    """Whether a reduction reads a document or scores by a model."""
    return any(isinstance(each.domain, Document) or each.domain is MODEL for each in given)


def _reduction(reduction: Reduction) -> str:
    """Write the table macro that checks the arguments and runs the plan."""
    names = ", ".join(argument.name for argument in reduction.arguments)
    checked = ", ".join(
        _checked(Parameter(argument.name, argument.domain)) for argument in reduction.arguments
    )
    return f"({names}) AS TABLE FROM query(reid_plan_{reduction.name}({checked}))"


def _checked(parameter: Parameter) -> str:
    """Spell the parameter as an SQL expression that is the value, or the refusal."""
    domain = parameter.domain
    if isinstance(domain, Columns):
        return f"reid_listed({sql_literal(domain.words)}, {parameter.name})"
    if isinstance(domain, Column | Key):
        return f"{parameter.name}::VARCHAR"
    return domain.sql(parameter.name) if isinstance(domain, Checked | Document) else parameter.name


def _macro(name: str, declared: Function) -> dict[str, str]:
    """Define the macros of one function, helpers included."""
    if declared.answer is Answer.COUNT:
        return {name: ", ".join(_window(count) for count in range(1, MAX_COLUMNS + 1))}
    if declared.answer is Answer.VALUE:
        return _row(name, declared)
    if declared.answer is Answer.SCORE:
        return {name: ", ".join(_of_model(declared, count) for count in range(1, MAX_COLUMNS + 1))}
    if declared.answer is Answer.BESIDE:
        return {f"reid_answered_{name}": _answered_scores(declared), name: _scores(declared)}
    if declared.answer is Answer.DRAWN:
        return {name: _drawn(declared)}
    return {name: f"({_parameters(declared)}) AS TABLE {_select(declared)}"}


def _window(count: int) -> str:
    columns = [f"c{place}" for place in range(1, count + 1)]
    listed = ", ".join(columns)
    if count > AS_THEY_ARE:
        key = f"hash({listed}), hash({', '.join(f'reid_column_hash({column})' for column in reversed(columns))})"
    else:
        key = listed
    return f"({listed}) AS count(*) OVER (PARTITION BY {key})"


def _of_model(declared: Function, count: int) -> str:
    """Define the function of a record with this many columns."""
    columns = [f"c{place}" for place in range(1, count + 1)]
    own = [parameter for parameter in declared.parameters if parameter.name != "model"]
    names = ", ".join(["model", *(parameter.name for parameter in own), *columns])
    values = f"[{', '.join(f'{column}::VARCHAR' for column in columns)}]"
    checked = ", ".join(
        [values, f"{OWN_MODELS}()", "model", *(_checked_cell(parameter) for parameter in own)]
    )
    return f"({names}) AS {_answer(f'reid_body_{declared.name}({checked})')}"


def _answer(call: str) -> str:
    """Give the answer, or the refusal in its own words."""
    return f"""list_extract(list_transform([{call}], lambda reid_answered:
        CASE WHEN reid_answered.refusal IS NULL THEN reid_answered.answer ELSE error(reid_answered.refusal) END), 1)"""


def _answered_scores(declared: Function) -> str:
    names = ", ".join(
        ["reid_values", "reid_class_size", "reid_model", *(p.name for p in declared.own_parameters)]
    )
    own = "".join(f", {parameter.name}" for parameter in declared.own_parameters)
    return f"({names}) AS {_answer(f'reid_body_{declared.name}(reid_values, reid_class_size, {OWN_MODELS}(), reid_model{own})')}"


def _scores(declared: Function) -> str:
    """Write the table macro that scores distinct records and joins the scores back."""
    own = "".join(f" || ', ' || reid_text(({_checked(p)})::VARCHAR)" for p in declared.own_parameters)
    found = f"{MODEL_COLUMNS}({OWN_MODELS}(), {_checked(declared.parameters[1])})"
    plan = (
        f"reid_plan_scored(tbl, {found}, 'reid_answered_{declared.name}', reid_text(model){own} || ')', true)"
    )
    return f"({_parameters(declared)}) AS TABLE FROM query({plan})"


def _drawn(declared: Function) -> str:
    """Write the table macro that draws a record for each place of a range."""
    model, n, *own = declared.parameters
    found = f"{MODEL_COLUMNS}({OWN_MODELS}(), {_checked(model)})"
    given = "".join(f" || ', ' || reid_text(({_checked(p)})::VARCHAR)" for p in own)
    plan = f"reid_plan_drawn({found}, 'reid_body_{declared.name}', {_checked(n)}, reid_text(model){given})"
    return f"({_parameters(declared)}) AS TABLE FROM query({plan})"


def _row(name: str, declared: Function) -> dict[str, str]:
    """Check the arguments, then answer by the spelling over the checked doubles, or else by the Python body."""
    names = ", ".join(parameter.name for parameter in declared.parameters)
    checked = ", ".join(_checked_cell(parameter) for parameter in declared.parameters)
    call = {name: f"({names}) AS reid_body_{name}({checked})"}
    if declared.duckdb is None:
        return call
    missing = " OR ".join(
        f"{parameter.name} IS NULL" for parameter in declared.parameters
    )  # least() would pass over a NULL
    body = f"({names}) AS CASE WHEN {missing} THEN NULL ELSE {declared.duckdb} END"
    return {f"reid_body_{name}": body} | call


def _checked_cell(parameter: Parameter) -> str:
    domain = parameter.domain
    return domain.sql(parameter.name, null=True) if isinstance(domain, Number) else parameter.name


def _parameters(declared: Function) -> str:
    shown = [
        p.name if p.default is REQUIRED else f"{p.name} := {sql_literal(p.default)}"
        for p in declared.parameters
    ]
    return ", ".join(shown)


def _select(declared: Function) -> str:
    """Select the answer over the reduction, with how NULLs were treated."""
    values = {p.name: _checked(p) for p in declared.own_parameters}
    reduction = declared.reduction
    if reduction is None:
        return f"SELECT unnest(answer) FROM (SELECT unnest({_answers(declared, list(values.values()))}) AS answer)"
    given = {parameter.name for parameter in declared.parameters}
    arguments = [argument.name if argument.name in given else "NULL" for argument in reduction.arguments]
    source = f"reid_reduce_{reduction.name}({', '.join(arguments)})"
    if declared.answer is Answer.REDUCTION:
        return f"FROM {source}"
    aggregate = ", ".join(f"max({column}) AS {column}" for column in HOW_NULLS)
    treated = ", ".join(f"{column} AS {column}" for column in HOW_NULLS)
    if declared.duckdb is not None:
        answer = Template(declared.duckdb).substitute(values)
        return f"SELECT {answer}, {treated if reduction.rowwise else aggregate} FROM {source}"
    first = next(iter(reduction.columns))
    arrays = (
        list(reduction.inputs)
        if reduction.whole
        else [f"list({column} ORDER BY {first})" for column in reduction.inputs]
    )
    answers = _answers(declared, [*arrays, *values.values()])
    if declared.answer is Answer.RECORDS:
        members = f"list(members ORDER BY {first}) AS reid_members"
        called = f"SELECT {answers} AS answers, {members}, {aggregate} FROM {source}"
        each = f"SELECT unnest(reid_members) AS members, unnest(answers) AS answer, {treated} FROM ({called})"
        return f"SELECT unnest(members) AS record, unnest(answer), {treated} FROM ({each}) ORDER BY record"
    said = treated if reduction.whole else aggregate
    if reduction.keyed:
        called = f"SELECT {answers} AS answers, {said}, keys AS reid_keys FROM {source}"
        each = f"SELECT unnest(answers) AS answer, {treated}, reid_keys FROM ({called})"
        named = f"SELECT unnest(answer), {treated}, reid_keys FROM ({each})"
        return f"SELECT * EXCLUDE (reid_keys) REPLACE (reid_keys[record + 1] AS record) FROM ({named})"
    called = f"SELECT {answers} AS answers, {said} FROM {source}"
    return f"SELECT unnest(answer), {treated} FROM (SELECT unnest(answers) AS answer, * EXCLUDE (answers) FROM ({called}))"


def _answers(declared: Function, arguments: list[str]) -> str:
    """Spell the call of the Python body: its rows, or its refusal in its own words."""
    given = [f"{OWN_MODELS}()"] * declared.models + arguments
    return f"""list_extract(list_transform([reid_body_{declared.name}({", ".join(given)})], lambda reid_answered:
        CASE WHEN reid_answered.refusal IS NULL THEN reid_answered.answers
        ELSE error(reid_answered.refusal) END), 1)"""


def _register_python(con: duckdb.DuckDBPyConnection, functions: Mapping[str, Function]) -> None:
    """Register what needs Python in the database instance, where every connection and cursor sees it."""
    how: dict[str, Any] = {"type": PythonUDFType.ARROW, "null_handling": FunctionNullHandling.SPECIAL}
    cursor = con.cursor()
    for name, (body, types, answer) in _python_functions(functions.values()).items():
        try:
            cursor.execute(f"DESCRIBE SELECT {name}({', '.join(['NULL'] * len(types))})").fetchall()
        except duckdb.CatalogException:
            CALLABLES.setdefault(name, body)
            cursor.create_function(name, CALLABLES[name], types, answer, **how)
    try:
        cursor.execute(f"DESCRIBE SELECT {OWN_MODELS}()").fetchall()
    except duckdb.CatalogException:
        database = uuid.uuid4().hex
        CALLABLES[database] = lambda: database
        cursor.create_function(OWN_MODELS, CALLABLES[database], [], "VARCHAR")


def _python_functions(functions: Iterable[Function]) -> dict[str, tuple[Callable[..., Any], list[Any], str]]:
    """Callable, argument types and answer type of everything that is Python, by its name in DuckDB."""
    found: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
        WILDCARD: (_wildcard_class_sizes, ["BIGINT[][]", "BIGINT[][]", "BIGINT[]"], "BIGINT[]"),
        MODEL_COLUMNS: (
            _model_columns,
            ["VARCHAR", "VARCHAR"],
            "STRUCT(refusal VARCHAR, columns VARCHAR[], places BIGINT[])",
        ),
    }
    for declared in functions:
        for document in _documents(declared.parameters):
            found[f"reid_read_{document.kind}"] = (
                _reader(document),
                ["VARCHAR"],
                "STRUCT(refusal VARCHAR, text VARCHAR)",
            )
        if needs_python(declared) and declared.answer is Answer.VALUE:
            found[f"reid_body_{declared.name}"] = (
                kernel(declared),
                ["DOUBLE"] * len(declared.parameters),
                "DOUBLE",
            )
        elif declared.answer is Answer.DRAWN:
            types = [
                "VARCHAR",
                "VARCHAR",
                *(_sql_type(parameter.domain) for parameter in declared.own_parameters),
                "BIGINT",
            ]
            found[f"reid_body_{declared.name}"] = drawn_kernel(declared), types, "VARCHAR[]"
        elif declared.answer in {Answer.SCORE, Answer.BESIDE}:
            scored = declared.answer is Answer.BESIDE
            types = ["VARCHAR[]", *(["BIGINT"] if scored else []), "VARCHAR", "VARCHAR"]
            fields = ", ".join(f"{column} {kind}" for column, kind in declared.columns.items())
            answer = f"STRUCT({fields})" if scored else "DOUBLE"
            types += [_sql_type(parameter.domain) for parameter in declared.own_parameters]
            found[f"reid_body_{declared.name}"] = (
                model_kernel(declared),
                types,
                f"STRUCT(refusal VARCHAR, answer {answer})",
            )
        elif needs_python(declared):
            listed = "" if declared.reduction and declared.reduction.whole else "[]"
            types = (
                [f"{kind}{listed}" for kind in declared.reduction.inputs.values()]
                if declared.reduction
                else []
            )
            types = ["VARCHAR"] * declared.models + types
            types += [_sql_type(parameter.domain) for parameter in declared.own_parameters]
            fields = ", ".join(f"{column} {kind}" for column, kind in declared.columns.items())
            found[f"reid_body_{declared.name}"] = (
                table_kernel(declared),
                types,
                f"STRUCT(refusal VARCHAR, answers STRUCT({fields})[])",
            )
    return found


def _sql_type(domain: Domain) -> str:
    if isinstance(domain, Numbers):
        return "DOUBLE[]"
    if isinstance(domain, Texts):
        return "VARCHAR[]"
    if isinstance(domain, Number):
        return "BIGINT" if domain.whole else "DOUBLE"
    return "VARCHAR"


def _model_columns(databases: pa.Array, models: pa.Array) -> pa.Array:
    """Columns of a model by name, and their numbers in the order of its integration; or the refusal."""
    found: list[dict[str, Any]] = []
    for database, name in zip(databases.to_pylist(), models.to_pylist(), strict=True):
        try:
            with registry.within(database):
                model = registry.known(name)
            found.append({"columns": model.columns, "places": [place + 1 for place in model.order]})
        except ReidError as error:  # the engine would wrap the sentence in its own
            found.append({"refusal": str(error)})
    kind = [("refusal", pa.string()), ("columns", pa.list_(pa.string())), ("places", pa.list_(pa.int64()))]
    return pa.array(found, type=pa.struct(kind))


def _reader(document: Document) -> Callable[..., pa.Array]:
    """Read documents, one a row: the text, or the refusal in its own words."""

    def read(sources: pa.Array) -> pa.Array:
        return pa.array([_text(document, source) for source in sources.to_pylist()])

    return read


def _text(document: Document, source: str | None) -> dict[str, str | None]:
    try:
        return {"refusal": None, "text": document.read(source)}
    except ReidError as error:  # the engine would wrap the sentence in its own
        return {"refusal": str(error), "text": None}


def _wildcard_class_sizes(codes: pa.Array, other_codes: pa.Array, other_counts: pa.Array) -> pa.Array:
    """Count matches of records as lists of codes, one list of records a row."""
    answers = [
        wildcard_class_sizes(
            _matrix(mine.values), _matrix(others.values), others_counts.values.to_numpy(zero_copy_only=False)
        ).tolist()
        if mine.is_valid and others.is_valid
        else [0] * (len(mine.values) if mine.is_valid else 0)
        for mine, others, others_counts in zip(codes, other_codes, other_counts, strict=True)
    ]
    return pa.array(answers, type=pa.list_(pa.int64()))


def _matrix(records: pa.ListArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    flat: np.ndarray[Any, np.dtype[np.int64]] = records.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(records), -1)


def _in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether a transaction is open: outside one, every statement has an identity of its own."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)


def _register_searched(con: duckdb.DuckDBPyConnection, definitions: Mapping[str, str], database: str) -> None:
    path = con.execute(HERE).fetchall()[0][0]
    if f"{database}.main" in path.split(","):
        return
    cursor = con.cursor()
    cursor.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {database} (READ_WRITE)")
    cursor.execute(f"USE {database}")
    cursor.execute(_script(definitions, "CREATE OR REPLACE MACRO"))
    con.execute(f"SET search_path = {sql_literal(f'{path},{database}.main')}")
