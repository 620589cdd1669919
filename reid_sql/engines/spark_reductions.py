"""Spark: the reductions as DataFrames. Grouping is partial before it shuffles, joins are NULL-safe, no window is used."""

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from math import comb
from operator import or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DateType, NumericType, TimestampNTZType, TimestampType

from reid_sql.engines import spark_wildcard as wildcard
from reid_sql.engines.spark_frames import alike, collected, keyed, places, to_spark
from reid_sql.errors import OutOfDomainError
from reid_sql.reduction import refuse_own_names
from reid_sql.reductions.subsets import refuse_subsets

MOMENTS = (DateType, TimestampType, TimestampNTZType)


def missing(names: Sequence[str]) -> Column:
    """Whether one of the columns is NULL."""
    return reduce(or_, (F.col(name).isNull() for name in names))


def counted(rows: DataFrame, names: Sequence[str], nulls: str) -> DataFrame:
    """Distinct records with their counts."""
    kept = rows.filter(~missing(names)) if nulls == "drop" else rows
    return kept.groupBy(*names).agg(F.count(F.lit(1)).alias("records"))


def how_nulls(rows: DataFrame, names: Sequence[str], nulls: str, reduced: DataFrame) -> DataFrame:
    """Put beside each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        dropped = rows.filter(missing(names)).agg(F.count(F.lit(1)).alias("records_dropped"))
        reduced = reduced.crossJoin(F.broadcast(dropped))
    else:
        reduced = reduced.withColumn("records_dropped", F.lit(0).cast("bigint"))
    return reduced.withColumn("nulls", F.lit(nulls))


def classes(frames: Sequence[DataFrame], given: Sequence[str], nulls: str) -> DataFrame:
    """Distinct combinations of values, with how many records share each."""
    refuse_own_names(given)
    rows, names = frames[0], places(given)
    found = counted(rows, names, nulls)
    if nulls == "wildcard":
        table, own = wildcard.distinct(found)
        sizes = wildcard.class_sizes(own, own, names).to_arrow()
        found = to_spark(rows.sparkSession, table.append_column("class_size", sizes))
    else:
        found = found.withColumn("class_size", F.col("records"))
    renamed = (F.col(name).alias(column) for name, column in zip(names, given, strict=True))
    return how_nulls(rows, names, nulls, found.select(*renamed, "class_size", "records"))


def histogram(frames: Sequence[DataFrame], given: Sequence[str], nulls: str) -> DataFrame:
    """How many classes, and how many records, have each class size."""
    rows, names = frames[0], places(given)
    found = counted(rows, names, nulls)
    if nulls == "wildcard":
        _table, own = wildcard.distinct(found)
        sizes = own.select("records").with_columns(wildcard.class_sizes(own, own, names))
        found = to_spark(rows.sparkSession, sizes.to_arrow())
    else:
        found = found.withColumn("class_size", F.col("records"))
    counts = F.count(F.lit(1)).alias("classes"), F.sum("records").alias("records")
    return how_nulls(rows, names, nulls, found.groupBy("class_size").agg(*counts))


def population_histogram(frames: Sequence[DataFrame], given: Sequence[str], nulls: str) -> DataFrame:
    """Histogram of the sample's records by the size of their class in the population."""
    rows, population = same_types(frames[0], frames[1], given)
    names = places(given)
    own, other = counted(rows, names, nulls), counted(population, names, nulls)
    if nulls == "wildcard":
        (_table, mine), (_table, others) = wildcard.distinct(own), wildcard.distinct(other)
        sizes = mine.select("records").with_columns(
            wildcard.class_sizes(mine, others, names).alias("found"),
            wildcard.class_sizes(mine, mine, names).alias("own"),
        )
        found = to_spark(rows.sparkSession, sizes.to_arrow())
    else:
        right = keyed(other.withColumnRenamed("records", "population"), names)
        joined = own.join(right, alike([F.col(name) for name in names], right), "left")
        found = joined.select(
            "records",
            F.col("records").alias("own"),
            F.coalesce(F.col("population"), F.lit(0).cast("bigint")).alias("found"),
        )
    uncovered = F.coalesce(
        F.sum(F.when(F.col("found") < F.col("own"), F.col("records"))), F.lit(0).cast("bigint")
    )
    counts = (
        F.count(F.lit(1)).alias("classes"),
        F.sum("records").alias("records"),
        uncovered.alias("uncovered"),
    )
    sized = found.groupBy(F.greatest("found", "own").alias("class_size")).agg(*counts)
    return how_nulls(rows, names, nulls, sized)


def same_types(rows: DataFrame, population: DataFrame, given: Sequence[str]) -> tuple[DataFrame, DataFrame]:
    """Give both the wider of their types, or refuse columns of the population that are another kind of value."""
    for name, own, other in zip(given, rows.schema, population.schema, strict=True):
        mine, theirs = own.dataType, other.dataType
        if mine != theirs and not any(
            isinstance(mine, kind) and isinstance(theirs, kind) for kind in (NumericType, MOMENTS)
        ):
            rule = f"tbl and population_tbl must hold '{name}' as the same type"
            raise OutOfDomainError(
                f"{rule}, got {mine.simpleString()} and {theirs.simpleString()}; cast one of them"
            )
    if rows.dtypes == population.dtypes:
        return rows, population
    wider = rows.limit(0).unionByName(population.limit(0)).schema
    first, second = (
        frame.select(*(F.col(field.name).cast(field.dataType) for field in wider))
        for frame in (rows, population)
    )
    return first, second


def subsets(frames: Sequence[DataFrame], given: Sequence[str], max_size: int, nulls: str) -> DataFrame:
    """Records, classes and alike pairs of every subset of the columns, from their distinct records, in one pass."""
    sizes = range(1, min(max_size, len(given)) + 1)
    refuse_subsets(sum(comb(len(given), size) for size in sizes))
    rows, names = frames[0], places(given)
    chosen = [subset for size in sizes for subset in combinations(range(len(given)), size)]
    listed = {
        "place": list(range(len(chosen))),
        "subset": [[given[place] for place in subset] for subset in chosen],
    }
    distinct = counted(rows, names, "value")
    if nulls == "wildcard":
        counts = wildcard.subset_counts(wildcard.distinct(distinct)[1], names, sizes)
        table = pa.table(listed | {name: counts[name] for name in counts.column_names})
        found = to_spark(rows.sparkSession, table).withColumn("records_dropped", F.lit(0).cast("bigint"))
    else:
        marks = [_mark(subset) for subset in chosen]
        masks = to_spark(rows.sparkSession, pa.table(listed | {"mask": pa.array(marks, pa.int64())}))
        counts_of = _counts(distinct, names, masks.select("mask"), drop=nulls == "drop")
        found = F.broadcast(masks).join(counts_of, "mask", "left")
    numbers = (
        F.coalesce(F.col(name).cast("bigint"), F.lit(0)).alias(name) for name in ("records", "classes")
    )
    pairs = F.coalesce(F.col("pairs_alike").cast("decimal(38,0)"), F.lit(0)).alias("pairs_alike")
    dropped = F.coalesce(F.col("records_dropped"), F.lit(0)).alias("records_dropped")
    return found.orderBy("place").select("subset", *numbers, pairs, dropped, F.lit(nulls).alias("nulls"))


def classes_of(distinct: DataFrame, names: Sequence[str], chosen: Sequence[Sequence[int]]) -> list[int]:
    """How many distinct values each choice of the columns, by their places, has among the distinct records."""
    marks = [_mark(subset) for subset in chosen]
    masks = to_spark(distinct.sparkSession, pa.table({"mask": pa.array(marks, pa.int64())}))
    found = collected(
        _counts(distinct, names, masks, drop=False).select("mask", "classes"), "counts of choices of columns"
    )
    classes = dict(zip(found["mask"].to_pylist(), found["classes"].to_pylist(), strict=True))
    return [classes[mark] for mark in marks]


def _mark(subset: Sequence[int]) -> int:
    """The subset as the bits of a signed 64-bit number."""
    mark = sum(1 << place for place in subset)
    return mark - (1 << 64) if mark >> 63 else mark


def _counts(distinct: DataFrame, names: Sequence[str], masks: DataFrame, *, drop: bool) -> DataFrame:
    """Group the distinct records by each mask's columns; those with a NULL there are set aside where they are dropped."""
    inside = [F.col("mask").bitwiseAND(F.lit(_mark([place]))) != 0 for place in range(len(names))]
    gaps = [one & F.col(name).isNull() for one, name in zip(inside, names, strict=True)]
    aside = reduce(or_, gaps) if drop else F.lit(False)  # noqa: FBT003 - a literal
    kept = [F.when(one, F.col(name)).alias(name) for one, name in zip(inside, names, strict=True)]
    repeated = distinct.crossJoin(F.broadcast(masks)).select("mask", aside.alias("aside"), "records", *kept)
    grouped = repeated.groupBy("mask", "aside", *names).agg(F.sum("records").alias("records"))
    counts = F.when(~F.col("aside"), F.col("records"))
    pairs = counts.cast("decimal(19,0)") * (F.col("records") - 1).cast("decimal(18,0)")
    return grouped.groupBy("mask").agg(
        F.sum(counts).alias("records"),
        F.count(counts).alias("classes"),
        F.sum(pairs).cast("decimal(38,0)").alias("pairs_alike"),
        F.sum(F.when(F.col("aside"), F.col("records"))).alias("records_dropped"),
    )
