"""Polars: equivalence classes."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    blank_records,
    counted,
    null_report,
    numbered,
    places,
    resolved,
    sized,
)
from reid_sql.engines.polars.groups import of_groups, rows_of_groups
from reid_sql.engines.polars.keys import class_size
from reid_sql.engines.polars.people import people_of, smallest
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_result_names

__all__ = ["class_size", "classes", "histogram"]


def classes(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, entity: str | None = None) -> pl.LazyFrame:
    """The distinct combinations of values, with how many records, or people, share each."""
    names = places(qi)
    if entity is None:
        rows = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl))
        found = sized(counted(rows, names, nulls), names, nulls)
    else:
        rows, people = people_of(tbl, qi, entity, nulls)
        found = people.group_by(names).agg(
            pl.len().cast(pl.Int64).alias("class_size"), pl.col("records").sum()
        )
    refuse_result_names(qi)
    own = (pl.col(q).alias(name) for q, name in zip(names, qi, strict=True))
    return null_report(rows, names, nulls, found).select(
        *own, "class_size", "records", "records_dropped", "nulls"
    )


def histogram(
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    nulls: str,
    entity: str | None = None,
    by: Sequence[str] | None = None,
) -> pl.LazyFrame:
    """How many classes, and how many records, or people by their smallest class, have each class size."""
    if by is not None:
        return _of_groups(tbl, qi, nulls, entity, by)
    if entity is not None:
        return _of_people(tbl, qi, nulls, entity)
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    found = sized(counted(rows, names, nulls), names, nulls)
    reduced = found.group_by("class_size").agg(
        pl.len().cast(pl.Int64).alias("classes"), pl.col("records").sum(), blank_records(names, nulls)
    )
    return null_report(rows, names, nulls, reduced).sort("class_size")


def _of_people(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, entity: str) -> pl.LazyFrame:
    rows, people = people_of(tbl, qi, entity, nulls)
    names = places(qi)
    of_classes = people.group_by(names).agg(pl.len().cast(pl.Int64).alias("class_size"))
    sizes = of_classes.group_by("class_size").agg(pl.len().cast(pl.Int64).alias("classes"))
    held = smallest(people, pl.len().over(names).cast(pl.Int64)).drop("uncovered")
    both = sizes.join(held, on="class_size", how="left").with_columns(
        pl.col("records").fill_null(0), blank_records(names, nulls)
    )
    return null_report(rows, names, nulls, both).sort("class_size")


def _of_groups(
    tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, entity: str | None, by: Sequence[str]
) -> pl.LazyFrame:
    """The same of each group, all from one count by the columns and the groups."""
    counted, names, groups = rows_of_groups(tbl, qi, by, entity, nulls)
    told, kept = [*groups, "class_size"], counted.filter("kept")
    size, number = pl.len().cast(pl.Int64).alias("class_size"), pl.len().cast(pl.Int64)
    blank = blank_records(names, nulls)
    if entity is None:
        sized = kept.with_columns(pl.col("records").alias("class_size")).group_by(told)
        found = sized.agg(number.alias("classes"), pl.col("records").sum(), blank)
        return of_groups(counted, found, groups, by, nulls)
    classes = kept.group_by([*groups, *names]).agg(size).group_by(told).agg(number.alias("classes"))
    people = smallest(kept, size.over([*groups, *names]), groups=groups).drop("uncovered")
    both = classes.join(people, on=told, how="left", nulls_equal=True).with_columns(blank)
    return of_groups(counted, both, groups, by, nulls)
