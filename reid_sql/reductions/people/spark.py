"""Spark: what a model of people is fitted to."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import class_columns, class_size, drop_nulls, null_report
from reid_sql.engines.spark.frames import aliases, read_rows, same_values
from reid_sql.engines.spark.people import count_groups, read_groups
from reid_sql.models.people.evidence import max_combinations
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.pairs.spark import pair_lines, pairs
from reid_sql.reductions.people import DRAWN, MOST_DRAWN, SIZES


def people(
    tbl: DataFrame,
    qi: Sequence[str],
    weight: str | None,
    marginals: DataFrame | None,
    seed: float,
    nulls: str,
    by: Sequence[str] | None = None,
) -> DataFrame:
    """Count values, pairs that are not too many, and class sizes; draw records by a hash of values."""
    taken = qi if weight is None else [*qi, weight]
    if by is not None:
        rows = read_groups(tbl, taken, by, None, nulls)
        counted = count_groups(rows, by, nulls)
        counts = pair_lines(rows, qi, weight, marginals, nulls, counted.groups)
        return counted.report(_lines(counts, drop_nulls(rows, nulls), aliases(qi), int(seed), counted.groups))
    every = read_rows(tbl, taken, QUASI_IDENTIFIERS, **class_columns(tbl))
    counts = pairs(tbl, qi, weight, marginals, nulls).drop("cell", "records_dropped", "nulls")
    return null_report(every, nulls, _lines(counts, drop_nulls(every, nulls), aliases(qi), int(seed), ()))


def _lines(
    counted: DataFrame, records: DataFrame, names: Sequence[str], seed: int, groups: Sequence[str]
) -> DataFrame:
    """Pairs that are not too many, the sizes of classes and the records drawn."""
    every = records.groupBy(*groups, *names).agg(F.count(F.lit(1)).alias("records"), class_size(records))
    classes = every.localCheckpoint()
    people = F.sum("records") / F.col("class_size")
    sizes = classes.groupBy(*groups, "class_size").agg(people.alias("mass"))
    sizes = sizes.withColumnRenamed("class_size", "records")
    lines = _few(counted, groups, max_combinations(len(names)))
    for second, found in ((SIZES, sizes), (DRAWN, drawn(classes, names, seed, groups))):
        numbers = [
            F.lit(value).cast("bigint").alias(name) for value, name in ((0, "first"), (second, "second"))
        ]
        lines = lines.unionByName(found.select("*", *numbers), allowMissingColumns=True)
    return lines.select(F.monotonically_increasing_id().alias("line"), *lines.columns)


def _few(counted: DataFrame, groups: Sequence[str], most: int) -> DataFrame:
    """The lines, without those of pairs of columns that have too many."""
    lines, of_pair = counted.localCheckpoint(), [*groups, "first", "second"]
    many = lines.groupBy(*of_pair).count().filter((F.col("second") > 0) & (F.col("count") > most))
    right, alike = same_values(lines, many.drop("count"), of_pair)
    return lines.join(F.broadcast(right), alike, "left_anti")


def drawn(classes: DataFrame, names: Sequence[str], seed: int, groups: Sequence[str] = ()) -> DataFrame:
    """Records in a random order that the values and the seed decide, whatever order they are read in."""
    copies = classes.withColumn("copy", F.explode(F.sequence(F.lit(1).cast("bigint"), F.col("records"))))
    key = F.xxhash64(*names, "copy", F.lit(seed)).cast("double") / F.lit(2.0**64)
    texts = F.array(*(F.col(name).cast("string") for name in names))
    found = copies.select(
        *groups, F.col("class_size").alias("records"), key.alias("mass"), texts.alias("texts")
    )
    if not groups:
        return found.orderBy("mass").limit(MOST_DRAWN)
    place = F.row_number().over(Window.partitionBy(*groups).orderBy("mass"))
    return found.withColumn("place", place).filter(F.col("place") <= MOST_DRAWN).drop("place")
