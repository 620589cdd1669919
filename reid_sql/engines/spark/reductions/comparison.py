"""Spark: an original and its release; the distinct pairs of records come to the driver."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.codes import SIDES, coded
from reid_sql.engines.spark.counting import RemoteColumns, null_report, refuse_repeated_keys
from reid_sql.engines.spark.frames import Rows, column, exact_cast, fetch, resolve_columns
from reid_sql.errors import OutOfDomainError
from reid_sql.models.comparison.paired_records import PairedRecords
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_key
from reid_sql.reductions.comparison import TABLE_NAMES, WITH_KEY


def paired_records(
    original: DataFrame, released: DataFrame, qi: Sequence[str], key: str | None
) -> RemoteColumns:
    """The distinct records of the original, each with what was released of it, as codes."""
    refuse_key(qi, key)
    sides = zip((original, released), SIDES, TABLE_NAMES, strict=True)
    own, out = (_side(frame, qi, key, side, table) for frame, side, table in sides)
    pairs = own.unionByName(out, allowMissingColumns=True) if key is None else _joined(own, out)
    there = {f"in_{side}": F.coalesce(f"in_{side}", F.lit(False)) for side in SIDES}  # noqa: FBT003
    values = [f"{side}{at}" for side in SIDES for at in range(1, len(qi) + 1)]
    counted = (
        pairs.withColumns(there).groupBy(*values, *there).agg(F.count(F.lit(1)).alias("records"))
    )
    distinct_pairs = pl.DataFrame(pl.from_arrow(fetch(counted, "the distinct pairs of records")))
    treated = fetch(
        null_report(Rows(original, [], []), "value", original.sparkSession.range(1)), "one row"
    )
    return RemoteColumns(PairedRecords(**coded(distinct_pairs, qi, keyed=key is not None)), treated)


def _side(frame: DataFrame, qi: Sequence[str], key: str | None, side: str, table: str) -> DataFrame:
    """The columns of one table under names of the side's own, with its key."""
    label, named = (QUASI_IDENTIFIERS, [*qi]) if key is None else (WITH_KEY, [*qi, key])
    asked = resolve_columns(replace(label, table=table), named, frame)
    own = [column(name).alias(f"{side}{at}") for at, name in enumerate(asked[: len(qi)], 1)]
    there: Column = F.lit(True).alias(f"in_{side}")  # noqa: FBT003 - a literal
    return frame.select(
        *own, there, *(column(name).alias(f"key_{side}") for name in asked[len(qi) :])
    )


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
