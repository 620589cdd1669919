"""What the generators ask of a declared function: the one place that knows how a declaration says it."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Final

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
from reid_sql.engines.spark_catalogue import IN_PART, in_sql, why_not
from reid_sql.function import REQUIRED, Function, Parameter, sql_literal
from reid_sql.reductions import HOW_NULLS

PLAIN: Final[Mapping[type, str]] = {
    Table: "a table, view, CTE or file; in Polars and Spark a frame",
    OptionalTable: "a table, view, CTE or file, or NULL",
    Column: "the name of a column",
    Key: "the name of a column, or NULL",
    Texts: "a list of column names, or NULL",
}


def counts_in_a_window(function: Function) -> bool:
    """Whether it is an expression over all records, and takes columns alone."""
    return function.kind == "window"


def follows_a_model(function: Function) -> bool:
    """Whether it is an expression over a record's values, after a fitted model."""
    return function.kind == "model"


def takes_models_by_name_alone(function: Function) -> bool:
    """Whether a fitted model is named, never handed over as an object."""
    return function.kind == "table"


def answers_a_table(function: Function) -> bool:
    """Whether the answer is a table, not a value for each record."""
    return function.kind in {"table", "scored", "drawn"}


def needed(function: Function) -> list[str]:
    """The parameters that must be given."""
    return [parameter.name for parameter in function.parameters if parameter.default is REQUIRED]


def details(function: Function) -> str:
    """The docstring beyond its first sentence, as Markdown: without its example, `code` where it is SQL."""
    doc = inspect.getdoc(function.body) or ""
    return doc.partition(">>>")[0].partition("\n\n")[2].strip().removesuffix(":").strip()


def result_columns(function: Function) -> Iterator[tuple[str, str]]:
    """Name and SQL type of each column of the answer that has a fixed name."""
    if "key" in {parameter.name for parameter in function.parameters} and "record" not in function.columns:
        yield "record", "BIGINT, or the type of `key`"
    counted = function.reduction.columns if function.reduction and not function.columns else {}
    for name, kind in (counted | dict(function.columns)).items():
        yield name, "BIGINT, or the type of `key`" if name == "record" else kind
    if function.reduction and not counts_in_a_window(function):
        yield from HOW_NULLS.items()


def columns_beside(function: Function) -> str:
    """Which columns stand before those of fixed names; nothing where there are none."""
    taken = {type(parameter.domain) for parameter in function.parameters}
    if function.kind == "scored":
        return "the table's own columns"
    if function.kind == "drawn":
        return "the model's columns, as text"
    listed = function.relays and Columns in taken and "class_size" in (function.reduction or function).columns
    return "the quasi-identifiers" if listed and "classes" not in dict(result_columns(function)) else ""


def domain_words(domain: Domain) -> str:
    """What a parameter may be."""
    if isinstance(domain, Number):
        return domain.rule
    if isinstance(domain, Numbers):
        return f"a list, each of it {domain.each.rule}" + (", or NULL" if domain.optional else "")
    if isinstance(domain, Choice):
        return "one of " + ", ".join(f"`{sql_literal(word)}`" for word in domain.words)
    if isinstance(domain, Text):
        return domain.rule + (", or NULL" if domain.optional else "")
    if isinstance(domain, Columns):
        return f"a list of 1 to {MAX_COLUMNS} column names"
    if isinstance(domain, Document):
        return f"a {domain.kind}: the path of a file, its text, or a STRUCT"
    return PLAIN.get(type(domain), "a number or a value of any type, one column each")


def default_words(parameter: Parameter) -> str:
    """What holds where the parameter is not given."""
    return "must be given" if parameter.default is REQUIRED else f"`{sql_literal(parameter.default)}`"


def engines(function: Function) -> str:
    """Where the function is to be had, briefly."""
    first = "DuckDB (Python), Polars" if needs_python(function) else "DuckDB, Polars"
    if why_not(function):
        return first
    return f"{first}, Spark (and SQL)" if in_sql(function) else f"{first}, Spark"


def absence(function: Function) -> str | None:
    """Why Spark lacks the function, or a part of it; None where it lacks nothing."""
    return why_not(function) or IN_PART.get(function.name)


def is_on_spark(function: Function) -> bool:
    """Whether Spark has the function, or most of it."""
    return not why_not(function)


def calls(text: str, name: str) -> bool:
    """Whether the SQL calls the function, comments aside."""
    said = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return re.search(rf"\b{name}\(", said) is not None
