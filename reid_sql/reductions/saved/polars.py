"""Polars: models in a table that copula_json wrote."""

import polars as pl

from reid_sql.engines.polars.frames import check_columns, null_report, with_row_numbers
from reid_sql.parameters import Columns


def saved(tbl: pl.LazyFrame) -> pl.LazyFrame:
    """The models, in the table's order."""
    check_columns(Columns("columns of the saved models"), ["model", "json"], tbl)
    return null_report(
        tbl, [], "value", with_row_numbers(tbl.select(pl.col("model", "json").cast(pl.String)), "line")
    )
