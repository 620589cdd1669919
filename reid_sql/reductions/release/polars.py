"""Polars: an original joined with its release, or compared with synthetic tables."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.codes import SIDES, TABLE_COUNTS, audited_columns, coded, rank_values
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
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_entity, refuse_key, refuse_repeated_key
from reid_sql.reductions.release import (
    AUDITED_COLUMNS,
    AUDITED_COLUMNS_AND_ENTITY,
    AUDITED_TABLES,
    PAIRED_RECORDS,
    SENSITIVE_COLUMNS,
    TABLES,
    WITH_KEY,
)
from reid_sql.sql.text import union


def paired_records(
    original: pl.LazyFrame, released: pl.LazyFrame, qi: Sequence[str], key: str | None = None
) -> pl.LazyFrame:
    """The distinct records of the original, each with what was released of it, as codes."""
    refuse_key(qi, key)
    for frame in (original, released):
        if key is None:
            check_columns(QUASI_IDENTIFIERS, qi, frame)
        else:
            check_columns(WITH_KEY, [*qi, key], frame)
    own, out = (_side(frame, qi, key, side) for frame, side in zip((original, released), SIDES, strict=True))
    pairs = pl.concat([own, out], how="diagonal") if key is None else _joined(own, out)
    there = (pl.col(f"in_{side}").fill_null(value=False) for side in SIDES)
    values = [f"{side}{at}" for side in SIDES for at in range(1, len(qi) + 1)]
    distinct = pairs.with_columns(*there).group_by(*values, *(f"in_{side}" for side in SIDES))
    counted = distinct.agg(pl.len().cast(pl.Int64).alias("records"))
    types = schema(PAIRED_RECORDS.columns)

    def code(frame: pl.DataFrame) -> pl.DataFrame:
        columns = coded(frame, qi, keyed=key is not None) | {"records": frame["records"]}
        return pl.DataFrame({name: pl.Series([columns[name]], dtype=types[name]) for name in types})

    return null_report(original, [], "value", map_whole(counted, code, types))


def _side(frame: pl.LazyFrame, qi: Sequence[str], key: str | None, side: str) -> pl.LazyFrame:
    """The columns of one table under names of that side, with its key."""
    own = [exact_column(name).alias(q.replace("q", side)) for name, q in zip(qi, aliases(qi), strict=True)]
    there = pl.lit(True).alias(f"in_{side}")  # noqa: FBT003 - a literal
    if key is None:
        return frame.select(*own, there)
    keyed = frame.select(*own, there, exact_column(key).alias(f"key_{side}"))
    return map_whole(keyed, _refuse_repeated_keys)


def _refuse_repeated_keys(rows: pl.DataFrame) -> pl.DataFrame:
    keys = rows.to_series(rows.width - 1)
    refuse_repeated_key(is_repeated=keys.n_unique() < len(keys))
    return rows


def _joined(own: pl.LazyFrame, out: pl.LazyFrame) -> pl.LazyFrame:
    """The records of both tables, joined by the key."""
    kinds = [frame.collect_schema()[f"key_{side}"] for frame, side in zip((own, out), SIDES, strict=True)]
    if kinds[0] != kinds[1]:
        if not all(kind.is_integer() for kind in kinds):
            rule = f"key must have the same type in both tables, got {kinds[0]} and {kinds[1]}"
            raise OutOfDomainError(f"{rule}; cast one of the columns")
        own, out = (
            frame.with_columns(pl.col(f"key_{side}").cast(pl.Int128))
            for frame, side in zip((own, out), SIDES, strict=True)
        )
    keys = {"left_on": "key_own", "right_on": "key_out"}
    return own.join(out, **keys, how="full", nulls_equal=True)  # type: ignore[arg-type]


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
    by_side = (pl.col("side") == name for name in TABLE_COUNTS)
    counts = [each.sum() if entity is None else each.any() for each in by_side]
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
