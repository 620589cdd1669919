"""Spark: people in place of rows, where a column tells them apart."""

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import by_masks, kept, missing
from reid_sql.engines.spark.frames import (
    Rows,
    alike,
    as_number,
    collected,
    column,
    keyed,
    resolved,
    rows_of,
    same,
)
from reid_sql.parameters import Columns
from reid_sql.reduction import refuse_entity, refuse_one_row_per_person, refuse_several

WORDS: Final = Columns("quasi-identifiers and entity")
WEIGHED: Final = Columns("quasi-identifiers, weight and entity")
BESIDE: Final = Columns("columns and entity")
VALUES: Final = Columns("quasi-identifiers, sensitive and entity")


def rows_of_people(
    tbl: DataFrame, qi: Sequence[str], entity: str, nulls: str, words: Columns = WORDS, **groups: Column
) -> Rows:
    """The quasi-identifiers under numbers, with `entity` beside them, and groups."""
    refuse_entity(qi, entity, nulls)
    every = rows_of(tbl, [*qi, entity], words, **groups)
    return Rows(every.frame.withColumnRenamed(every.names[-1], "entity"), qi, every.found[:-1])


def people_of(rows: Rows, nulls: str, groups: Sequence[str] = ()) -> DataFrame:
    """The people of each class, NULL one of them, with how many of its records each has."""
    return kept(rows, nulls).groupBy(*rows.names, *groups, "entity").agg(F.count(F.lit(1)).alias("records"))


def individuals(
    tbl: DataFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    weight: str | None = None,
) -> DataFrame:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order.

    Where there are groups, a row a person in each. Their smallest weight stands beside it, NULL where one of
    them is no number of at least 0.
    """
    refuse_one_row_per_person(qi, entity, nulls)
    groups = _groups(by)
    rows = rows_of_people(tbl, qi, entity, nulls, WORDS, **groups)
    people, own = people_of(rows, nulls, tuple(groups)), [*rows.names, *groups]
    right = keyed(sizes_of(people, own, "class_size").drop("records"), own)
    met = people.join(right, alike([F.col(name) for name in own], right))
    first = met.groupBy(*groups, "entity").agg(F.min(F.struct("class_size", *rows.names)).alias("first"))
    values = {name: F.col(f"first.{q}") for q, name in zip(rows.names, rows.given, strict=True)}
    named = _named(values, groups, by)
    person = [] if entity.lower() in {each.lower() for each in by} else [F.col("entity").alias(entity)]
    if weight is None or weight in {*qi, *by, entity}:
        return first.select(*named, *person)
    weighed = first.join(*same(first, _weights(tbl, entity, weight, groups), ["entity", *groups]))
    return weighed.select(*named, *person, F.col("least").alias(weight))


def _weights(tbl: DataFrame, entity: str, weight: str, groups: Mapping[str, Column]) -> DataFrame:
    """The smallest weight of each person in each group, NULL where one of them is no number of at least 0."""
    found, person = resolved(WEIGHED, [weight, entity], tbl)
    number = as_number(tbl, found)
    valid = F.when((number >= 0) & (number < float("inf")), number).alias("weight")
    least = F.when(F.count("weight") == F.count(F.lit(1)), F.min("weight")).alias("least")
    own = [column(person).alias("entity"), *(each.alias(name) for name, each in groups.items())]
    return tbl.select(*own, valid).groupBy("entity", *groups).agg(least)


def _groups(by: Sequence[str]) -> dict[str, Column]:
    return {f"g{place}": column(name) for place, name in enumerate(by, 1)}


def _named(columns: dict[str, Column], groups: Mapping[str, Column], by: Sequence[str]) -> list[Column]:
    """The columns by their names, and those of the groups that are not among them."""
    known = {name.lower() for name in columns}
    others = {name: F.col(place) for place, name in zip(groups, by, strict=True) if name.lower() not in known}
    return [own.alias(name) for name, own in (columns | others).items()]


def values_of_people(  # noqa: PLR0917 - the arguments of the functions
    tbl: DataFrame, qi: Sequence[str], sensitive: str, entity: str, nulls: str, by: Sequence[str] = ()
) -> DataFrame:
    """A row for each person and their value in a class, NULL one person; refuses those of several there.

    Columns that divide the table tell classes apart too.
    """
    columns, groups = [*qi, sensitive], _groups(by)
    refuse_entity(columns, entity, nulls)
    rows = rows_of(tbl, [*columns, entity], VALUES, **groups)
    distinct = rows.frame.distinct()
    held = distinct.filter(~missing(rows.names[:-1])) if nulls == "drop" else distinct
    alone = held.groupBy(*groups, *rows.names[:-2], rows.names[-1])
    several = alone.agg(F.count(F.lit(1)).alias("values")).filter("values > 1").limit(1)
    refuse_several(collected(several, "people of several values").num_rows)
    values = {name: F.col(q) for q, name in zip(rows.names, columns, strict=False)}
    return distinct.select(*_named(values, groups, by))


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


def told(
    people: DataFrame, classes: DataFrame, names: Sequence[str], short: Column, groups: Sequence[str] = ()
) -> DataFrame:
    """How many classes have each `class_size`, and how many people have it as their smallest.

    Some of the people are in a short class. Where there are groups, it is within each.
    """
    own, size = [*names, *groups], [*groups, "class_size"]
    right = keyed(classes.select(*own, "class_size", short.alias("short")), own)
    met = people.select(*own, "entity").join(right, alike([F.col(name) for name in own], right))
    each = met.groupBy(*groups, "entity").agg(
        F.min("class_size").alias("class_size"), F.bool_or("short").alias("short")
    )
    held = each.groupBy(*size).agg(F.count(F.lit(1)).alias("records"), F.count_if("short").alias("uncovered"))
    counted = classes.groupBy(*size).agg(F.count(F.lit(1)).alias("classes"))
    both = counted.join(*same(counted, held, size), "left").select(*size, "classes", "records", "uncovered")
    return both.fillna(0, ["records", "uncovered"])
