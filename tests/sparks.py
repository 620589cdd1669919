"""How Spark is asked what the other engines are asked."""

import math
import re
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession

import reid_sql.spark as rs
from tests.tables import key


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
    return rows_of(getattr(rs, name)(*(to_spark(spark, frame) for frame in frames), *arguments, **options))


def same(left: Sequence[dict[str, Any]], right: Sequence[dict[str, Any]]) -> None:
    """Hold the rows to be the same in any order: counts equal, numbers to 9 digits, values as databases compare them."""
    assert len(left) == len(right)
    assert [list(row) for row in left[:1]] == [list(row) for row in right[:1]]
    for one, other in zip(sorted(left, key=_order), sorted(right, key=_order), strict=True):
        for name, value in one.items():
            assert _cell(value) == (
                pytest.approx(other[name], rel=1e-9) if _number(other[name]) else _cell(other[name])
            ), name


def _order(row: dict[str, Any]) -> str:
    return repr([f"{value:.6g}" if _number(value) else _cell(value) for value in row.values()])


def _number(value: Any) -> bool:
    return isinstance(value, float) and not math.isnan(value)


def _cell(value: Any) -> Any:
    return value + 0.0 if _number(value) else key(value)


def refusal(error: BaseException) -> str:
    """The sentence, without what an engine puts around it."""
    words = str(error).split("\n\nLINE", maxsplit=1)[0].split(" SQLSTATE", maxsplit=1)[0]
    return re.sub(r"^(?:\[[A-Z_]+\] |(?:[A-Z][A-Za-z]+ )+Error: )", "", words).strip()
