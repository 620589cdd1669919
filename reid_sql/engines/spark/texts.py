"""Spark: values by their texts, and counts of them and of pairs of them, which a copula is fitted to."""

from collections.abc import Sequence
from itertools import combinations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BinaryType, DataType, StructType, TimestampType

from reid_sql.engines.spark.frames import Rows, places
from reid_sql.errors import OutOfDomainError
from reid_sql.models.evidence_kinds import UNIQUE_RECORDS


def refuse_without_text(rows: Rows) -> None:
    """Refuse values that no text of their own tells apart."""
    for name, place in zip(rows.given, rows.names, strict=True):
        kind = rows.frame.schema[place].dataType
        if not has_text(kind):
            rule = "columns of a copula must hold numbers, texts or other plain values on Spark"
            raise OutOfDomainError(f"{rule}, got '{name}' of type {kind.simpleString()}; turn it into text")


def has_text(kind: DataType) -> bool:
    """Whether Spark can tell each value of the type by a text of its own.

    An instant has the text of the session's time zone, in which two of an hour that the clocks repeat are
    one.
    """
    return not isinstance(kind, ArrayType | StructType | BinaryType | TimestampType)


def counts_of_pairs(
    distinct: DataFrame, columns: Sequence[str], *, alone: bool, groups: Sequence[str] = ()
) -> DataFrame:
    """The lines of PairCounts, from numbered columns of distinct records, with `records` and `mass`.

    Where there are groups, it is within each.
    """
    cells = F.explode(F.array(*_cells(places(columns), alone=alone))).alias("cell")
    told = [*groups, "first", "second", "first_value", "second_value"]
    sums = F.sum("records").alias("records"), F.sum("mass").alias("mass")
    found = distinct.select(*groups, cells).select(*groups, "cell.*").groupBy(*told).agg(*sums)
    labels = F.element_at(F.array(*(F.lit(name) for name in columns)), F.greatest("first", F.lit(1)))
    whole = (F.col(name).cast("bigint").alias(name) for name in ("first", "second", "records"))
    return found.select(
        *groups,
        *whole,
        F.when(F.col("second") == 0, labels).alias("label"),
        "first_value",
        "second_value",
        "mass",
    )


def _cells(names: Sequence[str], *, alone: bool) -> list[Column]:
    """The cells in which a distinct record counts."""
    texts = [F.col(name).cast("string") for name in names]
    nothing = F.lit(None).cast("string")
    counts = F.col("records"), F.col("mass")
    found = [_cell(F.lit(place), F.lit(0), text, nothing, *counts) for place, text in enumerate(texts, 1)]
    found += [
        _cell(F.lit(one + 1), F.lit(other + 1), texts[one], texts[other], *counts)
        for one, other in combinations(range(len(names)), 2)
    ]
    if alone:
        lone = F.when(F.col("records") == 1, 1).otherwise(0).cast("bigint")
        found.append(_cell(F.lit(0), F.lit(UNIQUE_RECORDS), nothing, nothing, lone, F.lit(0.0)))
    return found


def _cell(*parts: Column) -> Column:
    names = ("first", "second", "first_value", "second_value", "records", "mass")
    return F.struct(*(part.alias(name) for part, name in zip(parts, names, strict=True)))
