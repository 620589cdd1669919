"""Polars: functions of numbers as expressions."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from reid_sql.engines.arrow import kernel
from reid_sql.engines.polars.frames import named
from reid_sql.function import Function


def value(declared: Function, arguments: Sequence[Any]) -> pl.Expr:
    """Bind a row function to expressions, column names or numbers: an expression named after the function."""
    call = kernel(declared)
    names = [parameter.name for parameter in declared.parameters]
    inputs = [expression(argument).alias(name) for name, argument in zip(names, arguments, strict=True)]

    def of_struct(struct: pl.Series) -> pl.Series:
        columns = [struct.struct.field(name).cast(pl.Float64).to_arrow() for name in names]
        return pl.Series(declared.name, call(*columns), dtype=pl.Float64)

    struct = pl.struct(inputs)
    return struct.map_batches(of_struct, return_dtype=pl.Float64, is_elementwise=True).alias(declared.name)


def expression(argument: Any) -> pl.Expr:  # noqa: ANN401 - a name, an expression or a number
    """The expression that is meant."""
    if isinstance(argument, pl.Expr):
        return argument
    return named(argument) if isinstance(argument, str) else pl.lit(argument, dtype=pl.Float64)
