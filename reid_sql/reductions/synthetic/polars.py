"""Distinct records of three tables in Polars, each with how many records of each table have its values."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.codes import TABLE_COUNTS, audited_columns, rank_values
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    exact_column,
    map_whole,
    null_report,
    schema,
    unify_types,
    with_aliases,
)
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_entity
from reid_sql.reductions.synthetic import (
    AUDITED_COLUMNS,
    AUDITED_COLUMNS_AND_ENTITY,
    AUDITED_TABLES,
    SENSITIVE_COLUMNS,
    TABLES,
)
from reid_sql.sql.text import union


def audited_tables(
    original: pl.LazyFrame,
    synthetic: pl.LazyFrame,
    qi: Sequence[str],
    sensitive: Sequence[str] | None = None,
    holdout: pl.LazyFrame | None = None,
    entity: str | None = None,
) -> pl.LazyFrame:
    """Group the records of all tables together, and list the distinct ones, or each person's, as codes."""
    for label, columns in ((QUASI_IDENTIFIERS, qi), (SENSITIVE_COLUMNS, sensitive)):
        if columns is not None:
            check_columns(label, columns, original)
    asked = union(qi, sensitive or [])
    refuse_entity(asked, entity, "value")
    frames = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = [_rows(frame, asked, entity) for frame in frames]
    own = rows[0]
    for each, tables in zip(rows[1:], TABLES, strict=False):
        own = unify_types([own, each], asked, tables)[0]
    rows = [own, *(unify_types([own, each], asked)[1] for each in rows[1:])]
    marked = pl.concat(
        [frame.with_columns(side=pl.lit(name)) for name, frame in zip(TABLE_COUNTS, rows, strict=False)]
    )
    keys = aliases(asked) if entity is None else [*aliases(asked), "side", "person"]
    held = (pl.col("side") == name for name in TABLE_COUNTS)
    counts = [each.sum() if entity is None else each.any() for each in held]
    named = zip(TABLE_COUNTS, counts, strict=True)
    distinct = marked.group_by(keys).agg(count.cast(pl.Int64).alias(name) for name, count in named)
    types = schema(AUDITED_TABLES.columns)

    def code(table: pl.DataFrame) -> pl.DataFrame:
        whole = audited_columns(table, asked, qi, has_holdout=holdout is not None)
        return pl.DataFrame({name: pl.Series([whole[name]], dtype=types[name]) for name in types})

    return null_report(rows[0], aliases(qi), "value", map_whole(distinct, code, types))


def _rows(frame: pl.LazyFrame, asked: Sequence[str], entity: str | None) -> pl.LazyFrame:
    """The records of one table, with the person of each: NULL is one, and each table has its own."""
    if entity is None:
        return with_aliases(frame, check_columns(AUDITED_COLUMNS, asked, frame))
    check_columns(AUDITED_COLUMNS_AND_ENTITY, [*asked, entity], frame)
    person = exact_column(entity).map_batches(rank_values, return_dtype=pl.UInt32).alias("person")
    return with_aliases(frame, asked, person)
