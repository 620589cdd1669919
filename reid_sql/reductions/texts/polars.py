"""Polars: distinct records as texts."""

from collections.abc import Sequence

import polars as pl

from reid_sql.domains import QUASI_IDENTIFIERS
from reid_sql.engines.polars.frames import counted, how_nulls, numbered, placed, places, resolved, schema
from reid_sql.engines.polars.pairs import refuse_without_text
from reid_sql.reductions.texts import TEXTS


def texts(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str) -> pl.LazyFrame:
    """Distinct records, after a line with the names of the columns."""
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    refuse_without_text(rows, qi)
    named = pl.LazyFrame({"texts": [list(qi)], "records": [0]}, schema=_types())
    told = pl.concat_list(pl.col(name).cast(pl.String) for name in names)
    distinct = counted(rows, names, nulls).select(told.alias("texts"), "records")
    return how_nulls(rows, names, nulls, placed(pl.concat([named, distinct]), "line"))


def _types() -> dict[str, pl.DataType]:
    types = schema(TEXTS.columns)
    del types["line"]
    return types
