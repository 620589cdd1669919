"""Polars: distinct records, with which records hold each."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    distinct_records,
    drop_nulls,
    exact_column,
    log_independent,
    null_report,
    record_label,
    with_aliases,
)
from reid_sql.reductions.records import KEYED_QI


def fitted_records(
    tbl: pl.LazyFrame, qi: Sequence[str], interactions: int, nulls: str, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records with the log of the count under independence; codes if there are interactions."""
    _check(tbl, qi, key)
    rows, names = with_aliases(tbl, qi, record_label(key)), aliases(qi)
    found = distinct_records(drop_nulls(rows, names, nulls), names, "members")
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
    number = pl.lit(1.0) if weight is None else exact_column(weight).cast(pl.Float64, strict=False)
    mass = pl.when(number > 0).then(number).otherwise(float("nan")).alias("mass")
    rows, names = with_aliases(tbl, qi, record_label(key), mass), aliases(qi)
    found = distinct_records(drop_nulls(rows, names, nulls), names, "members", "mass")
    reduced = found.select("place", "records", pl.col("mass").list.sum(), "members")
    return null_report(rows, names, nulls, reduced)


def _check(tbl: pl.LazyFrame, qi: Sequence[str], name: str | None) -> None:
    check_columns(KEYED_QI, qi if name is None or name in qi else [*qi, name], tbl)
