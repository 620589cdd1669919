"""Polars: single columns, by how many records have each of their values, and how these are written."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from reid_sql.engines.codes import text_of
from reid_sql.engines.polars.frames import check_columns, null_report, schema, with_aliases
from reid_sql.reductions.profile import (
    COLUMN_COUNTS,
    DATE_PATTERN,
    MISSING_DATES,
    MISSING_NUMBERS,
    MISSING_WORDS,
    NUMBER_PATTERN,
    PADDED_PATTERN,
    SOME_COLUMNS,
)

VALUE, RECORDS, TEXT, PLAIN = pl.col("q1"), pl.col("n"), pl.col("t"), ~pl.col("marked")
# Alike on every engine
WRITTEN: Final = (
    "text",
    "integer",
    "decimal",
    "float",
    "boolean",
    "date",
    "timestamp",
)


def column_counts(tbl: pl.LazyFrame, columns: Sequence[str] | None) -> pl.LazyFrame:
    """For each column, its records by distinct value, and how the values are written."""
    kinds = tbl.collect_schema()
    names = kinds.names() if columns is None else check_columns(SOME_COLUMNS, columns, tbl)
    counted = [_column(tbl, place, name, kinds[name]) for place, name in enumerate(names, 1)]
    reduced = pl.concat(counted) if counted else pl.LazyFrame(schema=schema(COLUMN_COUNTS.columns))
    return null_report(tbl, [], "value", reduced)


def _column(tbl: pl.LazyFrame, place: int, name: str, dtype: pl.DataType) -> pl.LazyFrame:
    kind = _kind(dtype)
    result = [
        pl.lit(place).alias("place"),
        pl.lit(name).alias("column_name"),
        pl.lit(kind).alias("column_type"),
    ]
    groups = with_aliases(tbl, [name]).group_by("q1").agg(pl.len().cast(pl.Int64).alias("n"))
    profiled = _read(groups, kind).select(*_counts(), *_forms()).select(*result, pl.all())
    return profiled.cast(schema(COLUMN_COUNTS.columns))  # type: ignore[arg-type] # names with types


def _read(groups: pl.LazyFrame, kind: str) -> pl.LazyFrame:
    """The values as text t and as numbers, and whether they may be marks for a missing one."""
    text = text_of(VALUE) if kind in WRITTEN else pl.lit(None, dtype=pl.String)
    number = (
        pl.when(TEXT.str.contains(rf"\A(?:{NUMBER_PATTERN})\z")).then(TEXT).cast(pl.Float64, strict=False)
    )
    word = TEXT.str.strip_chars(" ").str.to_lowercase().is_in(MISSING_WORDS)
    marked = (
        word
        | pl.col("number").is_in([float(each) for each in MISSING_NUMBERS])
        | TEXT.str.slice(0, 10).is_in(MISSING_DATES)
    )
    read = groups.with_columns(text.alias("t")).with_columns(number.alias("number"))
    return read.with_columns(marked.fill_null(value=False).alias("marked"))


def _counts() -> list[pl.Expr]:
    """How many records there are, and of what."""
    return [
        RECORDS.sum().alias("records"),
        RECORDS.filter(VALUE.is_null()).sum().alias("missing"),
        VALUE.is_not_null().sum().alias("distinct_values"),
        RECORDS.filter(RECORDS == 1).sum().alias("unique_records"),
        (RECORDS.cast(pl.Int128) * (RECORDS - 1)).sum().alias("pairs_alike"),
        (RECORDS * RECORDS.log()).sum().alias("n_log_n"),
    ]


def _forms() -> list[pl.Expr]:
    """How many values are written how, those aside that may be marks."""
    number, length = pl.col("number").filter(PLAIN), TEXT.str.len_chars().filter(PLAIN)
    spaces = TEXT.str.count_matches(" ", literal=True)
    matched = {"dates": DATE_PATTERN, "padded": PADDED_PATTERN}
    return [
        number.count().alias("numbers"),
        (number == number.floor()).sum().alias("whole"),
        number.min().fill_null(0).alias("least"),
        number.max().fill_null(0).alias("greatest"),
        *(TEXT.str.contains(rf"\A(?:{form})\z").filter(PLAIN).sum().alias(n) for n, form in matched.items()),
        (spaces > 1).filter(PLAIN).sum().alias("spaced"),
        length.min().fill_null(0).alias("shortest"),
        length.max().fill_null(0).alias("longest"),
        length.sum().alias("letters"),
        pl.format("{}:{}", RECORDS, TEXT).filter("marked").implode().alias("candidates"),
    ]


def _kind(dtype: pl.DataType) -> str:
    """What kind of values the column has, under a name that it has on every engine."""
    if isinstance(dtype, pl.String | pl.Enum | pl.Categorical):
        return "text"
    if isinstance(dtype, pl.Decimal):
        return "decimal"
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "float"
    named = {pl.Boolean: "boolean", pl.Date: "date", pl.Datetime: "timestamp", pl.Time: "time"}
    return next((kind for each, kind in named.items() if isinstance(dtype, each)), "other")
