"""Polars: people in place of rows, where a column tells them apart."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from reid_sql.domains import Columns
from reid_sql.engines.polars.frames import kept, named, numbered, places, resolved
from reid_sql.reduction import refuse_entity, refuse_individuals, refuse_several

WORDS: Final = Columns("quasi-identifiers and entity")
WEIGHED: Final = Columns("quasi-identifiers, weight and entity")
BESIDE: Final = Columns("columns and entity")
VALUES: Final = Columns("quasi-identifiers, sensitive and entity")
COVERED: Final = pl.lit(False)  # noqa: FBT003 - nobody is missing from a population that is not asked


def people_of(
    frame: pl.LazyFrame, qi: Sequence[str], entity: str, nulls: str, words: Columns = WORDS
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The rows under numbers, and the people of each class, NULL one, with the records of each there.

    The records are those of the person in the class.
    """
    refuse_entity(qi, entity, nulls)
    names = places([*qi, entity])
    rows = numbered(frame, resolved(words, [*qi, entity], frame)).rename({names[-1]: "entity"})
    held = kept(rows, names[:-1], nulls).group_by([*names[:-1], "entity"])
    return rows, held.agg(pl.len().cast(pl.Int64).alias("records"))


def individuals(
    frame: pl.LazyFrame, qi: Sequence[str], entity: str, nulls: str, weight: str | None = None
) -> pl.LazyFrame:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order.

    Their smallest weight stands beside it, NULL where one of them is no number of at least 0.
    """
    refuse_individuals(qi, entity, nulls)
    _, people = people_of(frame, qi, entity, nulls)
    names = places(qi)
    sized = people.with_columns(pl.len().over(names).alias("class_size")).sort(
        "class_size", *names, nulls_last=False
    )
    first = sized.unique("entity", keep="first", maintain_order=True)
    own = (pl.col(q).alias(name) for q, name in zip(names, qi, strict=True))
    told = first.select(*own, pl.col("entity").alias(entity))
    if weight is None or weight in {*qi, entity}:
        return told
    resolved(WEIGHED, [weight, entity], frame)
    number = named(weight).cast(pl.Float64, strict=False)
    valid = pl.when(number.is_finite() & (number >= 0)).then(number).alias(weight)
    least = pl.when(named(weight).is_not_null().all()).then(named(weight).min()).alias(weight)
    weights = frame.select(named(entity), valid).group_by(named(entity)).agg(least)
    return told.join(weights, on=named(entity), how="left", nulls_equal=True, maintain_order="left")


def values_of_people(
    frame: pl.LazyFrame, qi: Sequence[str], sensitive: str, entity: str, nulls: str
) -> pl.LazyFrame:
    """A row for each person and their value in a class, NULL one person; refuses those of several there."""
    columns = [*qi, sensitive]
    refuse_entity(columns, entity, nulls)
    names = places([*columns, entity])
    found = resolved(VALUES, [*columns, entity], frame)
    distinct = numbered(frame, found).group_by(names).agg()
    whole = pl.all_horizontal(pl.col(names[:-1]).is_not_null()).sum() if nulls == "drop" else pl.len()
    counted = distinct.with_columns(whole.over([*names[:-2], names[-1]]).alias("several"))

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        refuse_several(rows.filter(pl.col("several") > 1).height)
        return rows

    told = counted.map_batches(check, schema=counted.collect_schema())
    return told.select(pl.col(q).alias(name) for q, name in zip(names, columns, strict=False))


def smallest(people: pl.LazyFrame, size: pl.Expr, short: pl.Expr = COVERED) -> pl.LazyFrame:
    """How many people have each size of their smallest class, and how many of them are uncovered.

    It is their smallest class where they are found.
    """
    sized = people.select("entity", size.alias("class_size"), short.alias("short"))
    each = sized.group_by("entity").agg(pl.col("class_size").min(), pl.col("short").any())
    told = pl.len().cast(pl.Int64).alias("records"), pl.col("short").sum().cast(pl.Int64).alias("uncovered")
    return each.group_by("class_size").agg(*told)
