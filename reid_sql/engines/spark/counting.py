"""Spark: distinct records and their counts, without windows.

Grouping is partial before it shuffles, and joins are NULL-safe.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import Rows
from reid_sql.errors import OutOfDomainError


def any_null(names: Sequence[str]) -> Column:
    """Whether one of the columns is NULL."""
    return reduce(or_, (F.col(name).isNull() for name in names))


def drop_nulls(rows: Rows, nulls: str) -> DataFrame:
    """The records, without those that lack a value where these are dropped."""
    return rows.frame.filter(~any_null(rows.names)) if nulls == "drop" else rows.frame


def count_records(rows: Rows, nulls: str) -> DataFrame:
    """Distinct records with their counts."""
    return drop_nulls(rows, nulls).groupBy(*rows.names).agg(F.count(F.lit(1)).alias("records"))


def no_blank_records() -> Column:
    """NULL: no record counts as without any value where NULL is no wildcard."""
    return F.lit(None).cast("bigint").alias("blank_records")


def null_report(rows: Rows, nulls: str, reduced: DataFrame) -> DataFrame:
    """Report in each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        incomplete = rows.frame.filter(any_null(rows.names))
        dropped = incomplete.agg(F.count(F.lit(1)).alias("records_dropped"))
        reduced = reduced.crossJoin(F.broadcast(dropped))
    else:
        reduced = reduced.withColumn("records_dropped", F.lit(0).cast("bigint"))
    return reduced.withColumn("nulls", F.lit(nulls))


NO_POSITION = "must name the column that distinguishes records, got None: a Spark table has no order; pass key='id'"


def refuse_no_key(key: str | None) -> None:
    """Refuse to answer for each record where no column distinguishes them."""
    if key is None:
        raise OutOfDomainError(f"key {NO_POSITION}")
