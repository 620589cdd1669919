"""Polars: whole columns as small numbers, one for each value."""

from collections.abc import Sequence

import polars as pl

from reid_sql.domains import COLUMNS, COLUMNS_AND_KEY
from reid_sql.engines.polars.frames import how_nulls, kept, named, numbered, placed, places, resolved, schema
from reid_sql.models.classes.class_keys import refuse_codes
from reid_sql.reductions.codes import COLUMNS_AS_CODES


def codes(tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str) -> pl.LazyFrame:
    """Each column as codes."""
    return _coded(tbl, resolved(COLUMNS, columns, tbl), memory_mb, nulls, None)


def record_codes(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, key: str | None = None
) -> pl.LazyFrame:
    """Each column as codes, with the key of each record, else its place in the scan."""
    if key is None:
        return codes(tbl, columns, memory_mb, nulls)
    resolved(COLUMNS_AND_KEY, columns, tbl)
    COLUMNS_AND_KEY.known([key], tbl.collect_schema().names())
    return _coded(tbl, columns, memory_mb, nulls, key)


uniques = record_codes


def _coded(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, key: str | None
) -> pl.LazyFrame:
    """Code each column by the ranks of its values, NULL as 0; one row of whole columns."""
    held, names = tbl.collect_schema(), places(columns)
    ordinal = [_ordinal(held[column]) for column in columns]
    beside = [] if key is None else [named(key).alias("keys")]
    rows = placed(numbered(tbl, columns, *beside), "position")
    keyed = "position" if key is None else "keys"
    types = schema(COLUMNS_AS_CODES) | {"keys": pl.List(rows.collect_schema()[keyed])}

    def code(table: pl.DataFrame) -> pl.DataFrame:
        refuse_codes(table.height, len(columns), memory_mb)
        ranks = table.select(pl.col(names).rank("dense").fill_null(0).cast(pl.Int32)).get_columns()
        whole = {"names": [list(columns)], "ordinal": [ordinal], "codes": [ranks]}
        return pl.DataFrame(whole | {"position": [table["position"]], "keys": [table[keyed]]}, schema=types)

    return how_nulls(rows, names, nulls, kept(rows, names, nulls).map_batches(code, schema=types))


def _ordinal(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Boolean | pl.Enum)
