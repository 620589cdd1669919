"""Groups of a table on Spark: as Polars answers, which is held against a loop."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import OutOfDomainError, UnknownNameError
from tests.engines.asking import same

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PEOPLE = pl.DataFrame(
    {
        "state": ["a", "a", "a", "a", None, None, "b", "b", "b"],
        "score": [0.5, 0.5, float("nan"), float("nan"), 0.0, -0.0, None, None, 0.5],
        "age": [1, 1, 1, 2, 1, None, None, None, None],
        "sex": ["F", "F", "F", "M", "F", "F", "M", "M", "F"],
        "person": [1, 1, 2, 3, 1, 4, 5, 5, None],
    }
)


@pytest.mark.parametrize("function", ["risk_summary", "class_size_histogram"])
@pytest.mark.parametrize("by", [["state"], ["score"], ["state", "sex"]])
@pytest.mark.parametrize("options", [{}, {"nulls": "drop"}, {"entity": "person"}])
def test_groups_are_those_of_polars(
    spark: "SparkSession", function: str, by: list[str], options: dict[str, Any]
) -> None:
    frame = spark.createDataFrame(PEOPLE.to_arrow())
    found = getattr(rs, function)(frame, ["age", "sex"], by=by, **options).toArrow().to_pylist()
    same(found, getattr(rp, function)(PEOPLE, ["age", "sex"], by=by, **options).collect().to_dicts())


def test_bad_groups_are_refused(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(PEOPLE.to_arrow())
    with pytest.raises(UnknownNameError, match="by must be columns of the table, got 'stat'"):
        rs.risk_summary(frame, ["age"], by=["stat"])
    with pytest.raises(OutOfDomainError, match="by must be asked with nulls := 'value' or 'drop'"):
        rs.risk_summary(frame, ["age"], by=["state"], nulls="wildcard")
    with pytest.raises(OutOfDomainError, match="by must not name a column as the answer names its own"):
        rs.risk_summary(frame.withColumnRenamed("sex", "k"), ["age"], by=["k"])
