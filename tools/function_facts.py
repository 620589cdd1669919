"""What the generators ask of a declared function: the one place that knows how a declaration says it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from reid_sql.commands.functions import (
    calls,
    columns_beside,
    counts_in_a_window,
    default_words,
    details,
    field_words,
    meaning,
    named,
    result_columns,
)
from reid_sql.engines.spark import is_in_sql
from reid_sql.function import FALLBACK_NOTE, Answer, Function
from reid_sql.models.fitted_model import OPTIONAL_MODEL
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared

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
    "is_shared",
    "merge_rows",
    "named",
    "needed",
    "parameter_rows",
    "result_columns",
    "result_rows",
    "shared_parameters",
    "shared_results",
    "takes_a_record",
    "takes_models_by_name_alone",
]
ENGINES: Final = ("polars", "spark", "ibis")  # DuckDB has every function
MIN_SHARED: Final = 7  # functions with a parameter or column, for one page to describe it for all
INTERVAL_END: Final = re.compile(r"(?:lower|upper) end of the 95 % interval of `\w+`")
Row = tuple[str, ...]  # a name, and what is said of it


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
    """Where the function is to be had, briefly; last the engines whose records come to the client."""
    function = function.all_outputs[0]
    had = ["DuckDB (Python)" if function.needs_python else "DuckDB", "Polars"]
    if not function.absence("spark"):
        had.append("Spark (and SQL)" if is_in_sql(function) else "Spark")
    had += ["Ibis"] * is_on(function, "ibis")
    notes = {each: function.fallback_note(each) for each in ENGINES}
    at_client = [each for each in had if notes.get(each.lower()) == FALLBACK_NOTE]
    text = ", ".join(each for each in had if each not in at_client)
    return (
        f"{text}; [at the client](index.md#engines) {', '.join(at_client)}" if at_client else text
    )


def is_in_polars(function: Function) -> bool:
    """Whether Polars has the function, or most of it."""
    return not function.absence("polars")


def absence(function: Function) -> str | None:
    """Why Spark lacks the function; None where it has it."""
    return function.absence("spark")


def absences(function: Function) -> Iterator[str]:
    """What engines lack of the function, and what it lacks on all, in sentences."""
    first = function.all_outputs[0]
    absent = [(each.capitalize(), reason) for each in ENGINES if (reason := first.absence(each))]
    for names, reason in merge_rows(absent, " and "):
        yield f"Not on {names}: {reason}."
    fallbacks = [
        (each.capitalize(), how)
        for each in ENGINES
        if (how := function.fallback_note(each)) and how != FALLBACK_NOTE
    ]
    for names, how in merge_rows(fallbacks, " and "):
        yield f"On {names} {how}."
    lacked = [(f"`{name}`", reason) for name, reason in function.lacked.items()]
    for names, reason in merge_rows(lacked, " and "):
        yield f"Without {names}: {reason}."


def is_on(function: Function, engine: str) -> bool:
    """Whether the engine has the function, or most of it."""
    return not function.absence(engine)


def parameter_rows(function: Function) -> list[Row]:
    """Each named parameter with what it accepts."""
    return [(p.name, p.domain.label) for p in function.parameters if p.name in named(function)]


def result_rows(function: Function) -> list[Row]:
    """Each column of the answer with its type and its meaning."""
    return [(name, kind, meaning(function, name)) for name, kind in result_columns(function)]


@cache
def shared_parameters() -> tuple[Row, ...]:
    """The parameters that many functions have, as most of them have them."""
    return _shared(row for function in declared().values() for row in parameter_rows(function))


def is_shared(parameter: Row) -> bool:
    """Whether many functions have the parameter; tables are alike, whatever their name."""
    name, label = parameter
    return any(row in {(name, label), ("tbl", label)} for row in shared_parameters())


@cache
def shared_results() -> tuple[Row, ...]:
    """The columns that many answers have, as most of them have them."""
    outputs = (each for function in declared().values() for each in function.all_outputs)
    rows = (row for each in outputs if answers_a_table(each) for row in result_rows(each))
    return _shared(row for row in rows if not INTERVAL_END.fullmatch(row[-1]))


def _shared(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that many functions have, the most frequent first, and one for each name."""
    chosen: dict[str, Row] = {}
    for row, functions in Counter(rows).most_common():
        if functions >= MIN_SHARED:
            chosen.setdefault(row[0], row)
    return tuple(chosen.values())


def merge_rows(rows: Iterable[Row], separator: str = ", ") -> list[Row]:
    """Write rows that follow each other and differ by their names alone as one row.

    >>> merge_rows([("a", "text"), ("b", "text"), ("c", "number")])
    [('a, b', 'text'), ('c', 'number')]
    """
    merged: list[Row] = []
    for name, *rest in rows:
        if merged and list(merged[-1][1:]) == rest:
            merged[-1] = (merged[-1][0] + separator + name, *rest)
        else:
            merged.append((name, *rest))
    return merged
