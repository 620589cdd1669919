"""Spark: people in place of rows, where a column tells them apart."""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.domains import Columns
from reid_sql.engines.spark.counting import by_masks, kept, missing, own_names
from reid_sql.engines.spark.frames import Rows, alike, as_number, collected, column, keyed, resolved, rows_of
from reid_sql.reduction import refuse_entity, refuse_individuals, refuse_several

WORDS: Final = Columns("quasi-identifiers and entity")
WEIGHED: Final = Columns("quasi-identifiers, weight and entity")
BESIDE: Final = Columns("columns and entity")
VALUES: Final = Columns("quasi-identifiers, sensitive and entity")


def rows_of_people(
    tbl: DataFrame, qi: Sequence[str], entity: str, nulls: str, words: Columns = WORDS
) -> Rows:
    """The quasi-identifiers under numbers, with `entity` beside them."""
    refuse_entity(qi, entity, nulls)
    every = rows_of(tbl, [*qi, entity], words)
    return Rows(every.frame.withColumnRenamed(every.names[-1], "entity"), qi, every.found[:-1])


def people_of(rows: Rows, nulls: str) -> DataFrame:
    """The people of each class, NULL one of them, with how many of its records each has."""
    return kept(rows, nulls).groupBy(*rows.names, "entity").agg(F.count(F.lit(1)).alias("records"))


def individuals(
    tbl: DataFrame, qi: Sequence[str], entity: str, nulls: str, weight: str | None = None
) -> DataFrame:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order.

    Their smallest weight stands beside it, NULL where one of them is no number of at least 0.
    """
    refuse_individuals(qi, entity, nulls)
    rows = rows_of_people(tbl, qi, entity, nulls)
    people = people_of(rows, nulls)
    right = keyed(sizes_of(people, rows.names, "class_size").drop("records"), rows.names)
    met = people.join(right, alike([F.col(name) for name in rows.names], right))
    first = met.groupBy("entity").agg(F.min(F.struct("class_size", *rows.names)).alias("first"))
    own = (F.col(f"first.{q}").alias(name) for q, name in zip(rows.names, rows.given, strict=True))
    person = F.col("entity").alias(entity)
    if weight is None or weight in {*qi, entity}:
        return first.select(*own, person)
    weights = _weights(tbl, entity, weight)
    met = first.join(weights, first["entity"].eqNullSafe(weights["who"]))
    return met.select(*own, person, F.col("least").alias(weight))


def _weights(tbl: DataFrame, entity: str, weight: str) -> DataFrame:
    """The smallest weight of each person, NULL where one of them is no number of at least 0."""
    found, person = resolved(WEIGHED, [weight, entity], tbl)
    number = as_number(tbl, found)
    valid = F.when((number >= 0) & (number < float("inf")), number).alias("weight")
    least = F.when(F.count("weight") == F.count(F.lit(1)), F.min("weight")).alias("least")
    return tbl.select(column(person).alias("who"), valid).groupBy("who").agg(least)


def values_of_people(tbl: DataFrame, qi: Sequence[str], sensitive: str, entity: str, nulls: str) -> DataFrame:
    """A row for each person and their value in a class, NULL one person; refuses those of several there."""
    columns = [*qi, sensitive]
    refuse_entity(columns, entity, nulls)
    rows = rows_of(tbl, [*columns, entity], VALUES)
    distinct = rows.frame.distinct()
    held = distinct.filter(~missing(rows.names[:-1])) if nulls == "drop" else distinct
    counted = held.groupBy(*rows.names[:-2], rows.names[-1]).agg(F.count(F.lit(1)).alias("values"))
    refuse_several(collected(counted.filter("values > 1").limit(1), "people of several values").num_rows)
    return distinct.select(*own_names(rows)[:-1])


def sizes_of(people: DataFrame, names: Sequence[str], size: str) -> DataFrame:
    """How many people each class has, and how many records."""
    return people.groupBy(*names).agg(F.count(F.lit(1)).alias(size), F.sum("records").alias("records"))


def counts_of_people(people: DataFrame, names: Sequence[str], masks: DataFrame, *, drop: bool) -> DataFrame:
    """What each mask's columns tell of people, each by the smallest of their classes there."""
    found = by_masks(people, names, masks, "entity", drop=drop).localCheckpoint()
    held, by = found.filter(~F.col("aside")), ["mask", *names]
    sizes = held.groupBy(*by).agg(F.count(F.lit(1)).alias("class_size"))
    right = keyed(sizes, by)
    met = held.select(*by, "entity").join(right, alike([F.col(name) for name in by], right))
    least = F.min("class_size").alias("class_size")
    each = met.groupBy(held["mask"], "entity").agg(least).groupBy("mask", "class_size")
    counts = each.agg(F.count(F.lit(1)).alias("people")).groupBy("mask")
    size, number = F.col("class_size"), F.col("people")
    pairs = number.cast("decimal(19,0)") * (size - 1).cast("decimal(18,0)")
    told = counts.agg(
        F.sum(number).alias("records"),
        F.sum(number.cast("double") / size).alias("reidentifications"),
        F.sum(pairs).cast("decimal(38,0)").alias("pairs_alike"),
    )
    classes = sizes.groupBy("mask").agg(F.count(F.lit(1)).alias("classes"))
    left_out = F.sum(F.when(F.col("aside"), F.col("records"))).alias("records_dropped")
    return found.groupBy("mask").agg(left_out).join(told, "mask", "left").join(classes, "mask", "left")


def told(people: DataFrame, classes: DataFrame, names: Sequence[str], short: Column) -> DataFrame:
    """How many classes have each `class_size`, and how many people have it as their smallest.

    Some of the people are in a short class.
    """
    right = keyed(classes.select(*names, "class_size", short.alias("short")), names)
    met = people.select(*names, "entity").join(right, alike([F.col(name) for name in names], right))
    each = met.groupBy("entity").agg(
        F.min("class_size").alias("class_size"), F.bool_or("short").alias("short")
    )
    held = each.groupBy("class_size").agg(
        F.count(F.lit(1)).alias("records"), F.count_if("short").alias("uncovered")
    )
    counted = classes.groupBy("class_size").agg(F.count(F.lit(1)).alias("classes"))
    return counted.join(held, "class_size", "left").fillna(0, ["records", "uncovered"])
