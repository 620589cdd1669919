"""Spark: distinct records and their counts, without windows.

Grouping is partial before it shuffles, and joins are NULL-safe.
"""

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import Rows, collected, to_spark


def missing(names: Sequence[str]) -> Column:
    """Whether one of the columns is NULL."""
    return reduce(or_, (F.col(name).isNull() for name in names))


def kept(rows: Rows, nulls: str) -> DataFrame:
    """The records, without those that lack a value where these are dropped."""
    return rows.frame.filter(~missing(rows.names)) if nulls == "drop" else rows.frame


def counted(rows: Rows, nulls: str) -> DataFrame:
    """Distinct records with their counts."""
    return kept(rows, nulls).groupBy(*rows.names).agg(F.count(F.lit(1)).alias("records"))


def blank_records(names: Sequence[str], nulls: str) -> Column:
    """How many records, of distinct ones, have no value at all; NULL where NULL is no wildcard."""
    if nulls != "wildcard":
        return F.lit(None).cast("bigint").alias("blank_records")
    blank = F.when(reduce(and_, (F.col(name).isNull() for name in names)), F.col("records"))
    return F.coalesce(F.sum(blank), F.lit(0).cast("bigint")).alias("blank_records")


def placed(classes: DataFrame) -> DataFrame:
    """Number the classes and keep them on the executors: counted anew, they could get other numbers."""
    return classes.withColumn("place", F.monotonically_increasing_id()).localCheckpoint()


def null_report(rows: Rows, nulls: str, reduced: DataFrame) -> DataFrame:
    """Put beside each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        lacking = rows.frame.filter(missing(rows.names))
        dropped = lacking.agg(F.count(F.lit(1)).alias("records_dropped"))
        reduced = reduced.crossJoin(F.broadcast(dropped))
    else:
        reduced = reduced.withColumn("records_dropped", F.lit(0).cast("bigint"))
    return reduced.withColumn("nulls", F.lit(nulls))


def own_names(rows: Rows) -> list[Column]:
    """The columns under the names that they were given by."""
    return [F.col(name).alias(given) for name, given in zip(rows.names, rows.given, strict=True)]


def masks_of(distinct: DataFrame, chosen: Sequence[Sequence[int]]) -> DataFrame:
    """The choices of columns, by place, as masks."""
    marks = [mark(subset) for subset in chosen]
    return to_spark(distinct.sparkSession, pa.table({"mask": pa.array(marks, pa.int64())}))


def in_order(counts: DataFrame, chosen: Sequence[Sequence[int]]) -> tuple[list[int], list[float]]:
    """How many distinct values each choice has, and how many right matches are to be expected by it."""
    told = ("classes", "reidentifications")
    found = collected(counts.select("mask", *told), "counts of choices of columns").to_pylist()
    by_mask = {row["mask"]: row for row in found}
    rows = [by_mask[mark(subset)] for subset in chosen]
    return [row["classes"] for row in rows], [row["reidentifications"] for row in rows]


def mark(subset: Sequence[int]) -> int:
    """The subset as the bits of a signed 64-bit number.

    >>> mark([0, 2]), mark([63])
    (5, -9223372036854775808)
    """
    bits = sum(1 << place for place in subset)
    return bits - (1 << 64) if bits >> 63 else bits


def counts_of(distinct: DataFrame, names: Sequence[str], masks: DataFrame, *, drop: bool) -> DataFrame:
    """Group the distinct records by each mask's columns; with `drop`, those with a NULL are set aside."""
    grouped = by_masks(distinct, names, masks, drop=drop)
    counts = F.when(~F.col("aside"), F.col("records"))
    pairs = counts.cast("decimal(19,0)") * (F.col("records") - 1).cast("decimal(18,0)")
    return grouped.groupBy("mask").agg(
        F.sum(counts).alias("records"),
        F.count(counts).alias("classes"),
        F.count(counts).cast("double").alias("reidentifications"),
        F.sum(pairs).cast("decimal(38,0)").alias("pairs_alike"),
        F.sum(F.when(F.col("aside"), F.col("records"))).alias("records_dropped"),
    )


def by_masks(
    distinct: DataFrame, names: Sequence[str], masks: DataFrame, *more: str, drop: bool
) -> DataFrame:
    """The distinct records of each mask's columns, and of more of them, with how many records hold each.

    Those that lack one of the mask's values are `aside` where they are dropped.
    """
    inside = [F.col("mask").bitwiseAND(F.lit(mark([place]))) != 0 for place in range(len(names))]
    gaps = [one & F.col(name).isNull() for one, name in zip(inside, names, strict=True)]
    aside = (reduce(or_, gaps) if drop else F.lit(False)).alias("aside")  # noqa: FBT003 - a literal
    own = [F.when(one, F.col(name)).alias(name) for one, name in zip(inside, names, strict=True)]
    repeated = distinct.crossJoin(F.broadcast(masks)).select("mask", aside, "records", *more, *own)
    return repeated.groupBy("mask", "aside", *names, *more).agg(F.sum("records").alias("records"))
