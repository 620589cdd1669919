"""Groups of a table on Spark: as Polars answers, which is held against a loop."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql_udfs import declared
from tests.engines.asking import same
from tests.sensitive import MEASURES, call_of

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PEOPLE = pl.DataFrame(
    {
        "state": ["a", "a", "a", "a", None, None, "b", "b", "b"],
        "score": [0.5, 0.5, float("nan"), float("nan"), 0.0, -0.0, None, None, 0.5],
        "age": [1, 1, 1, 2, 1, None, None, None, None],
        "sex": ["F", "F", "F", "M", "F", "F", "M", "M", "F"],
        "person": [1, 1, 2, 3, 1, 4, 5, 5, 6],
        "disease": ["flu", "flu", "flu", "cold", "flu", None, "flu", "flu", "flu"],
    }
)
GIVEN: dict[str, list[Any]] = {
    "pyc_forecast": [[50.0]],
    "population_risk": [[50.0]],
    "population_uniqueness": [50.0],
}
GIVEN |= {call_of(measure)[0]: ["disease"] for measure in MEASURES}
GROUPED = [name for name, function in declared().items() if function.grouped]


@each_cell("function", GROUPED)
@each_cell(
    "by, options",
    [
        (["state"], {}),
        (["score", "age"], {}),
        (["state", "sex"], {"nulls": "drop"}),
        (["state"], {"entity": "person"}),
    ],
)
def test_groups_are_those_of_polars(
    spark: "SparkSession", function: str, by: list[str], options: dict[str, Any]
) -> None:
    tables = [PEOPLE, PEOPLE.head(7)] if function == "journalist_risk" else [PEOPLE]
    given: list[Any] = [["age", "sex"], *GIVEN.get(function, [])]
    frames = [spark.createDataFrame(each.to_arrow()) for each in tables]
    found = getattr(rs, function)(*frames, *given, by=by, **options).toArrow().to_pylist()
    same(found, getattr(rp, function)(*tables, *given, by=by, **options).collect().to_dicts())


@pytest.mark.spark_defaults
@pytest.mark.parametrize("function", ["pyc_fit", "t_closeness", "class_size_histogram"])
def test_a_group_may_be_named_like_anything_in_a_plan(spark: "SparkSession", function: str) -> None:
    inner = (
        "class_size",
        "q1",
        "g1",
        "complete",
        "entity",
        "n",
        "value",
        "c",
        "population",
        "reid: 1",
        "a.b`c",
    )
    names = [name for name in inner if name not in declared()[function].answer_columns]
    frame = PEOPLE.with_columns(pl.col("state").alias(name) for name in names)
    given: list[Any] = [["age"], *GIVEN.get(function, [])]
    found = getattr(rs, function)(spark.createDataFrame(frame.to_arrow()), *given, by=names)
    expected = getattr(rp, function)(frame, *given, by=names).collect()
    assert found.columns[: len(names)] == names
    same(found.toArrow().to_pylist(), expected.to_dicts())


def test_bad_groups_are_refused(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(PEOPLE.to_arrow())
    with pytest.raises(UnknownNameError, match="by must be columns of the table, got 'stat'"):
        rs.risk_summary(frame, ["age"], by=["stat"])
    with pytest.raises(OutOfDomainError, match="by must be used with nulls := 'value' or 'drop'"):
        rs.risk_summary(frame, ["age"], by=["state"], nulls="wildcard")
    with pytest.raises(OutOfDomainError, match="by must not name a column of the answer"):
        rs.risk_summary(frame.withColumnRenamed("sex", "k"), ["age"], by=["k"])
