"""Spark: the distinct records of a table, counted by the executors, fetched to the driver for DuckDB."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from reid_sql.engines.spark.counting import count_records
from reid_sql.engines.spark.frames import (
    Rows,
    aliases,
    column,
    fetch,
    find_column,
    is_case_sensitive,
    resolve_columns,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import MAX_COLUMNS, Columns

WORDS: Final = "the distinct records that the driver answers from"
NAMES: Final = Columns("columns")


def column_names(frame: DataFrame) -> list[str]:
    """The names of the columns."""
    return frame.columns


def find_lacked(frame: DataFrame, columns: Sequence[str]) -> list[str]:
    """The names among these that the table lacks; capitals count only where the session counts them."""
    return [name for name in columns if find_column(name, frame) not in frame.columns]


def read(frame: DataFrame, columns: Sequence[str]) -> pa.Table:
    """The distinct records with the number of each in `records`."""
    folded = {name.lower() for name in columns}
    if len(folded) < len(columns) and is_case_sensitive(frame):
        rule = f"{NAMES.words} must differ by more than capitals where the driver answers"
        raise OutOfDomainError(f"{rule}, got {list(columns)}; rename one in a view")
    found: list[str] = []
    for start in range(0, len(columns), MAX_COLUMNS):
        found += resolve_columns(NAMES, columns[start : start + MAX_COLUMNS], frame)
    cells = (column(name).alias(q) for name, q in zip(found, aliases(columns), strict=True))
    return fetch(count_records(Rows(frame.select(*cells), columns, found), "value"), WORDS)


def finish_reading() -> None:
    """Nothing is left open."""
