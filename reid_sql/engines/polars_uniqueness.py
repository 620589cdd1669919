"""Polars: what uniqueness in the population is estimated from, over distinct records with columns named q1, q2, …."""

from collections.abc import Sequence
from typing import Final

import polars as pl

INDEPENDENT: Final = ("all", "loglinear", "loglinear_nb")  # methods that ask what independent columns would hold


def evidence(counted: pl.LazyFrame, names: Sequence[str], method: str) -> pl.LazyFrame:
    """Classes by size, and by the logarithm of the count that independent columns would hold where the method asks for it."""
    log = (_log_independent(names) * 1000).round() / 1000 if method in INDEPENDENT else pl.lit(None, dtype=pl.Float64)
    lines = counted.select(pl.col("records").alias("class_size"), log.alias("log_expected"))
    counted_lines = lines.group_by("class_size", "log_expected").agg(pl.len().cast(pl.Int64).alias("classes"))
    return counted_lines.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))


def fitted_records(held: pl.LazyFrame, names: Sequence[str], interactions: int) -> pl.LazyFrame:
    """Distinct records with the logarithm of the count that independent columns would hold; codes if there are interactions."""
    codes = [pl.col("place").first().over(name) for name in names]
    listed = pl.concat_list(codes) if interactions else pl.lit([], dtype=pl.List(pl.Int64))
    log = _log_independent(names).alias("log_expected")
    return held.select("place", "records", log, listed.alias("codes"), "members")


def weighted_records(held: pl.LazyFrame) -> pl.LazyFrame:
    """Distinct records with the sum of their weights."""
    return held.select("place", "records", "mass", "members")


def _log_independent(names: Sequence[str]) -> pl.Expr:
    margins = [pl.col("records").sum().over(name).cast(pl.Float64).log() for name in names]
    return pl.sum_horizontal(margins) - (len(names) - 1) * pl.col("records").sum().cast(pl.Float64).log()
