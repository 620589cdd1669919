"""Rows of published tables in Polars."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import map_whole, null_report
from reid_sql.reductions.published import encode_rows


def published_rows(tables: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """List the rows of all tables, each as a JSON object."""
    listed = [
        map_whole(table, _encode, {"text": pl.String()}).select(
            pl.lit(number, dtype=pl.Int64).alias("tbl"), "text"
        )
        for number, table in enumerate(tables, 1)
    ]
    numbered = pl.concat(listed).with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    return null_report(numbered, [], "value", numbered)


def _encode(table: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({"text": pl.Series(encode_rows(table.iter_rows(named=True)), dtype=pl.String)})
