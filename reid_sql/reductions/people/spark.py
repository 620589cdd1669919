"""Spark: what a model of people is fitted to."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark.counting import how_nulls, kept
from reid_sql.engines.spark.frames import rows_of
from reid_sql.reductions.pairs.spark import pairs
from reid_sql.reductions.people import DRAWN, MOST_DRAWN, MOST_LINES, SIZES


def people(  # noqa: PLR0917 - the arguments of the reduction
    tbl: DataFrame,
    qi: Sequence[str],
    weight: str | None,
    marginals: DataFrame | None,
    seed: float,
    nulls: str,
) -> DataFrame:
    """Count values, pairs that are not too many, and class sizes; draw records by a hash of values."""
    counted = pairs(tbl, qi, weight, marginals, nulls).drop("cell", "records_dropped", "nulls")
    every = rows_of(tbl, qi if weight is None else [*qi, weight], QUASI_IDENTIFIERS)
    own = every.names[: len(qi)]
    classes = kept(every, nulls).groupBy(*own).agg(F.count(F.lit(1)).alias("records")).localCheckpoint()
    sizes = classes.groupBy("records").agg(F.count(F.lit(1)).cast("double").alias("mass"))
    lines = _few(counted)
    for second, found in ((SIZES, sizes), (DRAWN, drawn(classes, own, int(seed)))):
        numbers = [
            F.lit(value).cast("bigint").alias(name) for value, name in ((0, "first"), (second, "second"))
        ]
        lines = lines.unionByName(found.select("*", *numbers), allowMissingColumns=True)
    return how_nulls(every, nulls, lines.withColumn("line", F.monotonically_increasing_id()))


def _few(counted: DataFrame) -> DataFrame:
    """The lines, without those of pairs of columns that have too many."""
    held = counted.localCheckpoint()
    many = (
        held.groupBy("first", "second").count().filter((F.col("second") > 0) & (F.col("count") > MOST_LINES))
    )
    return held.join(F.broadcast(many.drop("count")), ["first", "second"], "left_anti")


def drawn(classes: DataFrame, names: Sequence[str], seed: int) -> DataFrame:
    """Records in a random order that the values and the seed decide, whatever order they are read in."""
    copies = classes.withColumn("copy", F.explode(F.sequence(F.lit(1).cast("bigint"), F.col("records"))))
    key = F.xxhash64(*names, "copy", F.lit(seed)).cast("double") / F.lit(2.0**64)
    texts = F.array(*(F.col(name).cast("string") for name in names))
    return copies.select("records", key.alias("mass"), texts.alias("texts")).orderBy("mass").limit(MOST_DRAWN)
