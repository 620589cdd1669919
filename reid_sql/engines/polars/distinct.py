"""Polars: distinct records, which records hold each, and how many would under independence."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import named, placed


def told_by(key: str | None) -> pl.Expr:
    """What tells a record, as `members`: its key, else its place in the scan."""
    return (pl.int_range(pl.len(), dtype=pl.Int64) if key is None else named(key)).alias("members")


def distinct(rows: pl.LazyFrame, names: Sequence[str], *listed: str) -> pl.LazyFrame:
    """Distinct records, numbered, with how many hold each, and the listed values of those that do."""
    counts = pl.len().cast(pl.Int64).alias("records"), *(pl.col(each) for each in listed)
    return placed(rows.group_by(names).agg(counts))


def log_independent(names: Sequence[str], groups: Sequence[str] = ()) -> pl.Expr:
    """The log of the count of each distinct record that independent columns would hold, in its group."""
    records = pl.col("records").sum()
    margins = [records.over([*groups, name]).cast(pl.Float64).log() for name in names]
    total = (records.over(groups) if groups else records).cast(pl.Float64).log()
    return pl.sum_horizontal(margins) - (len(names) - 1) * total
