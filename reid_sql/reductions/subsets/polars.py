"""Polars: every subset of some columns, by its classes."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import polars as pl

from reid_sql.domains import COLUMNS
from reid_sql.engines.polars.frames import counted, how_nulls, numbered, places, resolved, sized
from reid_sql.reductions.subsets import refuse_subsets


def subsets(tbl: pl.LazyFrame, columns: Sequence[str], max_size: int, nulls: str) -> pl.LazyFrame:
    """For every subset of the columns, its classes and its pairs of records that are alike."""
    resolved(COLUMNS, columns, tbl)
    sizes = range(1, min(max_size, len(columns)) + 1)
    refuse_subsets(sum(comb(len(columns), size) for size in sizes))
    chosen = (subset for size in sizes for subset in combinations(columns, size))
    return pl.concat([_subset(tbl, subset, nulls) for subset in chosen])


def _subset(tbl: pl.LazyFrame, subset: Sequence[str], nulls: str) -> pl.LazyFrame:
    rows, names = numbered(tbl, subset), places(subset)
    alike = (pl.col("records").cast(pl.Int128) * (pl.col("class_size") - 1)).sum().alias("pairs_alike")
    reduced = sized(counted(rows, names, nulls), names, nulls).select(
        pl.lit(list(subset), dtype=pl.List(pl.String)).alias("subset"),
        pl.col("records").sum(),
        pl.len().cast(pl.Int64).alias("classes"),
        alike,
    )
    return how_nulls(rows, names, nulls, reduced)
