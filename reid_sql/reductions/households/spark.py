"""Spark: households, their classes and their risk.

The sizes of classes are joined to their members: a window would hold a class of a billion people in one task.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import drop_nulls, null_report
from reid_sql.engines.spark.frames import read_rows, same_values
from reid_sql.reductions.households import HOUSEHOLD_AND_COLUMNS


def households(tbl: DataFrame, household: str, columns: Sequence[str], *, nulls: str) -> DataFrame:
    """Count the households of each class size, number of members and risk.

    The class of a household is the multiset of its members' values, a sorted array. A person without a
    household is one of their own.
    """
    rows = read_rows(tbl, [household, *columns], HOUSEHOLD_AND_COLUMNS)
    own, *values = rows.names
    present = drop_nulls(rows, nulls).withColumn("member", F.monotonically_increasing_id())
    sizes = present.groupBy(*values).agg(F.count(F.lit(1)).alias("size"))
    right, condition = same_values(present, sizes, values)
    alone = F.when(F.col(own).isNull(), F.col("member"))
    members = present.join(right, condition).select(
        F.col(own).alias("household"),
        alone.alias("alone"),
        F.struct(*(present[name] for name in values)).alias("class"),
        (1 / F.col("size")).alias("risk"),
    )
    each = members.groupBy("household", "alone").agg(
        F.sort_array(F.collect_list("class")).alias("classes"),
        F.count(F.lit(1)).alias("members"),
        (1 - F.product(1 - F.col("risk"))).alias("risk"),
        F.sum("risk").alias("member_risk"),
    )
    figures = ["members", "risk", "member_risk"]
    kinds = each.groupBy("classes").agg(
        F.count(F.lit(1)).alias("class_size"), *(F.first(name).alias(name) for name in figures)
    )
    counted = kinds.groupBy("class_size", *figures).agg(F.sum("class_size").alias("households"))
    return null_report(rows, nulls, counted)
