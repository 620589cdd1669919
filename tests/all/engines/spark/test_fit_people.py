"""The model of people on Spark: counted, fitted and answered as in DuckDB and Polars."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import people
from tests.tables import by_polars

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.sparks import rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PEOPLE = people(120).with_columns(weight=pl.Series([1.0, 2.5, 0.5] * 40))
COLUMNS = ["age", "sex", "grade"]


@pytest.fixture(scope="module")
def town(spark: "SparkSession") -> "DataFrame":
    return to_spark(spark, PEOPLE)


@pytest.mark.parametrize("options", [{}, {"nulls": "drop", "k": 3}, {"weight": "weight"}])
def test_the_answer_is_the_same_whoever_counted(town: "DataFrame", options: dict[str, Any]) -> None:
    found = rows_of(rs.population_risk(town, COLUMNS, [200.0, 1e6], **options))
    same(found, by_polars("population_risk", PEOPLE, COLUMNS, [200.0, 1e6], **options))


def test_a_model_fitted_on_spark_scores_there_and_elsewhere(town: "DataFrame") -> None:
    found = rows_of(rs.fit_people("people by spark", town, COLUMNS))
    same(
        [row | {"model": "people"} for row in found],
        rp.fit_people("people", PEOPLE, COLUMNS).collect().to_dicts(),
    )
    scored = rows_of(rs.score_records(town, "people by spark", 1e5).select("uniqueness_xi"))
    want = rp.score_records(PEOPLE, "people", 1e5).collect()["uniqueness_xi"].to_list()
    assert sorted(row["uniqueness_xi"] for row in scored) == pytest.approx(sorted(want), rel=1e-6)
