"""Spark: distinct records as texts."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark.counting import counted, how_nulls
from reid_sql.engines.spark.frames import arrow_type, rows_of, to_spark
from reid_sql.engines.spark.texts import refuse_without_text
from reid_sql.reductions.texts import NAMES, TEXTS


def texts(tbl: DataFrame, qi: Sequence[str], nulls: str) -> DataFrame:
    """Distinct records, after a line with the names of the columns."""
    rows = rows_of(tbl, qi, QUASI_IDENTIFIERS)
    refuse_without_text(rows)
    types = pa.schema([(name, arrow_type(kind)) for name, kind in TEXTS.columns.items()])
    named = pa.Table.from_pylist([{"line": NAMES, "texts": list(qi), "records": 0}], schema=types)
    told = F.array(*(F.col(name).cast("string") for name in rows.names)).alias("texts")
    line = (F.monotonically_increasing_id() + NAMES + 1).alias("line")
    distinct = counted(rows, nulls).select(line, told, "records")
    return how_nulls(rows, nulls, to_spark(tbl.sparkSession, named).unionByName(distinct))
