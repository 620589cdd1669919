"""Polars: functions as expressions and lazy-frame functions; nothing is collected before the user collects."""

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, Final

import polars as pl

from reid_sql.domains import Column, Columns, Table
from reid_sql.engines.contract import Kind
from reid_sql.engines.polars.models import drawn_frame as drawn
from reid_sql.engines.polars.models import model_expression as score
from reid_sql.engines.polars.models import scored_frame as beside
from reid_sql.engines.polars.tables import IntoColumn, class_size, table_frame
from reid_sql.engines.polars.tables import row_expression as value
from reid_sql.function import Function

__all__ = ["COLUMN", "ENGINE", "TABLE", "beside", "count", "counting", "drawn", "score", "table", "value"]
ENGINE: Final = "polars"
TABLE: Final = Kind(
    (pl.LazyFrame, pl.DataFrame), "a Polars LazyFrame or DataFrame", "pass pl.scan_parquet('file')"
)
COLUMN: Final = Kind((pl.Expr,), "an expression", "write 'age' or pl.col('age')")


def counting(_: Function) -> Signature:
    """Columns, and nothing else: an expression knows its frame."""
    return Signature([Parameter("columns", Parameter.VAR_POSITIONAL)])


def count(declared: Function, columns: Sequence[IntoColumn], **_: Any) -> pl.Expr:  # noqa: ANN401 - there are none
    """Bind COUNT: an expression named after the function."""
    return class_size(columns).alias(declared.name)


def table(declared: Function, given: Mapping[str, Any]) -> pl.LazyFrame:
    """Bind a function of a table: a lazy frame that reduces and answers when it is collected."""
    options = dict(given)
    listed = next((p.name for p in declared.parameters if isinstance(p.domain, Columns)), None)
    single = [p.name for p in declared.parameters if isinstance(p.domain, Column)]
    tables = [options.pop(p.name) for p in declared.parameters if isinstance(p.domain, Table)]
    columns = options.pop(listed) if listed else [options.pop(name) for name in single]
    return table_frame(declared, tables, columns, options)
