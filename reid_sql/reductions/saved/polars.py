"""Polars: models in a table that copula_json wrote."""

import polars as pl

from reid_sql.engines.polars.frames import null_report, placed, resolved
from reid_sql.parameters import Columns


def saved(tbl: pl.LazyFrame) -> pl.LazyFrame:
    """The models, in the table's order."""
    resolved(Columns("columns of the saved models"), ["model", "json"], tbl)
    return null_report(tbl, [], "value", placed(tbl.select(pl.col("model", "json").cast(pl.String)), "line"))
