"""Spark: an original and its release or synthetic table; distinct records come to the driver."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.codes import SIDES, TABLE_COUNTS, audited_columns, coded, rank_values
from reid_sql.engines.spark.counting import RemoteColumns, null_report, refuse_repeated_keys
from reid_sql.engines.spark.frames import (
    FLOATING,
    Rows,
    cast_alike,
    column,
    exact_cast,
    fetch,
    read_rows,
    resolve_columns,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.models.synthetic.audited_tables import AuditedTables
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_entity, refuse_key, union
from reid_sql.reductions.release import (
    AUDITED_COLUMNS,
    AUDITED_COLUMNS_AND_ENTITY,
    SENSITIVE_COLUMNS,
    TABLES,
    WITH_KEY,
)


def paired_records(
    original: DataFrame, released: DataFrame, qi: Sequence[str], key: str | None
) -> RemoteColumns:
    """The distinct records of the original, each with what was released of it, as codes."""
    refuse_key(qi, key)
    own, out = (_side(frame, qi, key, side) for frame, side in zip((original, released), SIDES, strict=True))
    pairs = own.unionByName(out, allowMissingColumns=True) if key is None else _joined(own, out)
    there = {f"in_{side}": F.coalesce(f"in_{side}", F.lit(False)) for side in SIDES}  # noqa: FBT003
    values = [f"{side}{at}" for side in SIDES for at in range(1, len(qi) + 1)]
    counted = pairs.withColumns(there).groupBy(*values, *there).agg(F.count(F.lit(1)).alias("records"))
    distinct_pairs = pl.DataFrame(pl.from_arrow(fetch(counted, "the distinct pairs of records")))
    treated = fetch(null_report(Rows(original, [], []), "value", original.sparkSession.range(1)), "one row")
    return RemoteColumns(PairedRecords(**coded(distinct_pairs, qi, keyed=key is not None)), treated)


def _side(frame: DataFrame, qi: Sequence[str], key: str | None, side: str) -> DataFrame:
    """The columns of one table under names of the side's own, with its key."""
    asked = (
        resolve_columns(QUASI_IDENTIFIERS, qi, frame)
        if key is None
        else resolve_columns(WITH_KEY, [*qi, key], frame)
    )
    own = [column(name).alias(f"{side}{at}") for at, name in enumerate(asked[: len(qi)], 1)]
    there: Column = F.lit(True).alias(f"in_{side}")  # noqa: FBT003 - a literal
    return frame.select(*own, there, *(column(name).alias(f"key_{side}") for name in asked[len(qi) :]))


def _joined(own: DataFrame, out: DataFrame) -> DataFrame:
    """The records of both tables, joined by their key."""
    kinds = own.schema["key_own"].dataType, out.schema["key_out"].dataType
    cast = exact_cast(*kinds)
    if cast is None:
        got = f"{kinds[0].simpleString()} and {kinds[1].simpleString()}"
        raise OutOfDomainError(
            f"key must have the same type in both tables, got {got}; cast one of the columns"
        )
    for frame, name in ((own, "key_own"), (out, "key_out")):
        refuse_repeated_keys(frame.withColumnRenamed(name, "record"))
    same_key = cast(own["key_own"], kinds[0]).eqNullSafe(cast(out["key_out"], kinds[1]))
    return own.join(out, same_key, "full")


def audited_tables(
    original: DataFrame,
    synthetic: DataFrame,
    qi: Sequence[str],
    sensitive: Sequence[str] | None = None,
    holdout: DataFrame | None = None,
    entity: str | None = None,
) -> RemoteColumns:
    """Count the distinct records, or those of each person, of every table, and code them together."""
    read_rows(original, qi, QUASI_IDENTIFIERS)
    if sensitive is not None:
        read_rows(original, sensitive, SENSITIVE_COLUMNS)
    asked = union(qi, sensitive or [])
    refuse_entity(asked, entity, "value")
    frames = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = [_read(frame, asked, entity) for frame in frames]
    own = rows[0]
    for each, tables in zip(rows[1:], TABLES, strict=False):
        _refuse_mixed(own, each, tables)
        own = cast_alike(own, each, tables)[0]
    rows = [own, *(cast_alike(own, each)[1] for each in rows[1:])]
    sides = [_fetch(each, name, entity) for each, name in zip(rows, TABLE_COUNTS, strict=False)]
    together = pl.concat(sides, how="diagonal").with_columns(
        (pl.col(name) if name in TABLE_COUNTS[: len(sides)] else pl.lit(0)).fill_null(0).alias(name)
        for name in TABLE_COUNTS
    )
    coded = audited_columns(together, asked, qi, has_holdout=holdout is not None)
    arrays = {name: coded[name].to_numpy() for name in (*TABLE_COUNTS, "people")}
    codes = [ranks.to_numpy() for ranks in coded["codes"]]
    treated = fetch(null_report(Rows(original, [], []), "value", original.sparkSession.range(1)), "one row")
    return RemoteColumns(AuditedTables(**(coded | arrays | {"codes": codes})), treated)


def _refuse_mixed(own: Rows, each: Rows, tables: str) -> None:
    """Refuse whole numbers in one table and others in the other, which have no type in common."""
    for given, name in zip(own.given, own.names, strict=True):
        kinds = own.frame.schema[name].dataType, each.frame.schema[name].dataType
        if len({isinstance(kind, FLOATING) for kind in kinds}) > 1:
            rule = f"{tables} must contain '{given}' as the same type"
            got = " and ".join(kind.simpleString() for kind in kinds)
            raise OutOfDomainError(f"{rule}, got {got}; cast one of them")


def _read(frame: DataFrame, asked: Sequence[str], entity: str | None) -> Rows:
    """Read the columns under aliases, the last that of people, if any."""
    if entity is None:
        return read_rows(frame, asked, AUDITED_COLUMNS)
    every = read_rows(frame, [*asked, entity], AUDITED_COLUMNS_AND_ENTITY)
    person = F.col(every.names[-1]).alias("person")
    return replace(
        every,
        frame=every.frame.select(*every.names[:-1], person),
        given=asked,
        table_names=every.table_names[:-1],
    )


def _fetch(rows: Rows, name: str, entity: str | None) -> pl.DataFrame:
    """Count the distinct records of one table, with the person of each: NULL is one."""
    keys = rows.names if entity is None else [*rows.names, "person"]
    count = F.count(F.lit(1)) if entity is None else F.lit(1).cast("bigint")
    counted = rows.frame.groupBy(*keys).agg(count.alias(name))
    distinct = pl.DataFrame(pl.from_arrow(fetch(counted, "the distinct records of a table")))
    return distinct if entity is None else distinct.with_columns(person=rank_values(distinct["person"]))
