"""Spark: the records that sets of columns single out, found on the executors."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import mark
from reid_sql.engines.spark.frames import to_spark


def singled_out(records: DataFrame, names: Sequence[str], sets: Sequence[Sequence[int]]) -> DataFrame:
    """The keys of records, `record`, with the places of their sets, those that hold no smaller one.

    Records of one key are of one person, whom a set singles out where it does so with one of them.
    """
    masks = to_spark(records.sparkSession, _masks(sets))
    # Of records that are alike on all columns none is singled out: one stands for all, with their number.
    distinct = records.groupBy(*names).agg(
        F.first("record").alias("record"), F.count(F.lit(1)).alias("records")
    )
    inside = (F.col("mask").bitwiseAND(F.lit(mark([place]))) != 0 for place in range(len(names)))
    own = [F.when(one, F.col(name)).alias(name) for one, name in zip(inside, names, strict=True)]
    repeated = distinct.crossJoin(F.broadcast(masks)).select("mask", "place", "record", "records", *own)
    one_alone = F.min("record").eqNullSafe(F.max("record")) & F.count("record").isin(0, F.count(F.lit(1)))
    sums = (
        (F.max("records") == 1).alias("single"),
        one_alone.alias("alone"),
        F.first("record").alias("record"),
    )
    alone = repeated.groupBy("mask", "place", *names).agg(*sums).filter("single AND alone")
    each = alone.groupBy("record").agg(F.collect_set(F.struct("mask", "place")).alias("sets"))
    minimal = F.filter("sets", lambda one: ~F.exists("sets", lambda other: _within(other, one)))
    listed = each.select("record", F.explode(minimal).alias("set"))
    return listed.select("record", F.col("set.place").alias("place")).orderBy("record", "place")


def _within(other: Column, one: Column) -> Column:
    """Whether the other set is a part of the one."""
    shared = other["mask"].bitwiseAND(one["mask"])
    return (shared == other["mask"]) & (other["mask"] != one["mask"])


def _masks(sets: Sequence[Sequence[int]]) -> pa.Table:
    marks = pa.array([mark(each) for each in sets], pa.int64())
    return pa.table({"mask": marks, "place": pa.array(range(len(sets)), pa.int64())})
