"""Polars: distinct records as texts."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.codes import text_of
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    count_distinct,
    null_report,
    refuse_without_text,
    schema,
    with_aliases,
    with_row_numbers,
)
from reid_sql.engines.polars.groups import report_groups, rows_of_groups
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.texts import TEXTS


def texts(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, by: Sequence[str] | None = None) -> pl.LazyFrame:
    """Distinct records, after a line with the names of the columns."""
    if by is not None:
        return _of_groups(tbl, qi, nulls, by)
    rows, names = with_aliases(tbl, check_columns(QUASI_IDENTIFIERS, qi, tbl)), aliases(qi)
    refuse_without_text(rows, qi)
    distinct = count_distinct(rows, names, nulls).select(_empty_answer(names), "records")
    return null_report(rows, names, nulls, with_row_numbers(pl.concat([_named(qi), distinct]), "line"))


def _of_groups(tbl: pl.LazyFrame, qi: Sequence[str], nulls: str, by: Sequence[str]) -> pl.LazyFrame:
    """The same of each group."""
    rows, names, groups = rows_of_groups(tbl, qi, by, None, nulls)
    refuse_without_text(rows, qi)
    taken = rows.filter("kept")
    named = taken.select(groups).unique().join(_named(qi), how="cross")
    lines = pl.concat([named, taken.select(*groups, _empty_answer(names), "records")])
    return report_groups(rows, with_row_numbers(lines, "line"), groups, by, nulls)


def _named(qi: Sequence[str]) -> pl.LazyFrame:
    return pl.LazyFrame({"texts": [list(qi)], "records": [0]}, schema=_types())


def _empty_answer(names: Sequence[str]) -> pl.Expr:
    return pl.concat_list(text_of(pl.col(name)) for name in names).alias("texts")


def _types() -> dict[str, pl.DataType]:
    types = schema(TEXTS.columns)
    del types["line"]
    return types
