"""Spark: the distinct records of a table, counted by the executors, fetched to the driver for DuckDB."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import count_records
from reid_sql.engines.spark.frames import (
    Rows,
    aliases,
    column,
    fetch,
    find_column,
    is_case_sensitive,
    refuse_without_text,
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
    return fetch(count_records(_select(frame, columns), "value"), WORDS)


def _select(frame: DataFrame, columns: Sequence[str]) -> Rows:
    """The columns under aliases, as many as there are."""
    folded = {name.lower() for name in columns}
    if len(folded) < len(columns) and is_case_sensitive(frame):
        rule = f"{NAMES.words} must differ by more than capitals where the driver answers"
        raise OutOfDomainError(f"{rule}, got {list(columns)}; rename one in a view")
    found: list[str] = []
    for start in range(0, len(columns), MAX_COLUMNS):
        found += resolve_columns(NAMES, columns[start : start + MAX_COLUMNS], frame)
    cells = (column(name).alias(q) for name, q in zip(found, aliases(columns), strict=True))
    return Rows(frame.select(*cells), columns, found)


def finish_reading() -> None:
    """Nothing is left open."""


class SparkTexts:
    """The same place for a model that is fitted: values as the texts by which Spark scores records later."""

    column_names, find_lacked = staticmethod(column_names), staticmethod(find_lacked)
    finish_reading = staticmethod(finish_reading)

    @staticmethod
    def read(frame: DataFrame, columns: Sequence[str]) -> pa.Table:
        """The distinct records as texts; refuses values that their texts do not distinguish."""
        rows = _select(frame, columns)
        refuse_without_text(rows)
        texts = (F.col(name).cast("string").alias(name) for name in rows.names)
        return fetch(count_records(rows, "value").select(*texts, "records"), WORDS)
