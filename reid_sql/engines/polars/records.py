"""Polars: functions of single records: closed forms as expressions, and fitted models."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl
import pyarrow as pa

from reid_sql.engines.arrow import kernel, model_answer, record_codes
from reid_sql.engines.polars.frames import (
    TYPES,
    aliases,
    check_columns,
    check_length,
    count_distinct,
    exact_column,
    join_null_safe,
    map_whole,
    schema,
    with_aliases,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import Columns
from reid_sql.parameters.outputs import Parameter


def value(declared: Function, arguments: Sequence[Any]) -> pl.Expr:
    """Bind a row function to expressions, column names or numbers: an expression named after the function."""
    call = kernel(declared)
    parameters = declared.parameters
    inputs = [
        number_expression(parameter, place, argument).alias(parameter.name)
        for place, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True), 1)
    ]

    def of_struct(struct: pl.Series) -> pl.Series:
        columns = [
            doubles_of(parameter, struct.struct.field(parameter.name)) for parameter in parameters
        ]
        return pl.Series(declared.name, call(*columns), dtype=pl.Float64)

    struct = pl.struct(inputs)
    return struct.map_batches(of_struct, return_dtype=pl.Float64, is_elementwise=True).alias(
        declared.name
    )


def number_expression(parameter: Parameter, place: int, argument: Any) -> pl.Expr:  # noqa: ANN401 - see expression
    """The same of numbers: one for all records, such as pl.len(), is a number too."""
    if isinstance(argument, int | float):
        parameter.domain.check_numbers(parameter.name, argument, of_column=False)
    return check_length(parameter.name, place, expression(argument), may_be_scalar=True)


def doubles_of(parameter: Parameter, numbers: pl.Series) -> pa.Array:
    """Return a column's numbers as doubles; refuses what is no number, without repeating it."""
    nested = numbers.dtype.is_nested()
    doubles = numbers if nested else numbers.cast(pl.Float64, strict=False)
    if nested or doubles.null_count() > numbers.null_count():
        raise OutOfDomainError(parameter.domain.refusal_of_cells(parameter.name))
    return doubles.to_arrow()


def expression(argument: Any) -> pl.Expr:  # noqa: ANN401 - a name, an expression or a number
    """Return the expression of a name, an expression or a number."""
    if isinstance(argument, pl.Expr):
        return argument
    return (
        exact_column(argument) if isinstance(argument, str) else pl.lit(argument, dtype=pl.Float64)
    )


def cell_expression(place: int, argument: Any) -> pl.Expr:  # noqa: ANN401 - see expression
    """The same of a record's values, of which a constant is a value that all share, and an aggregate none."""
    converted = expression(argument)
    is_constant = converted.meta.is_literal()
    return converted if is_constant else check_length("columns of the model", place, converted)


# Fitted models


def score(
    declared: Function, model: FittedModel, arguments: Sequence[Any], columns: Sequence[Any]
) -> pl.Expr:
    """Bind a function of records under a model: an expression named after the function."""
    parameters = declared.own_parameters
    numbers = [
        number_expression(parameter, place, each).alias(f"own{place}")
        for place, (parameter, each) in enumerate(zip(parameters, arguments, strict=True), 1)
    ]
    if len(columns) != len(model.columns):
        model.codes([[]] * len(columns))
    texts = [
        text_of(cell_expression(place, each)).alias(f"c{place}")
        for place, each in enumerate(columns, 1)
    ]

    def of_struct(struct: pl.Series) -> pl.Series:
        cells = [struct.struct.field(text.meta.output_name()).to_arrow() for text in texts]
        parameters_of_record = [
            doubles_of(parameter, struct.struct.field(number.meta.output_name()))
            for parameter, number in zip(parameters, numbers, strict=True)
        ]
        scored = model_answer(
            declared, model.scored(record_codes(model, cells)), parameters_of_record
        )
        return pl.Series(declared.name, scored, dtype=pl.Float64)

    struct = pl.struct(*numbers, *texts)
    return struct.map_batches(of_struct, return_dtype=pl.Float64, is_elementwise=True).alias(
        declared.name
    )


def scored_table(
    declared: Function,
    frame: pl.LazyFrame | pl.DataFrame,
    model: FittedModel,
    options: dict[str, Any],
) -> pl.LazyFrame:
    """Bind a table function that scores a table's distinct records and joins the scores to its rows."""
    lazy = frame.lazy()
    for name in lazy.collect_schema().names():
        if name in declared.columns:
            raise OutOfDomainError(
                f"the table must have no column that is named as a score ({', '.join(declared.columns)}), got '{name}'; "
                "rename it in a view"
            )
    return join_null_safe(lazy, score_distinct(declared, lazy, model, options), model.columns)


def score_distinct(
    declared: Function, lazy: pl.LazyFrame, model: FittedModel, options: dict[str, Any]
) -> pl.LazyFrame:
    """Score the distinct records on the model's columns, as q1, q2, … and the scores."""
    columns = check_columns(Columns("columns of the model"), model.columns, lazy)
    names = aliases(columns)
    distinct = count_distinct(with_aliases(lazy, columns), names, "value")
    types = distinct.select(names).collect_schema() | schema(declared.columns)

    def answer(distinct_rows: pl.DataFrame) -> pl.DataFrame:
        codes = record_codes(model, [texts_of(distinct_rows[name]).to_arrow() for name in names])
        scores = declared.body(model.scored(codes), distinct_rows["records"].to_numpy(), **options)
        result = [
            pl.Series(name, getattr(scores, name), dtype=TYPES[kind])
            for name, kind in declared.columns.items()
        ]
        return distinct_rows.select(names).hstack(result)

    return map_whole(distinct, answer, types)


# Values of a Polars series as texts, as a model reads them: each value of a type has one of its own.

UNITS: Final = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}  # in a second
# Polars writes years -262,143 to 262,142, and panics at others, which its dates can hold.
MAX_DAYS: Final = 95_000_000
SECONDS_A_DAY: Final = 86_400


def has_text(kind: pl.DataType) -> bool:
    """Test that there is a distinct text for each value of the type."""
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}


def text_of(column: pl.Expr) -> pl.Expr:
    """The text of each value; of a duration, or of a date too far away to be written, its number of units."""
    return column.map_batches(texts_of, return_dtype=pl.String, is_elementwise=True)


def texts_of(values: pl.Series) -> pl.Series:
    """The same of a series."""
    kind = values.dtype
    if isinstance(kind, pl.Duration):
        return _numbers(values, kind.time_unit)
    if not isinstance(kind, pl.Date | pl.Datetime):
        return values.cast(pl.String)
    unit = "days" if isinstance(kind, pl.Date) else kind.time_unit
    limit = MAX_DAYS * (SECONDS_A_DAY * UNITS[unit] if unit in UNITS else 1)
    is_near = values.to_physical().cast(pl.Int128).is_between(-limit, limit)
    if is_near.all():
        return values.cast(pl.String)
    near = values.set(~is_near, None).cast(pl.String)
    return near.zip_with(is_near.fill_null(value=True), _numbers(values, unit))


def _numbers(values: pl.Series, unit: str) -> pl.Series:
    return values.to_physical().cast(pl.String) + f" {unit}"
