"""Spark: people in place of rows, where a column names them, and groups of a table.

Each group is counted by itself, all of them in one pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.counting import any_null, class_columns, drop_nulls, group_by_masks
from reid_sql.engines.spark.frames import (
    Rows,
    as_number,
    column,
    fetch,
    read_rows,
    resolve_columns,
    same_key,
    same_values,
    with_key,
)
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns, order_by_name
from reid_sql.reduction import (
    CLASS_PEOPLE,
    CLASS_WEIGHT,
    DIVIDING,
    PERSON,
    group_names,
    refuse_entity,
    refuse_groups,
    refuse_one_row_per_person,
    refuse_several,
)

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")
QI_WEIGHT_AND_ENTITY: Final = Columns("quasi-identifiers, weight and entity")
COLUMNS_AND_ENTITY: Final = Columns("columns and entity")
QI_SENSITIVE_AND_ENTITY: Final = Columns("quasi-identifiers, sensitive and entity")
# 0 of a group of which every record was dropped
COUNTS: Final = ("classes", "records", "uncovered")


def read_people(
    tbl: DataFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    label: Columns = QI_AND_ENTITY,
    **groups: Column,
) -> Rows:
    """Read the quasi-identifiers under aliases, with `entity` and the groups."""
    refuse_entity(qi, entity, nulls)
    every = read_rows(tbl, [*qi, entity], label, **groups)
    return Rows(
        every.frame.withColumnRenamed(every.names[-1], "entity"), qi, every.table_names[:-1]
    )


def count_people(rows: Rows, nulls: str, groups: Sequence[str] = ()) -> DataFrame:
    """The people of each class, with how many of its records each has."""
    return (
        drop_nulls(rows, nulls)
        .groupBy(*rows.names, *groups, "entity")
        .agg(F.count(F.lit(1)).alias("records"))
    )


def one_row_per_person(
    tbl: DataFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    weight: str | None = None,
) -> DataFrame:
    """A row a person: the values of their smallest class, of several the first by the columns' names.

    Where there are groups, a row a person in each. Their smallest weight is joined, NULL where one of
    them is no number of at least 0. Each row has how many people its class has, and the sum of their weights.
    """
    refuse_one_row_per_person(qi, entity, nulls)
    groups = _group_columns(by)
    rows = read_people(tbl, qi, entity, nulls, QI_AND_ENTITY, **groups)
    people, own = count_people(rows, nulls, tuple(groups)), [*rows.names, *groups]
    sums, more = [F.count(F.lit(1)).alias("class_size")], ["class_size"]
    if weight is not None and weight not in {*qi, *by, entity}:
        least = _weights(tbl, entity, weight, groups)
        people = people.join(*same_values(people, least, ["entity", *groups])).localCheckpoint()
        positive = F.when(F.col("least") > 0, F.col("least")).otherwise(float("nan"))
        sums, more = (
            [*sums, F.sum(positive).alias("class_weight")],
            [*more, "class_weight", "least"],
        )
    right = with_key(people.groupBy(*own).agg(*sums), own)
    sized = people.join(right, same_key([F.col(name) for name in own], right))
    in_order = [rows.names[place] for place in order_by_name(qi)]
    first = F.min(F.struct("class_size", *in_order, *more[1:])).alias("first")
    first_rows = sized.groupBy(*groups, "entity").agg(first)
    values = {name: F.col(f"first.{q}") for q, name in zip(rows.names, rows.given, strict=True)}
    person = (
        [] if entity.lower() in {each.lower() for each in by} else [F.col("entity").alias(entity)]
    )
    names = {"class_size": CLASS_PEOPLE, "class_weight": CLASS_WEIGHT, "least": weight}
    counts = (F.col(f"first.{each}").alias(str(names[each])) for each in more)
    return first_rows.select(*_named(values, groups, by), *person, *counts)


def _weights(tbl: DataFrame, entity: str, weight: str, groups: Mapping[str, Column]) -> DataFrame:
    """The smallest weight of each person in each group, NULL where one of them is no number of at least 0."""
    weighted, person = resolve_columns(QI_WEIGHT_AND_ENTITY, [weight, entity], tbl)
    number = as_number(tbl, weighted)
    valid = F.when((number >= 0) & (number < float("inf")), number).alias("weight")
    least = F.when(F.count("weight") == F.count(F.lit(1)), F.min("weight")).alias("least")
    own = [column(person).alias("entity"), *(each.alias(name) for name, each in groups.items())]
    return tbl.select(*own, valid).groupBy("entity", *groups).agg(least)


def _group_columns(by: Sequence[str]) -> dict[str, Column]:
    return {f"g{place}": column(name) for place, name in enumerate(by, 1)}


def _named(
    columns: dict[str, Column], groups: Mapping[str, Column], by: Sequence[str]
) -> list[Column]:
    """The columns by their names, and those of the groups that are not among them."""
    known = {name.lower() for name in columns}
    others = {
        name: F.col(place)
        for place, name in zip(groups, by, strict=True)
        if name.lower() not in known
    }
    return [own.alias(name) for name, own in (columns | others).items()]


def one_row_per_value(  # noqa: PLR0917 - the arguments of the functions
    tbl: DataFrame,
    qi: Sequence[str],
    sensitive: str,
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    of_shares: bool = False,
) -> DataFrame:
    """A row for each person and their value in a class; refuses those of several there.

    Columns that divide the table are part of a class. Refuses people of several in the table, or in a group
    of it, where its shares are asked for.
    """
    columns, groups = [*qi, sensitive], _group_columns(by)
    refuse_entity(columns, entity, nulls)
    rows = read_rows(tbl, [*columns, entity], QI_SENSITIVE_AND_ENTITY, **groups)
    distinct = rows.frame.distinct()
    counted = distinct.filter(~any_null(rows.names[:-1])) if nulls == "drop" else distinct
    within = [*groups, *([] if of_shares else rows.names[:-2]), rows.names[-1]]
    persons = counted.select(*within, rows.names[-2]).distinct().groupBy(*within)
    several = persons.agg(F.count(F.lit(1)).alias("values")).filter("values > 1").limit(1)
    refuse_several(fetch(several, "people of several values").num_rows, of_shares=of_shares)
    values = {name: F.col(q) for q, name in zip(rows.names, columns, strict=False)}
    return distinct.select(*_named(values, groups, by), F.col(rows.names[-1]).alias(PERSON))


def size_classes(people: DataFrame, names: Sequence[str], size: str) -> DataFrame:
    """How many people each class has, and how many records."""
    return people.groupBy(*names).agg(
        F.count(F.lit(1)).alias(size), F.sum("records").alias("records")
    )


def count_people_of_masks(
    people: DataFrame, names: Sequence[str], masks: DataFrame, *, drop: bool
) -> DataFrame:
    """Count for each mask its classes and its people, each person by the smallest of their classes."""
    mask_counts = group_by_masks(people, names, masks, "entity", drop=drop).localCheckpoint()
    people, by = mask_counts.filter(~F.col("aside")), ["mask", *names]
    sizes = people.groupBy(*by).agg(F.count(F.lit(1)).alias("class_size"))
    right = with_key(sizes, by)
    sized = people.select(*by, "entity").join(right, same_key([F.col(name) for name in by], right))
    least = F.min("class_size").alias("class_size")
    each = sized.groupBy(people["mask"], "entity").agg(least).groupBy("mask", "class_size")
    counts = each.agg(F.count(F.lit(1)).alias("people")).groupBy("mask")
    size, number = F.col("class_size"), F.col("people")
    pairs = number.cast("decimal(19,0)") * (size - 1).cast("decimal(18,0)")
    sums = counts.agg(
        F.sum(number).alias("records"),
        F.sum(number.cast("double") / size).alias("reidentifications"),
        F.sum(pairs).cast("decimal(38,0)").alias("pairs_alike"),
        F.sum(F.when(size == 1, number)).alias("unique_records"),
    )
    classes = sizes.groupBy("mask").agg(F.count(F.lit(1)).alias("classes"))
    left_out = F.sum(F.when(F.col("aside"), F.col("records"))).alias("records_dropped")
    return (
        mask_counts.groupBy("mask")
        .agg(left_out)
        .join(sums, "mask", "left")
        .join(classes, "mask", "left")
    )


def smallest_classes(
    people: DataFrame,
    classes: DataFrame,
    names: Sequence[str],
    short: Column,
    groups: Sequence[str] = (),
) -> DataFrame:
    """How many classes have each `class_size`, and how many people have it as their smallest.

    Some of the people are in a short class. Where there are groups, it is within each.
    """
    own, size = [*names, *groups], [*groups, "class_size"]
    right = with_key(classes.select(*own, "class_size", short.alias("short")), own)
    sized = people.select(*own, "entity").join(
        right, same_key([F.col(name) for name in own], right)
    )
    each = sized.groupBy(*groups, "entity").agg(
        F.min("class_size").alias("class_size"), F.bool_or("short").alias("short")
    )
    persons = each.groupBy(*size).agg(
        F.count(F.lit(1)).alias("records"), F.count_if("short").alias("uncovered")
    )
    counted = classes.groupBy(*size).agg(F.count(F.lit(1)).alias("classes"))
    both = counted.join(*same_values(counted, persons, size), "left").select(
        *size, "classes", "records", "uncovered"
    )
    return both.fillna(0, ["records", "uncovered"])


@dataclass(frozen=True)
class GroupCounts:
    """The distinct rows with their counts, and which are `complete`; people are `entity`."""

    rows: DataFrame
    names: Sequence[str]  # of the columns
    groups: Sequence[str]
    by: Sequence[str]  # the groups' own names
    nulls: str

    @property
    def complete(self) -> DataFrame:
        """The rows that are counted: those without a NULL, where these are dropped."""
        return self.rows.filter("complete")

    def report(self, sized: DataFrame) -> DataFrame:
        """Join to every group what was counted of it, and how many of its records were dropped."""
        left_out = F.sum(F.when(F.col("complete"), 0).otherwise(F.col("records"))).alias(
            "records_dropped"
        )
        every = self.rows.groupBy(*self.groups).agg(left_out)
        joined = every.join(*same_values(every, sized, self.groups), "left")
        named = zip(self.groups, group_names(self.by), strict=True)
        own = (F.col(group).alias(name) for group, name in named)
        counts = [name for name in sized.columns if name not in self.groups]
        filled = joined.fillna(0, [name for name in counts if name in COUNTS])
        return filled.select(*own, *counts, "records_dropped", F.lit(self.nulls).alias("nulls"))


def name_groups(reduced: DataFrame, by: Sequence[str]) -> DataFrame:
    """Give the columns of the groups their own names, where no column of ours can clash with them."""
    own = dict(zip(group_names(by), by, strict=True))
    return reduced.select(*(column(name).alias(own.get(name, name)) for name in reduced.columns))


def resolve_groups(tbl: DataFrame, by: Sequence[str], nulls: str) -> list[str]:
    """Find the columns whose values divide the table, or refuse them."""
    resolved = resolve_columns(DIVIDING, by, tbl)
    refuse_groups(nulls)
    return resolved


def read_groups(  # noqa: PLR0917 - a table, what is counted of it, and how
    tbl: DataFrame,
    columns: Sequence[str],
    by: Sequence[str],
    entity: str | None,
    nulls: str,
    label: Columns = QUASI_IDENTIFIERS,
) -> Rows:
    """Read the columns under aliases, after those of the groups and of the people, if any."""
    refuse_entity(columns, entity, nulls)
    resolved = resolve_groups(tbl, by, nulls)
    groups = {place: column(name) for place, name in zip(_group_aliases(by), resolved, strict=True)}
    people = (
        {}
        if entity is None
        else {"entity": column(resolve_columns(QI_AND_ENTITY, [*columns, entity], tbl)[-1])}
    )
    return read_rows(tbl, columns, label, **groups, **people, **class_columns(tbl))


def count_groups(rows: Rows, by: Sequence[str], nulls: str) -> GroupCounts:
    """Count the rows by all of their columns."""
    counted = rows.frame.groupBy(*rows.frame.columns).agg(F.count(F.lit(1)).alias("records"))
    complete = ~any_null(rows.names) if nulls == "drop" else F.lit(True)  # noqa: FBT003 - a literal
    return GroupCounts(
        counted.withColumn("complete", complete), rows.names, _group_aliases(by), by, nulls
    )


def _group_aliases(by: Sequence[str]) -> list[str]:
    return [f"g{place}" for place in range(1, len(by) + 1)]
