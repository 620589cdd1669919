"""Polars: what a model of people is fitted to."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    class_columns,
    class_size,
    drop_nulls,
    null_report,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.groups import raw_rows_of_groups, report_groups
from reid_sql.engines.polars.pairs import bigint, pair_counts
from reid_sql.models.people.evidence import max_combinations
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.pairs.polars import outside, pairs
from reid_sql.reductions.people import DRAWN, MOST_DRAWN, SIZES


def people(
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    weight: str | None,
    marginals: pl.LazyFrame | None,
    seed: float,
    nulls: str,
    by: Sequence[str] | None = None,
) -> pl.LazyFrame:
    """Count values, pairs that are not too many, and class sizes; draw records by a hash of values."""
    if by is not None:
        return _of_groups(tbl, qi, weight, marginals, int(seed), nulls, by)
    counted = pairs(tbl, qi, weight, marginals, nulls).drop("cell", "records_dropped", "nulls")
    few = (pl.col("second") <= 0) | (pl.len().over("first", "second") <= max_combinations(len(qi)))
    every = check_columns(QUASI_IDENTIFIERS, qi if weight is None else [*qi, weight], tbl)
    rows, names = with_aliases(tbl, every, *class_columns(tbl)), aliases(every)
    own = aliases(qi)
    result = _lines(counted.filter(few), drop_nulls(rows, names, nulls), own, int(seed), ())
    return null_report(rows, names, nulls, with_row_numbers(result, "line"))


def _of_groups(
    tbl: pl.LazyFrame,
    qi: Sequence[str],
    weight: str | None,
    marginals: pl.LazyFrame | None,
    seed: int,
    nulls: str,
    by: Sequence[str],
) -> pl.LazyFrame:
    """The same of each group."""
    every = qi if weight is None else [*qi, weight]
    rows, _, groups = raw_rows_of_groups(tbl, every, by, nulls)
    taken = rows.filter("kept").drop("kept", "records")
    counted = pair_counts(taken, qi, weighted=weight is not None, groups=groups)
    if marginals is not None:
        shares = outside(marginals, qi, nulls)
        counted = pl.concat(
            [counted, taken.select(groups).unique().join(shares, how="cross")], how="diagonal"
        )
    few = (pl.col("second") <= 0) | (pl.len().over([*groups, "first", "second"]) <= max_combinations(len(qi)))
    result = _lines(counted.filter(few), taken, aliases(qi), seed, groups)
    return report_groups(rows, with_row_numbers(result, "line"), groups, by, nulls)


def _lines(
    pairs: pl.LazyFrame, taken: pl.LazyFrame, names: Sequence[str], seed: int, groups: Sequence[str]
) -> pl.LazyFrame:
    """The pairs, the sizes of classes and the records drawn."""
    classes = size_classes(taken, names, groups)
    people = pl.col("records").sum().cast(pl.Float64).alias("mass")
    sizes = classes.group_by([*groups, "class_size"]).agg(people).rename({"class_size": "records"})
    result = [
        pairs,
        sizes.with_columns(pl.col("mass") / pl.col("records")).with_columns(
            bigint(0, "first"), bigint(SIZES, "second")
        ),
        drawn(classes, names, seed, groups).with_columns(bigint(0, "first"), bigint(DRAWN, "second")),
    ]
    return pl.concat(result, how="diagonal")


def size_classes(taken: pl.LazyFrame, names: Sequence[str], groups: Sequence[str]) -> pl.LazyFrame:
    """The distinct records, with how many there are of each, and the sizes of their classes."""
    records = pl.len().cast(pl.Int64).alias("records")
    return taken.group_by([*groups, *names]).agg(records, class_size(taken))


def drawn(classes: pl.LazyFrame, names: Sequence[str], seed: int, groups: Sequence[str] = ()) -> pl.LazyFrame:
    """Records in a random order that the values and the seed decide, whatever order they are read in."""
    copies = classes.with_columns(pl.int_ranges(pl.col("records")).alias("copy")).explode(
        "copy", empty_as_null=False
    )
    key = pl.struct(*names, "copy").hash(seed).cast(pl.Float64) / 2.0**64
    texts = pl.concat_list(pl.col(name).cast(pl.String) for name in names)
    found = copies.select(
        *groups, pl.col("class_size").alias("records"), key.alias("mass"), texts.alias("texts")
    )
    if groups:
        return found.filter(pl.col("mass").rank("ordinal").over(groups) <= MOST_DRAWN)
    return found.bottom_k(MOST_DRAWN, by="mass")
