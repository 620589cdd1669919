"""Polars: how functions are bound, as expressions and lazy frames; only the user collects."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Any, Final, cast

import polars as pl

from reid_sql.engines.arrow import answer_columns, answer_rows, of_group
from reid_sql.engines.contract import Kind
from reid_sql.engines.polars.frames import TYPES, collected, framed, map_whole, schema
from reid_sql.engines.polars.groups import answer_by_group, check_groups, with_group_names
from reid_sql.engines.polars.records import drawn, score, scored_table, value
from reid_sql.engines.polars.tables import TABLE, refuse_unidentified_rows, warn_of_rows
from reid_sql.engines.polars.transfer import (
    answer_when_collected,
    column_names,
    find_lacked,
    finish_reading,
    read,
)
from reid_sql.function import Answer, Function
from reid_sql.reduction import (
    NULL_REPORT_COLUMNS,
    Reduction,
    group_names,
    implementation,
    refuse_groups_named_like_results,
)

__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "answer_when_collected",
    "collected",
    "column_names",
    "count",
    "counting",
    "drawn",
    "find_lacked",
    "finish_reading",
    "framed",
    "read",
    "score",
    "scored_table",
    "table",
    "value",
]

ENGINE: Final = "polars"
COLUMN: Final = Kind((pl.Expr,), "an expression", "write 'age' or pl.col('age')")


def counting(declared: Function) -> Signature:
    """Columns, and by name, or first, the column that identifies people; an expression has no table."""
    columns, option = Parameter("columns", Parameter.VAR_POSITIONAL), Parameter.KEYWORD_ONLY
    if len(declared.parameters) > 1:
        return Signature([Parameter("entity", Parameter.POSITIONAL_OR_KEYWORD), columns])
    return Signature([columns, Parameter("entity", option, default=None)])


def count(declared: Function, columns: Sequence[Any], entity: str | pl.Expr | None = None) -> pl.Expr:
    """Bind a function of a record among all records: an expression named after the function."""
    # A COUNT has a reduction.
    counted: pl.Expr = implementation(declared.reduction, ENGINE)(columns, entity)  # type: ignore[arg-type]
    return counted.alias(declared.name)


# Functions of a table


def table(declared: Function, arguments: Mapping[str, Any]) -> pl.LazyFrame:
    """Bind a function of the class-size histogram, of the classes or of parameters alone: a lazy frame."""
    answer = refuse_unidentified_rows(_answer_table(declared, arguments), declared, arguments)
    return warn_of_rows(answer, declared, arguments)


def _answer_table(declared: Function, arguments: Mapping[str, Any]) -> pl.LazyFrame:
    own = {parameter.name: arguments[parameter.name] for parameter in declared.own_parameters}
    if declared.reduction is None:
        return pl.LazyFrame(answer_rows(declared, {}, own), schema=schema(declared.columns), orient="row")
    counted = {a.name: arguments[a.name] for a in declared.reduction.arguments if a.name in arguments}
    tbl = counted.pop("tbl").lazy()
    by = arguments["by"] if declared.grouped else None
    if by is not None:
        by = check_groups(tbl, by, arguments["nulls"])
        refuse_groups_named_like_results(by, declared.answer_columns)
    reduced: pl.LazyFrame = implementation(declared.reduction, ENGINE)(tbl, **counted)
    if declared.answer is Answer.REDUCTION:
        counts = pl.exclude(group_names(by or ()))
        return reduced.select(*with_group_names(by), counts) if by is not None else reduced
    types = schema({**declared.columns, **NULL_REPORT_COLUMNS})
    answer = _answer_of(declared, own, answer_rows if by is None else of_group)
    if by is not None:
        groups_types = reduced.select(with_group_names(by)).collect_schema()
        types = {**groups_types, **types}
        by_group = partial(answer_by_group, reduction=declared.reduction, by=by, types=types, answer=answer)
        return map_whole(reduced, by_group, types)
    return map_whole(reduced, answer, types)


def _answer_of(
    declared: Function, options: dict[str, Any], rows: Callable[..., list[dict[str, Any]]]
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Call the body with the reduction's arrays, and add the treatment of NULLs to its answer."""
    reduction = cast("Reduction", declared.reduction)

    def answer(frame: pl.DataFrame) -> pl.DataFrame:
        arrays, types = _arrays(reduction, frame), schema(declared.columns)
        if declared.columnar:
            table = pl.DataFrame(answer_columns(declared, arrays, options), schema=types)
        else:
            table = pl.DataFrame(rows(declared, arrays, options), schema=types, orient="row")
        return table.with_columns(
            pl.lit(frame[name].max(), dtype=TYPES[kind]).alias(name)
            for name, kind in NULL_REPORT_COLUMNS.items()
        )

    return answer


def _arrays(reduction: Reduction, frame: pl.DataFrame) -> dict[str, Any]:
    """Columns of the reduction as the body takes them: numbers as an array, else a list."""
    series = {name: frame[name] for name in reduction.inputs}
    return {
        name: values.to_numpy() if values.dtype in {pl.Int64, pl.Float64} else values.to_list()
        for name, values in series.items()
    }
