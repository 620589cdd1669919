"""Polars: every subset of some columns, by its classes."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from reid_sql.engines.codes import dense_codes
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    count_distinct,
    map_whole,
    null_report,
    schema,
    with_aliases,
    with_class_sizes,
)
from reid_sql.engines.polars.groups import COLUMNS_AND_ENTITY, people_of
from reid_sql.models.classes.partitions import DistinctRecords
from reid_sql.models.classes.subset_counts import (
    count_subset_classes,
    count_subsets,
    require_memory_for_subsets,
)
from reid_sql.parameters import COLUMNS
from reid_sql.reduction import NULL_REPORT_COLUMNS, refuse_entity
from reid_sql.reductions.subsets import QUERIES, SUBSETS


def subsets(
    tbl: pl.LazyFrame,
    columns: Sequence[str],
    max_size: int,
    nulls: str,
    memory_mb: int,
    entity: str | None = None,
) -> pl.LazyFrame:
    """For every subset of the columns, its classes and its pairs of records that are alike."""
    check_columns(COLUMNS, columns, tbl)
    refuse_entity(columns, entity, nulls)
    if count_subsets(len(columns), max_size) > QUERIES:
        return _many(tbl, columns, max_size, nulls, memory_mb, entity)
    sizes = range(1, min(max_size, len(columns)) + 1)
    chosen = (subset for size in sizes for subset in combinations(columns, size))
    if entity is not None:
        return pl.concat([_one_row_per_person(tbl, subset, entity, nulls) for subset in chosen])
    return pl.concat([_subset(tbl, subset, nulls) for subset in chosen])


def _one_row_per_person(tbl: pl.LazyFrame, subset: Sequence[str], entity: str, nulls: str) -> pl.LazyFrame:
    """The same of people, each by the smallest of their classes."""
    rows, people = people_of(tbl, subset, entity, nulls, words=COLUMNS_AND_ENTITY)
    names = aliases(subset)
    size, first = pl.len().over(names), pl.int_range(pl.len()).over(names) == 0
    sized = people.select("entity", size.cast(pl.Int64).alias("class_size"), first.alias("first"))
    each = sized.group_by("entity").agg(pl.col("class_size").min(), pl.col("first").sum())
    reduced = each.select(
        pl.lit(list(subset), dtype=pl.List(pl.String)).alias("subset"),
        pl.len().cast(pl.Int64).alias("records"),
        pl.col("first").sum().cast(pl.Int64).alias("classes"),
        (1 / pl.col("class_size")).sum().alias("reidentifications"),
        (pl.col("class_size") - 1).cast(pl.Int128).sum().alias("pairs_alike"),
        (pl.col("class_size") == 1).sum().cast(pl.Int64).alias("unique_records"),
    )
    return null_report(rows, names, nulls, reduced)


def _subset(tbl: pl.LazyFrame, subset: Sequence[str], nulls: str) -> pl.LazyFrame:
    rows, names = with_aliases(tbl, subset), aliases(subset)
    alike = (pl.col("records").cast(pl.Int128) * (pl.col("class_size") - 1)).sum().alias("pairs_alike")
    reduced = with_class_sizes(count_distinct(rows, names, nulls), names, nulls).select(
        pl.lit(list(subset), dtype=pl.List(pl.String)).alias("subset"),
        pl.col("records").sum(),
        pl.len().cast(pl.Int64).alias("classes"),
        pl.len().cast(pl.Float64).alias("reidentifications"),
        alike,
        pl.col("records").filter(pl.col("class_size") == 1).sum().cast(pl.Int64).alias("unique_records"),
    )
    return null_report(rows, names, nulls, reduced)


def _many(
    tbl: pl.LazyFrame, columns: Sequence[str], max_size: int, nulls: str, memory_mb: int, entity: str | None
) -> pl.LazyFrame:
    """Of many subsets, from the distinct records as codes, and of their people if any, in bounded memory."""
    every = [*columns] if entity is None else check_columns(COLUMNS_AND_ENTITY, [*columns, entity], tbl)
    rows, names = with_aliases(tbl, every), aliases(every)
    types = schema({**SUBSETS.columns, **NULL_REPORT_COLUMNS})

    def count(distinct: pl.DataFrame) -> pl.DataFrame:
        require_memory_for_subsets(
            distinct.height, len(columns), max_size, memory_mb, people=entity is not None
        )
        codes = [dense_codes(distinct, name) for name in names]
        people = None if entity is None else codes.pop()
        table = DistinctRecords(codes, distinct["records"].to_numpy(), people)
        counted = count_subset_classes(table, max_size, nulls, memory_mb)
        places, ends = counted.places()
        named = np.array(columns, dtype=np.object_)[places]
        subset = pl.Series(np.split(named, ends[:-1]), dtype=pl.List(pl.String))
        risks = (counted.reidentifications, counted.pairs, counted.unique)
        counts = (counted.records, counted.classes, *risks, counted.dropped)
        cells = [subset, *(pl.Series(one.tolist()) for one in counts)]
        named_cells = dict(zip([*types][:-1], cells, strict=True))
        return pl.DataFrame(named_cells | {"nulls": nulls}, schema=types, strict=False)

    return map_whole(count_distinct(rows, names, "value"), count, types)
