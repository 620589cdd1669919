"""Spark: distinct records beside what independent columns would hold of them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import alike, keyed


def fitted(classes: DataFrame, names: Sequence[str]) -> DataFrame:
    """Put beside the classes the log of the count under independence, and a code for each value.

    That is the count that independent columns would hold. Each column's values are counted from the classes,
    and joined back to them NULL-safe.
    """
    total = classes.agg(F.sum("records").cast("double").alias("total"))
    found, logs = classes.crossJoin(F.broadcast(total)), []
    for place, name in enumerate(names, 1):
        held, code = (
            F.sum("records").cast("double").alias(f"held{place}"),
            F.min("place").alias(f"code{place}"),
        )
        right = keyed(classes.groupBy(name).agg(held, code), [name])
        found = found.join(right, alike([F.col(name)], right)).drop("reid_key", "reid_hash")
        logs.append(F.log(f"held{place}"))
    independent = sum(logs, F.lit(0.0)) - (len(names) - 1) * F.log("total")
    return found.withColumn("log_expected", independent)
