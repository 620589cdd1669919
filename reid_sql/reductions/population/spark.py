"""Spark: the sample's classes, by what a population table holds of them."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.spark import wildcard
from reid_sql.engines.spark.counting import blank_records, counted, how_nulls
from reid_sql.engines.spark.frames import alike, keyed, rows_of, to_spark
from reid_sql.engines.spark.meeting import as_the_same
from reid_sql.engines.spark.people import people_of, rows_of_people, sizes_of, told


def population_histogram(
    tbl: DataFrame, population_tbl: DataFrame, qi: Sequence[str], nulls: str, entity: str | None = None
) -> DataFrame:
    """Histogram of the sample's records, or people, by the size of their class in the population."""
    if entity is not None:
        return _of_people((tbl, population_tbl), qi, nulls, entity)
    rows, population = as_the_same(*(rows_of(each, qi, QUASI_IDENTIFIERS) for each in (tbl, population_tbl)))
    own, other = counted(rows, nulls), counted(population, nulls)
    found = _matched(own, other, rows.names) if nulls == "wildcard" else _met(own, other, rows.names)
    nobody = F.lit(0).cast("bigint")
    short = F.sum(F.when(F.col("found") < F.col("own"), F.col("records")))
    sized = found.groupBy(F.greatest("found", "own").alias("class_size")).agg(
        F.count(F.lit(1)).alias("classes"),
        F.sum("records").alias("records"),
        F.coalesce(short, nobody).alias("uncovered"),
        blank_records(rows.names, nulls),
    )
    return how_nulls(rows, nulls, sized)


def _of_people(tables: Sequence[DataFrame], qi: Sequence[str], nulls: str, entity: str) -> DataFrame:
    """The same of people, each by their smallest class."""
    rows, population = as_the_same(*(rows_of_people(each, qi, entity, nulls) for each in tables))
    people = people_of(rows, nulls)
    own = sizes_of(people, rows.names, "own").drop("records")
    other = sizes_of(people_of(population, nulls), rows.names, "found").drop("records")
    right = keyed(other, rows.names)
    met = own.join(right, alike([F.col(name) for name in rows.names], right), "left").fillna(0, ["found"])
    sized = met.select(*rows.names, "own", "found", F.greatest("found", "own").alias("class_size"))
    met_by = told(people, sized, rows.names, short=F.col("found") < F.col("own"))
    return how_nulls(rows, nulls, met_by.withColumn("blank_records", blank_records(rows.names, nulls)))


def _met(own: DataFrame, other: DataFrame, names: Sequence[str]) -> DataFrame:
    """How many of the population, and of the sample itself, hold each distinct record."""
    right = keyed(other.withColumnRenamed("records", "population"), names)
    joined = own.join(right, alike([F.col(name) for name in names], right), "left")
    found = F.coalesce(F.col("population"), F.lit(0).cast("bigint")).alias("found")
    return joined.select("records", F.col("records").alias("own"), found)


def _matched(own: DataFrame, other: DataFrame, names: Sequence[str]) -> DataFrame:
    """The same where NULL may be any value."""
    mine, others = wildcard.distinct(own), wildcard.distinct(other)
    sizes = {
        "records": mine["records"],
        "own": wildcard.class_sizes(mine, mine, names),
        "found": wildcard.class_sizes(mine, others, names),
        **{name: mine[name] for name in names},
    }
    return to_spark(own.sparkSession, pa.table(sizes))
