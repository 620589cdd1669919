"""Spark: matching in which NULL may be any value. Spark counts the distinct records, the driver matches these."""

from collections.abc import Sequence
from itertools import combinations

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame

from reid_sql.engines.polars_codes import matched
from reid_sql.engines.spark_frames import collected


def distinct(counted: DataFrame) -> tuple[pa.Table, pl.DataFrame]:
    """Bring the distinct records with their counts to the driver, as Spark gave them and for Polars."""
    table = collected(counted, "the distinct records under nulls='wildcard'")
    return table, pl.DataFrame(pl.from_arrow(table))


def class_sizes(own: pl.DataFrame, other: pl.DataFrame, names: list[str]) -> pl.Series:
    """How many of the other's records each distinct record matches, in its order."""
    placed = own.with_row_index("reid_place")
    others = other.with_columns(pl.lit(0, dtype=pl.UInt32).alias("reid_place")).select(placed.columns)
    sizes = matched(placed.lazy(), others.lazy(), names, "class_size").collect()
    return sizes.sort("reid_place")["class_size"]


def subset_counts(own: pl.DataFrame, names: Sequence[str], sizes: Sequence[int]) -> pa.Table:
    """Records, classes and alike pairs of every subset of these sizes, smallest first."""
    rows = [_subset(own, list(subset)) for size in sizes for subset in combinations(names, size)]
    return pa.table(
        {
            name: [row[place] for row in rows]
            for place, name in enumerate(("records", "classes", "pairs_alike"))
        }
    )


def _subset(own: pl.DataFrame, names: list[str]) -> tuple[int, int, str]:
    counted = own.group_by(names).agg(pl.col("records").sum())
    sizes = class_sizes(counted, counted, names)
    pairs = (counted["records"].cast(pl.Int128) * (sizes - 1)).sum()
    return int(counted["records"].sum()), counted.height, str(int(pairs))
