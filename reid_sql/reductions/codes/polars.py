"""Polars: whole columns as small numbers, one for each value."""

from collections.abc import Mapping, Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    kept,
    named,
    null_report,
    numbered,
    placed,
    places,
    resolved,
    schema,
)
from reid_sql.engines.polars.groups import BESIDE
from reid_sql.models.classes.class_keys import require_memory_for_codes
from reid_sql.parameters import COLUMNS, COLUMNS_AND_KEY
from reid_sql.reduction import refuse_entity, refuse_key_with_entity
from reid_sql.reductions.codes import COLUMNS_AS_CODES


def codes(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, entity: str | None = None
) -> pl.LazyFrame:
    """Each column as codes."""
    if entity is not None:
        return _of_people(tbl, columns, memory_mb, nulls, entity)
    return _coded(tbl, resolved(COLUMNS, columns, tbl), memory_mb, nulls, None)


def record_codes(
    tbl: pl.LazyFrame,
    columns: Sequence[str],
    memory_mb: int,
    nulls: str,
    key: str | None = None,
    entity: str | None = None,
) -> pl.LazyFrame:
    """Each column as codes, with the key of each record, else its place in the scan."""
    if entity is not None:
        refuse_key_with_entity(key)
    if key is None:
        return codes(tbl, columns, memory_mb, nulls, entity)
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
        require_memory_for_codes(table.height, len(columns), memory_mb)
        return _whole(table, columns, ordinal, table[keyed], types)

    return null_report(rows, names, nulls, kept(rows, names, nulls).map_batches(code, schema=types))


def _whole(
    table: pl.DataFrame,
    columns: Sequence[str],
    ordinal: Sequence[bool],
    keys: pl.Series,
    types: Mapping[str, pl.DataType],
    *,
    people: pl.Series | None = None,
) -> pl.DataFrame:
    """One row of whole columns."""
    ranks = [_ranks(table[name]).cast(pl.Int32) for name in places(columns)]
    who: pl.Series | list[int] = [] if people is None else _ranks(people).cast(pl.Int64)
    whole = {"names": [list(columns)], "ordinal": [ordinal], "codes": [ranks], "people": [who]}
    return pl.DataFrame(whole | {"position": [table["position"]], "keys": [keys]}, schema=types)


def _ranks(values: pl.Series) -> pl.Series:
    return values.rank("dense").fill_null(0)


def _of_people(
    tbl: pl.LazyFrame, columns: Sequence[str], memory_mb: int, nulls: str, entity: str
) -> pl.LazyFrame:
    """The same with a record for each combination of values that a person has, and people as the keys."""
    refuse_entity(columns, entity, nulls)
    held = tbl.select(named(name) for name in resolved(BESIDE, [*columns, entity], tbl))
    names = places(columns)
    rows = numbered(held, columns, named(entity).alias("keys"))
    held_by = placed(kept(rows, names, nulls), "position").group_by([*names, "keys"])
    first = held_by.agg(pl.col("position").min())
    types = schema(COLUMNS_AS_CODES) | {"keys": pl.List(rows.collect_schema()["keys"])}
    ordinal = [_ordinal(held.collect_schema()[column]) for column in columns]

    def code(table: pl.DataFrame) -> pl.DataFrame:
        require_memory_for_codes(table.height, len(columns), memory_mb, people=True)
        ordered = table.sort("position")
        return _whole(ordered, columns, ordinal, ordered["keys"], types, people=ordered["keys"])

    return null_report(rows, names, nulls, first.map_batches(code, schema=types))


def _ordinal(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Boolean | pl.Enum)
