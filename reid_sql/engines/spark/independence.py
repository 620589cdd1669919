"""Spark: distinct records beside what independent columns would hold of them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import alike, keyed, same


def fitted(classes: DataFrame, names: Sequence[str], groups: Sequence[str] = ()) -> DataFrame:
    """Put beside the classes the log of the count under independence, and a code for each value.

    That is the count that independent columns would hold, in each group if there are any. Each column's
    values are counted from the classes, and joined back to them NULL-safe.
    """
    totals = classes.groupBy(*groups).agg(F.sum("records").cast("double").alias("total"))
    found, logs = _beside(classes, totals, groups).select(*classes.columns, "total"), []
    for place, name in enumerate(names, 1):
        held, code = (
            F.sum("records").cast("double").alias(f"held{place}"),
            F.min("place").alias(f"code{place}"),
        )
        own = [*groups, name]
        right = keyed(classes.groupBy(*own).agg(held, code), own)
        found = found.join(right, alike([F.col(each) for each in own], right)).drop("reid_key", "reid_hash")
        logs.append(F.log(f"held{place}"))
    independent = sum(logs, F.lit(0.0)) - (len(names) - 1) * F.log("total")
    return found.withColumn("log_expected", independent)


def _beside(classes: DataFrame, totals: DataFrame, groups: Sequence[str]) -> DataFrame:
    """The total of its group beside each class; a setting may refuse a join that has no condition."""
    if not groups:
        return classes.crossJoin(F.broadcast(totals))
    right, alike_groups = same(classes, totals, groups)
    return classes.join(F.broadcast(right), alike_groups)
