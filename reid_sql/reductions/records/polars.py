"""Polars: distinct records, with which records hold each."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    distinct,
    kept,
    log_independent,
    named,
    null_report,
    numbered,
    places,
    resolved,
    told_by,
)
from reid_sql.reductions.records import KEYED_QI


def fitted_records(
    tbl: pl.LazyFrame, qi: Sequence[str], interactions: int, nulls: str, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records with the log of the count under independence; codes if there are interactions."""
    _check(tbl, qi, key)
    rows, names = numbered(tbl, qi, told_by(key)), places(qi)
    found = distinct(kept(rows, names, nulls), names, "members")
    codes = [pl.col("place").first().over(name) for name in names]
    listed = pl.concat_list(codes) if interactions else pl.lit([], dtype=pl.List(pl.Int64))
    log = log_independent(names).alias("log_expected")
    reduced = found.select("place", "records", log, listed.alias("codes"), "members")
    return null_report(rows, names, nulls, reduced)


def weighted_records(
    tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, weight: str | None = None, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records with the sum of their weights, NaN where one of them is no number above 0."""
    _check(tbl, qi, weight)
    _check(tbl, qi, key)
    number = pl.lit(1.0) if weight is None else named(weight).cast(pl.Float64, strict=False)
    mass = pl.when(number > 0).then(number).otherwise(float("nan")).alias("mass")
    rows, names = numbered(tbl, qi, told_by(key), mass), places(qi)
    found = distinct(kept(rows, names, nulls), names, "members", "mass")
    reduced = found.select("place", "records", pl.col("mass").list.sum(), "members")
    return null_report(rows, names, nulls, reduced)


def _check(tbl: pl.LazyFrame, qi: Sequence[str], name: str | None) -> None:
    resolved(KEYED_QI, qi if name is None or name in qi else [*qi, name], tbl)
