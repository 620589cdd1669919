"""Spark: distinct records beside what independent columns would hold of them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import alike, keyed, with_totals


def fitted(classes: DataFrame, names: Sequence[str], groups: Sequence[str] = ()) -> DataFrame:
    """Put beside the classes the log of the count under independence, and a code for each value.

    That is the count that independent columns would hold, in each group if there are any. Each column's
    values are counted from the classes, and joined back to them NULL-safe.
    """
    totals = classes.groupBy(*groups).agg(F.sum("records").cast("double").alias("total"))
    found, logs = with_totals(classes, totals, groups), []
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
