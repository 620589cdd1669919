"""Columns of people by the structure of a Spark DataFrame: few rows of it come to the driver."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, DateType, NumericType, StringType

from reid_sql.engines.drawn_rows import Values, find_panels_in
from reid_sql.engines.spark.frames import column, fetch
from reid_sql.parameters import MAX_COLUMNS

PLAIN_TYPES: Final = (NumericType, StringType, BooleanType, DateType)


def find_panels(frame: DataFrame, counted: Sequence[str]) -> list[str]:
    """Return columns of people by the structure of a draw of rows."""
    plain = [each.name for each in frame.schema.fields if isinstance(each.dataType, PLAIN_TYPES)]

    def draw(values: Values, limit: int) -> pa.Table:
        rows = frame.select(*map(column, plain[:MAX_COLUMNS]))
        tests = [column(name).isin(*each) for name, each in values.items()]
        return fetch((rows.where(reduce(or_, tests)) if tests else rows).limit(limit), "a draw of rows")

    return find_panels_in(plain, draw, counted)
