"""Polars: values of columns, and pairs of values of two columns: all that a copula is fitted to."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    class_columns,
    drop_nulls,
    null_report,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.pairs import NOTHING, bigint, pair_counts
from reid_sql.models.evidence_kinds import MARGINAL_SHARE
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns


def pairs(
    tbl: pl.LazyFrame, qi: Sequence[str], weight: str | None, marginals: pl.LazyFrame | None, nulls: str
) -> pl.LazyFrame:
    """Count values and pairs of values, and who is alone, with shares from outside."""
    every = check_columns(QUASI_IDENTIFIERS, qi if weight is None else [*qi, weight], tbl)
    rows, names = with_aliases(tbl, every, *class_columns(tbl)), aliases(every)
    counted = pair_counts(drop_nulls(rows, names, nulls), qi, weighted=weight is not None)
    if marginals is not None:
        counted = pl.concat([counted, outside(marginals, qi, nulls)], how="diagonal")
    return null_report(rows, names, nulls, with_row_numbers(counted, "cell"))


def outside(marginals: pl.LazyFrame, columns: Sequence[str], nulls: str) -> pl.LazyFrame:
    """Shares from outside, as counts of the columns that they name; 0 is the column of an unknown name."""
    result = marginals.drop_nulls("value") if nulls == "drop" else marginals
    Columns("columns of the marginals").check(
        ["column_name", "value", "share"], marginals.collect_schema().names()
    )
    name, place = (
        pl.col("column_name").cast(pl.String),
        {column: number for number, column in enumerate(columns, 1)},
    )
    return result.select(
        name.replace_strict(place, default=0, return_dtype=pl.Int64).alias("first"),
        bigint(MARGINAL_SHARE, "second"),
        name.alias("label"),
        pl.col("value").cast(pl.String).alias("first_value"),
        NOTHING.alias("second_value"),
        bigint(0, "records"),
        pl.col("share").cast(pl.Float64, strict=False).fill_null(float("nan")).alias("mass"),
    )
