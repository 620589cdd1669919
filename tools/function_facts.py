"""What the generators ask of a declared function: the one place that knows how a declaration says it."""

from collections.abc import Iterator
from typing import Final

from reid_sql.commands.functions import (
    calls,
    columns_beside,
    counts_in_a_window,
    default_words,
    details,
    field_words,
    named,
    result_columns,
)
from reid_sql.engines.spark import is_in_sql
from reid_sql.function import Answer, Function
from reid_sql.models.fitted_model import OPTIONAL_MODEL
from reid_sql.parameters.outputs import REQUIRED

__all__ = [
    "absence",
    "absences",
    "answers_a_table",
    "calls",
    "columns_beside",
    "counts_in_a_window",
    "default_words",
    "details",
    "engines",
    "field_words",
    "follows_a_model",
    "is_in_polars",
    "is_on",
    "named",
    "needed",
    "result_columns",
    "takes_a_record",
    "takes_models_by_name_alone",
]
ENGINES: Final = ("polars", "spark", "ibis")  # DuckDB has every function


def answers_a_table(function: Function) -> bool:
    """Whether the answer is a table, not a value for each record."""
    return not function.answer.of_rows


def follows_a_model(function: Function) -> bool:
    """Whether it is an expression over a record's values, after a fitted model."""
    return function.answer is Answer.MODEL_SCORE


def takes_a_record(function: Function) -> bool:
    """Whether it is an expression over a record's values, which come last."""
    return counts_in_a_window(function) or follows_a_model(function)


def takes_models_by_name_alone(function: Function) -> bool:
    """Whether a fitted model is named, never handed over as an object."""
    may = any(parameter.domain is OPTIONAL_MODEL for parameter in function.parameters)
    return function.answer.of_table and not may


def needed(function: Function) -> list[str]:
    """The parameters that must be given."""
    return [
        p.name for p in function.parameters if p.default is REQUIRED and p.name in named(function)
    ]


def engines(function: Function) -> str:
    """Where the function is to be had, briefly."""
    function = function.all_outputs[0]
    had = ["DuckDB (Python)" if function.needs_python else "DuckDB", "Polars"]
    if not function.absence("spark"):
        had.append("Spark (and SQL)" if is_in_sql(function) else "Spark")
    return ", ".join(had + ["Ibis"] * is_on(function, "ibis"))


def is_in_polars(function: Function) -> bool:
    """Whether Polars has the function, or most of it."""
    return not function.absence("polars")


def absence(function: Function) -> str | None:
    """Why Spark lacks the function; None where it has it."""
    return function.absence("spark")


def absences(function: Function) -> Iterator[str]:
    """What engines lack of the function, and what it lacks on all, in sentences."""
    first = function.all_outputs[0]
    for engine in ENGINES:
        if reason := first.absence(engine):
            yield f"Not on {engine.capitalize()}: {reason}."
        if how := function.fallback_note(engine):
            yield f"On {engine.capitalize()} {how}."
    for parameter, reason in function.lacked.items():
        yield f"Without `{parameter}`: {reason}."


def is_on(function: Function, engine: str) -> bool:
    """Whether the engine has the function, or most of it."""
    return not function.absence(engine)
