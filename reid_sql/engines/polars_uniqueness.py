"""Polars: what uniqueness in the population is estimated from, over distinct records with columns named q1, q2, …."""

from collections.abc import Sequence
from typing import Final

import polars as pl

INDEPENDENT: Final = ("all", "loglinear")  # methods that ask what independent columns would hold


def evidence(counted: pl.LazyFrame, names: Sequence[str], population: float, method: str) -> pl.LazyFrame:
    """Histogram of counted distinct records, and the unique ones that independent columns leave unique in the population."""
    sizes = counted.group_by(pl.col("records").alias("class_size")).agg(
        pl.len().cast(pl.Int64).alias("classes"), pl.col("records").sum()
    )
    if method not in INDEPENDENT:
        return sizes.with_columns(pl.lit(None, dtype=pl.Float64).alias("confirmed"))
    others = population / pl.col("records").sum() - 1
    alone = pl.col("records") == 1
    expected = (-others * _log_independent(names).exp()).exp().filter(alone).sum().alias("confirmed")
    return sizes.join(counted.select(expected), how="cross")


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
