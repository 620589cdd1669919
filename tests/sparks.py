"""How Spark is asked what the other engines are asked."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from pyspark.sql import DataFrame, SparkSession

import reid_sql.spark as rs
from tests.engines.asking import refusal, same

__all__ = ["by_spark", "refusal", "rows_of", "same", "to_spark"]


def to_spark(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """The frame in Spark, which has no enumerations and no unsigned numbers."""
    plain = frame.with_columns(
        pl.col(pl.Enum, pl.Categorical).cast(pl.String), pl.col(pl.UInt32).cast(pl.Int64)
    )
    return spark.createDataFrame(plain.to_arrow())


def rows_of(frame: DataFrame) -> list[dict[str, Any]]:
    return frame.toArrow().to_pylist()  # type: ignore[no-any-return]


def by_spark(
    spark: SparkSession, name: str, frames: Sequence[pl.DataFrame], *arguments: Any, **options: Any
) -> Any:
    """Ask Spark for a table function."""
    return rows_of(
        getattr(rs, name)(*(to_spark(spark, frame) for frame in frames), *arguments, **options)
    )
