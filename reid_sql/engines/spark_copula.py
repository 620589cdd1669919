"""Spark: what a copula is fitted to, and models that were saved; the words of DuckDB's `reid_plan_pairs`."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StructType, VariantType

from reid_sql.domains import Columns
from reid_sql.engines.spark_frames import as_number, column, places, resolved, to_spark
from reid_sql.engines.spark_reductions import how_nulls, missing
from reid_sql.errors import OutOfDomainError


def pairs(
    frames: Sequence[DataFrame],
    given: Sequence[str],
    nulls: str,
    weight: str | None = None,
    marginals: Any = None,  # noqa: ANN401
) -> DataFrame:
    """Count values and pairs of values, and who is alone, from the distinct records in one pass; the weight stands last."""
    rows, every = frames[0], places(given)
    columns = given if weight is None else given[:-1]
    names = every[: len(columns)]
    kept = rows.filter(~missing(every)) if nulls == "drop" else rows
    number = F.lit(1.0) if weight is None else as_number(rows, every[-1])
    mass = F.sum(F.when(number >= 0, number).otherwise(float("nan"))).alias("mass")
    distinct = kept.groupBy(*names).agg(F.count(F.lit(1)).alias("records"), mass)
    refuse_without_text(rows, columns)
    lines = counts_of_pairs(distinct, columns, alone=weight is None)
    if marginals is not None:
        lines = lines.unionByName(_outside(marginals, columns, drop=nulls == "drop"))
    return how_nulls(rows, every, nulls, lines.withColumn("cell", F.monotonically_increasing_id()))


def refuse_without_text(rows: DataFrame, columns: Sequence[str]) -> None:
    """Refuse values that no text of their own tells apart; the columns stand first."""
    for name, kind in zip(columns, (field.dataType for field in rows.schema), strict=False):
        if not has_text(kind):
            rule = "columns of a copula must hold numbers, texts or other plain values on Spark"
            raise OutOfDomainError(f"{rule}, got '{name}' of type {kind.simpleString()}; turn it into text")


def has_text(kind: DataType) -> bool:
    """Whether Spark can tell each value of the type by a text of its own."""
    return not isinstance(kind, ArrayType | StructType | MapType | VariantType | BinaryType)


def counts_of_pairs(distinct: DataFrame, columns: Sequence[str], *, alone: bool) -> DataFrame:
    """The lines of PairCounts, from numbered columns of distinct records, with `records` and `mass`."""
    cells = distinct.select(F.explode(F.array(*_cells(places(columns), alone=alone))).alias("cell")).select(
        "cell.*"
    )
    sums = F.sum("records").alias("records"), F.sum("mass").alias("mass")
    found = cells.groupBy("first", "second", "first_value", "second_value").agg(*sums)
    labels = F.element_at(F.array(*(F.lit(name) for name in columns)), F.greatest("first", F.lit(1)))
    whole = (F.col(name).cast("bigint").alias(name) for name in ("first", "second", "records"))
    return found.select(
        *whole, F.when(F.col("second") == 0, labels).alias("label"), "first_value", "second_value", "mass"
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
        found.append(_cell(F.lit(0), F.lit(-2), nothing, nothing, lone, F.lit(0.0)))
    return found


def _cell(*parts: Column) -> Column:
    names = ("first", "second", "first_value", "second_value", "records", "mass")
    return F.struct(*(part.alias(name) for part, name in zip(parts, names, strict=True)))


def _outside(marginals: Any, columns: Sequence[str], *, drop: bool) -> DataFrame:  # noqa: ANN401 - what is no frame is refused
    """Shares from outside, as counts of the columns that they name; 0 is the column of a name that is none."""
    if not isinstance(marginals, DataFrame):
        raise OutOfDomainError(
            f"marginals must be a Spark DataFrame, got {type(marginals).__name__}; pass spark.table('name')"
        )
    named = resolved(Columns("columns of the marginals"), ["column_name", "value", "share"], marginals)
    label, value, _ = (column(name) for name in named)
    kept = marginals.filter(value.isNotNull()) if drop else marginals
    known = pa.table({"label": list(columns), "first": pa.array(range(1, len(columns) + 1), pa.int32())})
    told = kept.select(
        label.cast("string").alias("label"),
        value.cast("string").alias("first_value"),
        F.coalesce(as_number(kept, named[2]), F.lit(float("nan"))).alias("mass"),
    )
    placed = told.join(F.broadcast(to_spark(kept.sparkSession, known)), "label", "left")
    return placed.select(
        F.coalesce("first", F.lit(0)).cast("bigint").alias("first"),
        F.lit(-1).cast("bigint").alias("second"),
        "label",
        "first_value",
        F.lit(None).cast("string").alias("second_value"),
        F.lit(0).cast("bigint").alias("records"),
        "mass",
    )


def saved(frames: Sequence[DataFrame], _: Sequence[str]) -> DataFrame:
    """The models in a table that copula_json wrote."""
    names = resolved(Columns("columns of the saved models"), ["model", "json"], frames[0])
    texts = (
        column(name).cast("string").alias(own) for name, own in zip(names, ("model", "json"), strict=True)
    )
    lines = frames[0].select(*texts).withColumn("line", F.monotonically_increasing_id())
    return how_nulls(frames[0], [], "value", lines)
