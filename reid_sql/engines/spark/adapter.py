"""Spark: functions as Columns and as DataFrames; Spark counts, and sends reduced statistics.

Nothing else comes to the driver.
"""

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession

from reid_sql.engines.contract import Kind
from reid_sql.engines.spark.frames import collected, to_spark
from reid_sql.engines.spark.functions import row_column as value
from reid_sql.engines.spark.models import drawn_frame as drawn
from reid_sql.engines.spark.models import model_column as score
from reid_sql.engines.spark.models import scored_frame as beside
from reid_sql.engines.spark.tables import table_frame as table
from reid_sql.engines.spark.tables import window_frame
from reid_sql.function import Function

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
UNSIGNED: Final = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
ENGINE: Final = "spark"
TABLE: Final = Kind((DataFrame,), "a Spark DataFrame", "pass spark.table('name')")
COLUMN: Final = Kind((Column,), "a Column", "write 'age' or F.col('age')")


def counting(declared: Function) -> Signature:
    """The frame, its columns, the column put beside them, and the column that tells people apart.

    Of the column put beside them, the name.
    """
    kind = Parameter.POSITIONAL_OR_KEYWORD
    frame, columns = Parameter("tbl", kind), Parameter("columns", Parameter.VAR_POSITIONAL)
    name = Parameter("name", Parameter.KEYWORD_ONLY, default=declared.name)
    if len(declared.parameters) > 1:
        return Signature([frame, Parameter("entity", kind), columns, name])
    return Signature([frame, columns, name, Parameter("entity", Parameter.KEYWORD_ONLY, default=None)])


def count(declared: Function, columns: Sequence[str], **options: Any) -> DataFrame:  # noqa: ANN401
    """Bind COUNT: the frame with a column more."""
    return window_frame(declared, columns, **options)


def framed(table: pa.Table) -> DataFrame:
    """The table in the active session, with types that Spark lacks as others.

    Enumerations come as their words and unsigned numbers as wider ones.
    """
    kinds = (field.with_type(_known(field.type)) for field in table.schema)
    return to_spark(SparkSession.active(), table.cast(pa.schema(kinds)))


def _known(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else UNSIGNED.get(kind, kind)
