"""Polars: every subset of some columns, by its classes."""

from collections.abc import Sequence
from itertools import combinations

import polars as pl

from reid_sql.domains import COLUMNS
from reid_sql.engines.codes import dense_codes
from reid_sql.engines.polars.frames import counted, how_nulls, numbered, places, resolved, schema, sized
from reid_sql.models.classes.subset_counts import Distinct, refuse_memory, subset_counts, subsets_up_to
from reid_sql.reduction import HOW_NULLS
from reid_sql.reductions.subsets import QUERIES, SUBSETS


def subsets(
    tbl: pl.LazyFrame, columns: Sequence[str], max_size: int, nulls: str, memory_mb: int
) -> pl.LazyFrame:
    """For every subset of the columns, its classes and its pairs of records that are alike."""
    resolved(COLUMNS, columns, tbl)
    if subsets_up_to(len(columns), max_size) > QUERIES:
        return _many(tbl, columns, max_size, nulls, memory_mb)
    sizes = range(1, min(max_size, len(columns)) + 1)
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


def _many(
    tbl: pl.LazyFrame, columns: Sequence[str], max_size: int, nulls: str, memory_mb: int
) -> pl.LazyFrame:
    """Of many subsets, from the distinct records as codes, in bounded memory."""
    rows, names = numbered(tbl, columns), places(columns)
    types = schema({**SUBSETS.columns, **HOW_NULLS})

    def count(distinct: pl.DataFrame) -> pl.DataFrame:
        refuse_memory(distinct.height, len(columns), max_size, memory_mb)
        codes = [dense_codes(distinct, name) for name in names]
        table = Distinct(codes, distinct["records"].to_numpy())
        found = subset_counts(table, max_size, nulls, memory_mb)
        cells = [
            [[columns[place] for place in one.places] for one in found],
            *([getattr(one, name) for one in found] for name in ("records", "classes", "pairs", "dropped")),
            [nulls] * len(found),
        ]
        return pl.DataFrame(cells, schema=types)

    return counted(rows, names, "value").map_batches(count, schema=types)
