"""What the generators ask of a declared function: the one place that knows how a declaration says it."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, Final, get_args, get_origin, get_type_hints

from reid_sql.columns import Groups
from reid_sql.domains import (
    MAX_COLUMNS,
    Choice,
    Column,
    Columns,
    Document,
    Domain,
    Key,
    Number,
    Numbers,
    OptionalTable,
    Table,
    Text,
    Texts,
)
from reid_sql.engines.duckdb import needs_python
from reid_sql.engines.spark.catalogue import in_sql
from reid_sql.fitted_model import OPTIONAL_MODEL
from reid_sql.function import REQUIRED, Answer, Entity, Function, Parameter, sql_literal
from reid_sql.reduction import HOW_NULLS

ENGINES: Final = ("polars", "spark", "ibis")  # DuckDB has every function
BY_KEY: Final = "BIGINT, or the type of `key`"
# What a parameter of each domain may be.
WORDS: Final[Mapping[type, Callable[[Any], str]]] = {
    Number: lambda domain: domain.rule,
    Numbers: lambda domain: f"a list, each of it {domain.each.rule}",
    Choice: lambda domain: "one of " + ", ".join(f"`{sql_literal(word)}`" for word in domain.words),
    Text: lambda domain: domain.rule,
    Texts: lambda domain: (
        "a list of texts, a value for each column" if domain.of_record else "a list of names, or NULL"
    ),
    Table: lambda _: "a table, view, CTE or file; in Polars and Spark a frame",
    OptionalTable: lambda _: "a table, view, CTE or file, or NULL",
    Columns: lambda _: f"a list of 1 to {MAX_COLUMNS} column names",
    Column: lambda _: "the name of a column",
    Key: lambda _: "the name of a column, or NULL",
    Groups: lambda _: f"a list of 1 to {MAX_COLUMNS} column names, or NULL",
    Entity: lambda _: "the column that tells people apart, of any type",
    Document: lambda domain: f"a {domain.kind}: the path of a file, its text, or a STRUCT",
}


def counts_in_a_window(function: Function) -> bool:
    """Whether it is an expression over all records, and takes columns alone."""
    return function.answer is Answer.COUNT


def follows_a_model(function: Function) -> bool:
    """Whether it is an expression over a record's values, after a fitted model."""
    return function.answer is Answer.SCORE


def takes_a_record(function: Function) -> bool:
    """Whether it is an expression over a record's values, which stand last."""
    return counts_in_a_window(function) or follows_a_model(function)


def named(function: Function) -> list[str]:
    """The parameters that have a name in SQL: all but the record's values."""
    return [p.name for p in function.parameters if not (counts_in_a_window(function) and p.name == "columns")]


def takes_models_by_name_alone(function: Function) -> bool:
    """Whether a fitted model is named, never handed over as an object."""
    may = any(parameter.domain is OPTIONAL_MODEL for parameter in function.parameters)
    return function.answer.of_table and not may


def answers_a_table(function: Function) -> bool:
    """Whether the answer is a table, not a value for each record."""
    return not function.answer.of_rows


def needed(function: Function) -> list[str]:
    """The parameters that must be given."""
    return [p.name for p in function.parameters if p.default is REQUIRED and p.name in named(function)]


def details(function: Function) -> str:
    """The docstring beyond its first sentence, as Markdown: without its example, `code` where it is SQL."""
    doc = inspect.getdoc(function.body) or ""
    return doc.partition(">>>")[0].partition("\n\n")[2].strip().removesuffix(":").strip()


def result_columns(function: Function) -> Iterator[tuple[str, str]]:
    """Name and SQL type of each column of the answer that has a fixed name."""
    if function.answer is Answer.RECORDS:
        yield "record", BY_KEY
    counted = function.reduction.columns if function.answer is Answer.REDUCTION and function.reduction else {}
    for name, kind in {**counted, **function.columns}.items():
        yield name, BY_KEY if name == "record" else kind
    if function.reduction and answers_a_table(function):
        yield from HOW_NULLS.items()


def field_words(function: Function) -> dict[str, str]:
    """What the fields of the answer's dataclass say at the end of their lines; shapes aside."""
    answer = get_type_hints(function.body)["return"]
    row = get_args(answer)[0] if get_origin(answer) is list else answer
    source = inspect.getsource(row) if is_dataclass(row) and isinstance(row, type) else ""
    return dict(re.findall(r"^    (\w+):[^#\n]*#\s*([^(\s].*)$", source, re.MULTILINE))


def columns_beside(function: Function) -> str:
    """Which columns stand before those of fixed names; nothing where there are none."""
    if function.answer is Answer.BESIDE:
        return "the table's own columns"
    if function.answer is Answer.DRAWN:
        return "the model's columns, as text"
    names = dict(result_columns(function))
    of_classes = function.answer is Answer.REDUCTION and "class_size" in names and "classes" not in names
    return "the quasi-identifiers" if of_classes else ""


def domain_words(domain: Domain) -> str:
    """What a parameter may be."""
    said = WORDS.get(type(domain))
    words = said(domain) if said else "a number or a value of any type, one column each"
    return words + (", or NULL" if getattr(domain, "optional", False) else "")


def default_words(parameter: Parameter) -> str:
    """What holds where the parameter is not given."""
    return "must be given" if parameter.default is REQUIRED else f"`{sql_literal(parameter.default)}`"


def engines(function: Function) -> str:
    """Where the function is to be had, briefly."""
    had = ["DuckDB (Python)" if needs_python(function) else "DuckDB", "Polars"]
    if not function.absence("spark"):
        had.append("Spark (and SQL)" if in_sql(function) else "Spark")
    return ", ".join(had + ["Ibis"] * is_on(function, "ibis"))


def is_in_polars(function: Function) -> bool:
    """Whether Polars has the function, or most of it."""
    return not function.absence("polars")


def absence(function: Function) -> str | None:
    """Why Spark lacks the function, or a part of it; None where it lacks nothing."""
    return function.absence("spark") or function.partly("spark")


def absences(function: Function) -> Iterator[str]:
    """What engines lack of the function, in sentences."""
    for engine in ENGINES:
        if reason := function.absence(engine):
            yield f"Not on {engine.capitalize()}: {reason}."
        if reason := function.partly(engine):
            yield f"On {engine.capitalize()} in part: {reason}."


def is_on(function: Function, engine: str) -> bool:
    """Whether the engine has the function, or most of it."""
    return not function.absence(engine)


def calls(text: str, name: str) -> bool:
    """Whether the SQL calls the function, comments aside."""
    said = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return re.search(rf"\b{name}\(", said) is not None
