"""Polars: people in place of rows, where a column tells them apart."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from reid_sql.engines.polars.frames import kept, named, numbered, places, resolved
from reid_sql.parameters import Columns
from reid_sql.reduction import apart, refuse_entity, refuse_one_row_per_person, refuse_several

WORDS: Final = Columns("quasi-identifiers and entity")
WEIGHED: Final = Columns("quasi-identifiers, weight and entity")
BESIDE: Final = Columns("columns and entity")
VALUES: Final = Columns("quasi-identifiers, sensitive and entity")
COVERED: Final = pl.lit(False)  # noqa: FBT003 - nobody is missing from a population that is not asked


def people_of(
    frame: pl.LazyFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    words: Columns = WORDS,
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The rows under numbers, and the people of each class, NULL one, with the records of each there.

    The records are those of the person in the class. Columns that divide the table tell classes apart too.
    """
    refuse_entity(qi, entity, nulls)
    own = apart(qi, by)
    names = places([*own, entity])
    resolved(words, [*qi, entity], frame)
    rows = numbered(frame, [*own, entity]).rename({names[-1]: "entity"})
    held = kept(rows, names[: len(qi)], nulls).group_by([*names[:-1], "entity"])
    return rows, held.agg(pl.len().cast(pl.Int64).alias("records"))


def individuals(
    frame: pl.LazyFrame,
    qi: Sequence[str],
    entity: str,
    nulls: str,
    by: Sequence[str] = (),
    *,
    weight: str | None = None,
) -> pl.LazyFrame:
    """A row a person, NULL one of them: the values of their smallest class, of several the first in order.

    Where there are groups, a row a person in each. Their smallest weight stands beside it, NULL where one of
    them is no number of at least 0.
    """
    refuse_one_row_per_person(qi, entity, nulls)
    _, people = people_of(frame, qi, entity, nulls, by)
    own = apart(qi, by)
    names = places(own)
    within = [q for q, name in zip(names, own, strict=True) if name in by]
    sized = people.with_columns(pl.len().over(names).alias("class_size")).sort(
        "class_size", *names, nulls_last=False
    )
    first = sized.unique([*within, "entity"], keep="first", maintain_order=True)
    values = [pl.col(q).alias(name) for q, name in zip(names, own, strict=True)]
    told = first.select(*values, *([] if entity in own else [pl.col("entity").alias(entity)]))
    return told if weight is None or weight in {*own, entity} else _weighed(told, frame, entity, weight, by)


def _weighed(
    told: pl.LazyFrame, frame: pl.LazyFrame, entity: str, weight: str, by: Sequence[str]
) -> pl.LazyFrame:
    """The people with their smallest weight beside them, in each group."""
    resolved(WEIGHED, [weight, entity], frame)
    number = named(weight).cast(pl.Float64, strict=False)
    valid = pl.when(number.is_finite() & (number >= 0)).then(number).alias(weight)
    least = pl.when(named(weight).is_not_null().all()).then(named(weight).min()).alias(weight)
    alike = [named(name) for name in apart([entity], by)]
    weights = frame.select(*alike, valid).group_by(alike).agg(least)
    return told.join(weights, on=alike, how="left", nulls_equal=True, maintain_order="left")


def values_of_people(  # noqa: PLR0917 - the arguments of the functions
    frame: pl.LazyFrame, qi: Sequence[str], sensitive: str, entity: str, nulls: str, by: Sequence[str] = ()
) -> pl.LazyFrame:
    """A row for each person and their value in a class, NULL one person; refuses those of several there.

    Columns that divide the table tell classes apart too.
    """
    refuse_entity([*qi, sensitive], entity, nulls)
    resolved(VALUES, [*qi, sensitive, entity], frame)
    columns = apart([*qi, sensitive], by)
    names = places([*columns, entity])
    distinct = numbered(frame, [*columns, entity]).group_by(names).agg()
    asked = names[: len(qi) + 1]
    whole = pl.all_horizontal(pl.col(asked).is_not_null()).sum() if nulls == "drop" else pl.len()
    own = [name for name in names if name != asked[-1] or columns[len(qi)] in by]
    counted = distinct.with_columns(whole.over(own).alias("several"))

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        refuse_several(rows.filter(pl.col("several") > 1).height)
        return rows

    told = counted.map_batches(check, schema=counted.collect_schema())
    return told.select(pl.col(q).alias(name) for q, name in zip(names, columns, strict=False))


def smallest(
    people: pl.LazyFrame, size: pl.Expr, short: pl.Expr = COVERED, groups: Sequence[str] = ()
) -> pl.LazyFrame:
    """How many people have each size of their smallest class, and how many of them are uncovered.

    It is their smallest class where they are found, within the group where there are groups.
    """
    sized = people.select(*groups, "entity", size.alias("class_size"), short.alias("short"))
    each = sized.group_by(*groups, "entity").agg(pl.col("class_size").min(), pl.col("short").any())
    told = pl.len().cast(pl.Int64).alias("records"), pl.col("short").sum().cast(pl.Int64).alias("uncovered")
    return each.group_by(*groups, "class_size").agg(*told)
