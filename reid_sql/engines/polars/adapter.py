"""Polars: functions as expressions and lazy-frame functions; nothing is collected before the user does."""

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any, Final

import polars as pl

from reid_sql.engines.contract import Kind
from reid_sql.engines.polars.answers import table
from reid_sql.engines.polars.frames import collected, framed
from reid_sql.engines.polars.models import beside, drawn, score
from reid_sql.engines.polars.rows import value
from reid_sql.function import Function
from reid_sql.reduction import implementation

__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "beside",
    "collected",
    "count",
    "counting",
    "drawn",
    "framed",
    "score",
    "table",
    "value",
]
ENGINE: Final = "polars"
FRAMES: Final = (pl.LazyFrame, pl.DataFrame)
TABLE: Final = Kind(FRAMES, "a Polars LazyFrame or DataFrame", "pass pl.scan_parquet('file')")
COLUMN: Final = Kind((pl.Expr,), "an expression", "write 'age' or pl.col('age')")


def counting(declared: Function) -> Signature:
    """Columns, and by name, or first, the column that tells people apart: an expression knows its frame."""
    columns, option = Parameter("columns", Parameter.VAR_POSITIONAL), Parameter.KEYWORD_ONLY
    if len(declared.parameters) > 1:
        return Signature([Parameter("entity", Parameter.POSITIONAL_OR_KEYWORD), columns])
    return Signature([columns, Parameter("entity", option, default=None)])


def count(declared: Function, columns: Sequence[Any], entity: str | pl.Expr | None = None) -> pl.Expr:
    """Bind a function of a record among all records: an expression named after the function."""
    # A COUNT has a reduction.
    counted: pl.Expr = implementation(declared.reduction, ENGINE)(columns, entity)  # type: ignore[arg-type]
    return counted.alias(declared.name)
