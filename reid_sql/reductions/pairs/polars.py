"""Polars: values of columns, and pairs of values of two columns: all that a copula is fitted to."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import kept, null_report, numbered, placed, places, resolved
from reid_sql.engines.polars.pairs import NOTHING, pair_counts, whole
from reid_sql.models.evidence_kinds import MARGINAL_SHARE
from reid_sql.parameters import QUASI_IDENTIFIERS, Columns


def pairs(
    tbl: pl.LazyFrame, qi: Sequence[str], weight: str | None, marginals: pl.LazyFrame | None, nulls: str
) -> pl.LazyFrame:
    """Count values and pairs of values, and who is alone, with shares from outside."""
    every = resolved(QUASI_IDENTIFIERS, qi if weight is None else [*qi, weight], tbl)
    rows, names = numbered(tbl, every), places(every)
    counted = pair_counts(kept(rows, names, nulls), qi, weighted=weight is not None)
    if marginals is not None:
        counted = pl.concat([counted, outside(marginals, qi, nulls)], how="diagonal")
    return null_report(rows, names, nulls, placed(counted, "cell"))


def outside(marginals: pl.LazyFrame, columns: Sequence[str], nulls: str) -> pl.LazyFrame:
    """Shares from outside, as counts of the columns that they name; 0 is the column of an unknown name."""
    told = marginals.drop_nulls("value") if nulls == "drop" else marginals
    Columns("columns of the marginals").check(
        ["column_name", "value", "share"], marginals.collect_schema().names()
    )
    name, place = (
        pl.col("column_name").cast(pl.String),
        {column: number for number, column in enumerate(columns, 1)},
    )
    return told.select(
        name.replace_strict(place, default=0, return_dtype=pl.Int64).alias("first"),
        whole(MARGINAL_SHARE, "second"),
        name.alias("label"),
        pl.col("value").cast(pl.String).alias("first_value"),
        NOTHING.alias("second_value"),
        whole(0, "records"),
        pl.col("share").cast(pl.Float64, strict=False).fill_null(float("nan")).alias("mass"),
    )
