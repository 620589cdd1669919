"""Distinct records of three tables in Polars, each with how many records of each table have its values."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    map_whole,
    null_report,
    schema,
    unify_types,
    with_aliases,
)
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.codes.polars import is_ordinal, rank_values
from reid_sql.reductions.synthetic import AUDITED_COLUMNS, AUDITED_TABLES, SENSITIVE_COLUMNS
from reid_sql.sql.text import union

SIDES = ("originals", "synthetics", "controls")
TABLES = ("original and synthetic", "original and holdout")


def audited_tables(
    original: pl.LazyFrame,
    synthetic: pl.LazyFrame,
    qi: Sequence[str],
    sensitive: Sequence[str] | None = None,
    holdout: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Group the records of all tables together, and list the distinct ones as codes."""
    for label, columns in ((QUASI_IDENTIFIERS, qi), (SENSITIVE_COLUMNS, sensitive)):
        if columns is not None:
            check_columns(label, columns, original)
    asked = union(qi, sensitive or [])
    names = aliases(asked)
    frames = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = [with_aliases(frame, check_columns(AUDITED_COLUMNS, asked, frame)) for frame in frames]
    own = rows[0]
    for each, tables in zip(rows[1:], TABLES, strict=False):
        own = unify_types([own, each], asked, tables)[0]
    rows = [own, *(unify_types([own, each], asked)[1] for each in rows[1:])]
    marked = pl.concat(
        [frame.with_columns(side=pl.lit(name)) for name, frame in zip(SIDES, rows, strict=False)]
    )
    distinct = marked.group_by(names).agg((pl.col("side") == name).sum().alias(name) for name in SIDES)
    types = schema(AUDITED_TABLES.columns)

    def code(table: pl.DataFrame) -> pl.DataFrame:
        flags = [is_ordinal(table.schema[name]) for name in names]
        whole = {
            "names": asked,
            "is_sensitive": [column not in qi for column in asked],
            "is_ordinal": flags,
            "codes": [rank_values(table[name]) for name in names],
            **{side: table[side] for side in SIDES},
            "has_holdout": [holdout is not None],
        }
        return pl.DataFrame({name: pl.Series([whole[name]], dtype=types[name]) for name in types})

    return null_report(rows[0], aliases(qi), "value", map_whole(distinct, code, types))
