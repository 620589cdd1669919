"""Polars: the sample's classes, by what a population table holds of them."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    blank_records,
    check_columns,
    count_distinct,
    drop_nulls,
    join_null_safe,
    match_wildcards,
    null_report,
    unify_types,
    with_aliases,
)
from reid_sql.engines.polars.groups import people_of, report_groups, rows_of_groups, smallest_class_sizes
from reid_sql.parameters import QUASI_IDENTIFIERS


def population_histogram(
    tbl: pl.LazyFrame,
    population_tbl: pl.LazyFrame,
    qi: Sequence[str],
    nulls: str,
    entity: str | None = None,
    by: Sequence[str] | None = None,
) -> pl.LazyFrame:
    """The histogram of the sample's records, or people, by the size of their class in the population."""
    if by is not None:
        return _of_groups((tbl, population_tbl), qi, nulls, entity, by)
    if entity is not None:
        return _one_row_per_person((tbl, population_tbl), qi, entity, nulls)
    frames = [
        with_aliases(frame, check_columns(QUASI_IDENTIFIERS, qi, frame)) for frame in (tbl, population_tbl)
    ]
    (rows, population), names = unify_types(frames, qi), aliases(qi)
    own, other = count_distinct(rows, names, nulls), count_distinct(population, names, nulls)
    if nulls == "wildcard":
        own = match_wildcards(own, own, names, "own")
        matched = match_wildcards(
            own, other.with_columns(pl.lit(0, dtype=pl.Int64).alias("own")), names, "in_population"
        )
    else:
        joined = join_null_safe(own, other.rename({"records": "in_population"}), names)
        matched = joined.with_columns(pl.col("in_population").fill_null(0), pl.col("records").alias("own"))
    uncovered = pl.col("records").filter(pl.col("in_population") < pl.col("own")).sum().alias("uncovered")
    blank = blank_records(names, nulls)
    grouped = matched.group_by(pl.max_horizontal("in_population", "own").alias("class_size"))
    reduced = grouped.agg(pl.len().cast(pl.Int64).alias("classes"), pl.col("records").sum(), uncovered, blank)
    return null_report(rows, names, nulls, reduced).sort("class_size")


def _one_row_per_person(
    frames: Sequence[pl.LazyFrame], qi: Sequence[str], entity: str, nulls: str
) -> pl.LazyFrame:
    """The same of people, each by their smallest class."""
    (rows, own), (_, other) = (people_of(frame, qi, entity, nulls) for frame in frames)
    people, others = unify_types([own, other], qi)
    names = aliases(qi)
    class_people = others.group_by(names).agg(pl.len().cast(pl.Int64).alias("in_population"))
    joined = join_null_safe(people, class_people, names).with_columns(
        pl.col("in_population").fill_null(0), pl.len().over(names).cast(pl.Int64).alias("own")
    )
    size = pl.max_horizontal("in_population", "own")
    sizes = joined.select(*names, size.alias("class_size")).unique().group_by("class_size")
    of_people = smallest_class_sizes(joined, size, pl.col("in_population") < pl.col("own"))
    both = sizes.agg(pl.len().cast(pl.Int64).alias("classes")).join(of_people, on="class_size", how="left")
    reduced = both.with_columns(pl.col("records", "uncovered").fill_null(0), blank_records(names, nulls))
    return null_report(rows, names, nulls, reduced).sort("class_size")


def _of_groups(
    tables: Sequence[pl.LazyFrame], qi: Sequence[str], nulls: str, entity: str | None, by: Sequence[str]
) -> pl.LazyFrame:
    """The same of each group of the sample, each against the whole population."""
    sample, names, groups = rows_of_groups(tables[0], qi, by, entity, nulls)
    counted, others = unify_types([sample, _population(tables[1], qi, nulls, entity)], qi)
    sizes_by, blank = [*groups, "class_size"], blank_records(names, nulls)
    own = (pl.col("records") if entity is None else pl.len()).over([*groups, *names]).cast(pl.Int64)
    class_sizes = others.group_by(names).agg(pl.len().cast(pl.Int64).alias("in_population"))
    joined = join_null_safe(counted.filter("complete").with_columns(own.alias("own")), class_sizes, names)
    size, short = pl.max_horizontal("in_population", "own"), pl.col("in_population") < pl.col("own")
    sized = joined.with_columns(pl.col("in_population").fill_null(0)).with_columns(size.alias("class_size"))
    number = pl.len().cast(pl.Int64).alias("classes")
    if entity is None:
        uncovered = pl.col("records").filter(short).sum().alias("uncovered")
        class_sizes = sized.group_by(sizes_by).agg(number, pl.col("records").sum(), uncovered, blank)
    else:
        classes = sized.select(*sizes_by, *names).unique().group_by(sizes_by).agg(number)
        people = smallest_class_sizes(sized, pl.col("class_size"), short, groups)
        class_sizes = classes.join(people, on=sizes_by, how="left", nulls_equal=True).with_columns(blank)
    return report_groups(counted, class_sizes, groups, by, nulls)


def _population(frame: pl.LazyFrame, qi: Sequence[str], nulls: str, entity: str | None) -> pl.LazyFrame:
    """The population's records, or its people in each class."""
    if entity is not None:
        return people_of(frame, qi, entity, nulls)[1]
    return drop_nulls(with_aliases(frame, check_columns(QUASI_IDENTIFIERS, qi, frame)), aliases(qi), nulls)
