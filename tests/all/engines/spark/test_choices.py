"""Extreme risk on Spark: what DuckDB and Polars say of the same table."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.tables import by_both

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import by_spark, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOWN = pl.DataFrame(
    {
        "age": [20 + number * number % 11 for number in range(60)],
        "a.`b": [None if number % 13 == 5 else "FM"[number % 2] for number in range(60)],
        "income": [[0.0, -0.0, float("nan"), 1.5, None][number % 5] for number in range(60)],
        "street": [number * 7 % 23 for number in range(60)],
        "born": [number * number % 17 for number in range(60)],
    }
)


@pytest.mark.spark_defaults
@pytest.mark.parametrize(
    "options", [{"p": 2}, {"p": 3, "nulls": "drop"}, {"p": 2, "sample": 4, "seed": 3}]
)
def test_quasi_identifiers_have_the_same_distinct_values(
    spark: "SparkSession", options: dict[str, Any]
) -> None:
    found = by_spark(spark, "qar_risk", [TOWN], TOWN.columns, **options, output="quasi_identifiers")
    for answer in by_both(
        "qar_risk", {"t": TOWN}, TOWN.columns, **options, output="quasi_identifiers"
    ):
        same(found, answer)


@pytest.mark.parametrize(
    "options", [{"p": 2, "alpha": 0.2, "tail": 0.9}, {"p": 5}, {"p": 1, "nulls": "drop"}]
)
def test_the_extreme_risk_is_the_same(spark: "SparkSession", options: dict[str, Any]) -> None:
    found = by_spark(spark, "qar_risk", [TOWN], TOWN.columns, **options)
    for answer in by_both("qar_risk", {"t": TOWN}, TOWN.columns, **options):
        same(found, answer)


@each_cell("k", [2, 3, 7, 70])
@each_cell("output", ["subsets", "columns"])
def test_records_have_the_same_sets_that_fewer_than_k_share(
    spark: "SparkSession", output: str, k: int
) -> None:
    """NaN, -0.0, NULL and records of equal values among them; 70 are more than all records."""
    town = pl.concat([TOWN, TOWN[:9]]).with_row_index("id")
    for nulls in ("value", "drop"):
        given = {"k": k, "key": "id", "nulls": nulls, "output": output}
        found = by_spark(spark, "suda_scores", [town], TOWN.columns, **given)
        for answer in by_both("suda_scores", {"t": town}, TOWN.columns, **given):
            same(found, answer)


def test_bad_input_is_refused_in_the_same_words(spark: "SparkSession") -> None:
    frame = to_spark(spark, TOWN)
    for columns, p, sentence in (
        (
            ["age", "stret"],
            2,
            "columns must be columns of the table, got 'stret'; did you mean 'street'?",
        ),
        (
            ["age", "street"],
            3,
            "p must be at most the 2 columns given, got 3; pass more columns or a smaller p",
        ),
    ):
        with pytest.raises(ReidError) as refused:
            rs.qar_risk(frame, columns, p)
        assert str(refused.value) == sentence
    with pytest.raises(ReidError, match="at least one record"):
        rs.qar_risk(frame.limit(0), ["age", "street"], 2)
