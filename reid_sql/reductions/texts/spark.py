"""Spark: distinct records as texts."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import count_records, null_report
from reid_sql.engines.spark.frames import Rows, arrow_type, read_rows, to_spark
from reid_sql.engines.spark.people import count_groups, read_groups
from reid_sql.engines.spark.values import refuse_without_text
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.texts import NAMES, TEXTS


def texts(tbl: DataFrame, qi: Sequence[str], nulls: str, by: Sequence[str] | None = None) -> DataFrame:
    """Distinct records, after a line with the names of the columns."""
    if by is not None:
        divided = read_groups(tbl, qi, by, None, nulls)
        every = count_groups(divided, by, nulls)
        return every.report(_lines(divided, every.complete, every.groups))
    rows = read_rows(tbl, qi, QUASI_IDENTIFIERS)
    return null_report(rows, nulls, _lines(rows, count_records(rows, nulls), ()))


def _lines(rows: Rows, distinct: DataFrame, groups: Sequence[str]) -> DataFrame:
    refuse_without_text(rows)
    types = pa.schema([(name, arrow_type(kind)) for name, kind in TEXTS.columns.items()])
    named = pa.Table.from_pylist([{"line": NAMES, "texts": list(rows.given), "records": 0}], schema=types)
    values = F.array(*(F.col(name).cast("string") for name in rows.names)).alias("texts")
    line = (F.monotonically_increasing_id() + NAMES + 1).alias("line")
    names = to_spark(rows.frame.sparkSession, named)
    of_groups = distinct.select(*groups).distinct().crossJoin(names) if groups else names
    lines = of_groups.unionByName(distinct.select(*groups, line, values, "records"))
    return lines.select("line", *(name for name in lines.columns if name != "line"))
