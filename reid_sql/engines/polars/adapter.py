"""Polars: how functions are bound, as expressions and lazy frames, and what DuckDB reads of a frame.

Only the user collects.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, Final, cast

import polars as pl
import pyarrow as pa

from reid_sql.engines.arrow import answer_rows
from reid_sql.engines.contract import Kind
from reid_sql.engines.group_answers import answer_groups, answer_whole
from reid_sql.engines.polars.frames import (
    TYPES,
    check_groups,
    collected,
    exact_column,
    framed,
    map_whole,
    refuse_second_columns,
    schema,
    with_aliases,
    with_group_names,
)
from reid_sql.engines.polars.records import has_text, score, scored_table, text_of, value
from reid_sql.engines.polars.tables import TABLE, answer_with_warnings
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Function
from reid_sql.parameters import Arguments, ColumnNames
from reid_sql.reduction import (
    NULL_REPORT_COLUMNS,
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

Table = tuple[pl.LazyFrame | pl.DataFrame, Sequence[str]]  # with the columns that are needed of it
REFUSAL_OBJECT: Final = (
    "columns must be of types that Polars compares, got '{}' of type Object; turn it into text"
)
REFUSAL_TEXT: Final = (
    "columns of a copula must contain numbers, texts or other plain values in Polars, got '{}' of type {}; "
    "turn it into text"
)
# DuckDB has days and microseconds from about 290,000 BC to 290,000, and its last moments stand for infinity.
MAX_UNITS: Final = {"days": 10**8, "ms": 9 * 10**15, "us": 9 * 10**18, "ns": 9 * 10**18}
SAME_TEXT: Final = (pl.String, pl.Boolean, pl.Enum, pl.Categorical)  # in Polars as in DuckDB


def counting(declared: Function) -> Signature:
    """Columns, and by name, or first, the column that identifies people; an expression has no table."""
    columns, option = Parameter("columns", Parameter.VAR_POSITIONAL), Parameter.KEYWORD_ONLY
    if len(declared.parameters) > 1:
        return Signature([Parameter("entity", Parameter.POSITIONAL_OR_KEYWORD), columns])
    return Signature([columns, Parameter("entity", option, default=None)])


def count(
    declared: Function, columns: Sequence[Any], entity: str | pl.Expr | None = None
) -> pl.Expr:
    """Bind a function of a record among all records: an expression named after the function."""
    # A COUNT has a reduction.
    counted: pl.Expr = implementation(declared.reduction, ENGINE)(columns, entity)  # type: ignore[arg-type]
    return counted.alias(declared.name)


# Functions of a table


def table(declared: Function, arguments: Arguments) -> pl.LazyFrame:
    """Bind a function of the class-size histogram, of the classes or of parameters alone: a lazy frame."""
    answer = _answer_table(declared, arguments)
    return answer_with_warnings(answer, declared, arguments, refuses_nobody=True)


def _answer_table(declared: Function, arguments: Arguments) -> pl.LazyFrame:
    options = declared.body_arguments(arguments)
    if declared.reduction is None:
        return pl.LazyFrame(
            answer_rows(declared, {}, options), schema=schema(declared.columns), orient="row"
        )
    counted = {
        name: arguments[name]
        for name in declared.reduction.arguments_of(ENGINE)
        if name in arguments
    }
    tbl = counted.pop("tbl").lazy()
    by = arguments["by"] if declared.grouped else None
    if by is not None:
        by = check_groups(tbl, by, arguments["nulls"])
        refuse_groups_named_like_results(by, declared.answer_columns)
    reduced: pl.LazyFrame = implementation(declared.reduction, ENGINE)(tbl, **counted)
    divided_by = by or ()
    groups = with_group_names(divided_by)
    counts = pl.exclude(group_names(divided_by))
    if declared.answer is Answer.REDUCTION:
        return reduced.select(*groups, counts)
    types = {
        **reduced.select(groups).collect_schema(),
        **schema({**declared.columns, **NULL_REPORT_COLUMNS}),
    }

    def answer(frame: pl.DataFrame) -> pl.DataFrame:
        counted = frame.select(counts).to_arrow()
        if by is None:
            return framed(answer_whole(declared, counted, options)).collect()
        first_rows = pl.col("place").first().over(group_names(by))
        keys = frame.with_row_index("place").select(first_rows).to_series()
        answers, firsts = answer_groups(declared, counted, keys.to_list(), options)
        answered = framed(answers).collect()
        return pl.concat([frame[firsts].select(groups), answered], how="horizontal")

    return map_whole(reduced, answer, types)


def column_names(frame: pl.LazyFrame | pl.DataFrame) -> list[str]:
    """The names of the columns."""
    return frame.lazy().collect_schema().names()


def find_lacked(frame: pl.LazyFrame | pl.DataFrame, columns: ColumnNames) -> list[str]:
    """The names among these that are no columns of the frame; refuses columns that cannot be compared."""
    types = frame.lazy().collect_schema()
    refuse_second_columns(columns, types)
    for name in columns:
        if types.get(name) == pl.Object:
            raise OutOfDomainError(REFUSAL_OBJECT.format(name))
    return [name for name in columns if name not in types]


def read(frame: pl.DataFrame, columns: ColumnNames) -> pa.Table:
    """The rows of the columns as q1, q2, …; what DuckDB would change as the number that it is stored as."""
    rows = with_aliases(frame.lazy(), columns).collect()
    return rows.select(map(_for_duckdb, rows)).to_arrow(compat_level=pl.CompatLevel.newest())


def finish_reading() -> None:
    """Nothing is left open."""


def _for_duckdb(values: pl.Series) -> pl.Series:
    kind = values.dtype
    if isinstance(kind, pl.Int128 | pl.UInt128):
        return values.cast(pl.String)
    if kind.is_nested():
        return values.to_physical() if _has_moments(kind) else values
    if isinstance(kind, pl.Duration | pl.Time):
        return values.to_physical()
    if not isinstance(kind, pl.Date | pl.Datetime):
        return values
    most = MAX_UNITS["days" if isinstance(kind, pl.Date) else kind.time_unit]
    return values if values.to_physical().is_between(-most, most).all() else values.to_physical()


def _has_moments(kind: pl.DataType) -> bool:
    """Whether a nested type has dates, times or durations at any depth."""
    if isinstance(kind, pl.Struct):
        return any(_has_moments(cast("pl.DataType", field.dtype)) for field in kind.fields)
    if isinstance(kind, pl.List | pl.Array):
        return _has_moments(cast("pl.DataType", kind.inner))
    return kind.is_temporal()


def answer_when_collected(
    declared: Function,
    arguments: Arguments,
    tables: Sequence[Table],
    answer: Callable[[Sequence[pl.DataFrame]], pa.Table],
) -> pl.LazyFrame:
    """Answer from the needed columns of the tables, in their order, when the frame is collected."""
    frames = [_select(frame.lazy(), columns, declared, arguments) for frame, columns in tables]
    types = _answer_types(declared, arguments, tables)

    def answer_of(rows: Sequence[pl.DataFrame]) -> pl.DataFrame:
        frame = pl.DataFrame(pl.from_arrow(answer(rows)))
        return frame.select(pl.col(list(types))).cast(types)  # type: ignore[arg-type] # names with types

    return answer_with_warnings(_map_together(frames, answer_of, types), declared, arguments)


def _select(
    frame: pl.LazyFrame, columns: ColumnNames, declared: Function, arguments: Arguments
) -> pl.LazyFrame:
    """Select the columns; for a model that is fitted or known, values as the texts that it is asked by."""
    is_for_model = declared.models and arguments.get("model", "fitted") is not None
    described = arguments.get("qi") or columns
    types = frame.collect_schema()
    selected = []
    for name in columns:
        column, kind = exact_column(name), types[name]
        if is_for_model and name in described:
            if not has_text(kind):
                raise OutOfDomainError(REFUSAL_TEXT.format(name, kind))
            if not (isinstance(kind, SAME_TEXT) or kind.is_integer()):
                column = text_of(column).alias(name)
        selected.append(column)
    return frame.select(selected)


def _map_together(
    frames: Sequence[pl.LazyFrame],
    function: Callable[[Sequence[pl.DataFrame]], pl.DataFrame],
    types: Mapping[str, pl.DataType],
) -> pl.LazyFrame:
    """Pass the frames whole to the function: in one query, as a query within another may wait for itself."""
    if len(frames) == 1:
        return map_whole(frames[0], lambda rows: function([rows]), types)
    names = [frame.collect_schema().names() for frame in frames]
    packed = [
        frame.select(exact_column(name).implode().alias(f"{place} {name}") for name in columns)
        for place, (frame, columns) in enumerate(zip(frames, names, strict=True))
    ]

    def unpacked(lists: pl.DataFrame) -> pl.DataFrame:
        return function(
            [
                pl.DataFrame([lists[f"{place} {name}"][0].alias(name) for name in columns])
                for place, columns in enumerate(names)
            ]
        )

    return map_whole(pl.concat(packed, how="horizontal"), unpacked, types)


def _answer_types(
    declared: Function, arguments: Arguments, tables: Sequence[Table]
) -> dict[str, pl.DataType]:
    """The types of the answer: columns that it repeats have those of the table, others the declared."""
    table_types = tables[0][0].lazy().collect_schema()
    types = {name: TYPES[kind] for name, kind in declared.answer_columns.items()}
    identifier = arguments.get("key") or arguments.get("entity")
    if "record" in types and isinstance(identifier, str):
        types["record"] = table_types[identifier]
    reduction = declared.reduction
    # a row for each combination of the columns' values
    lists_columns = (
        declared.answer is Answer.REDUCTION and reduction is not None and not reduction.arrays
    )
    roles = {"groups", "counted"} if lists_columns else {"groups"}
    repeated = [
        name
        for parameter in declared.parameters
        if parameter.domain.role in roles
        for name in arguments[parameter.name] or []
    ]
    return {name: table_types[name] for name in repeated} | types
