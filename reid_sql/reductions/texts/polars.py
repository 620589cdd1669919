"""Polars: distinct records as texts."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import counted, null_report, numbered, placed, places, resolved, schema
from reid_sql.engines.polars.groups import of_groups, rows_of_groups
from reid_sql.engines.polars.pairs import refuse_without_text
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.texts import TEXTS


def texts(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, by: Sequence[str] | None = None) -> pl.LazyFrame:
    """Distinct records, after a line with the names of the columns."""
    if by is not None:
        return _of_groups(tbl, qi, nulls, by)
    rows, names = numbered(tbl, resolved(QUASI_IDENTIFIERS, qi, tbl)), places(qi)
    refuse_without_text(rows, qi)
    distinct = counted(rows, names, nulls).select(_told(names), "records")
    return null_report(rows, names, nulls, placed(pl.concat([_named(qi), distinct]), "line"))


def _of_groups(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, by: Sequence[str]) -> pl.LazyFrame:
    """The same of each group."""
    rows, names, groups = rows_of_groups(tbl, qi, by, None, nulls)
    refuse_without_text(rows, qi)
    held = rows.filter("kept")
    named = held.select(groups).unique().join(_named(qi), how="cross")
    lines = pl.concat([named, held.select(*groups, _told(names), "records")])
    return of_groups(rows, placed(lines, "line"), groups, by, nulls)


def _named(qi: Sequence[str]) -> pl.LazyFrame:
    return pl.LazyFrame({"texts": [list(qi)], "records": [0]}, schema=_types())


def _told(names: Sequence[str]) -> pl.Expr:
    return pl.concat_list(pl.col(name).cast(pl.String) for name in names).alias("texts")


def _types() -> dict[str, pl.DataType]:
    types = schema(TEXTS.columns)
    del types["line"]
    return types
