"""Risk in the population on Spark: what DuckDB and Polars say of the same sample."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.tables import by_both, by_duckdb

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import by_spark, rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOWN = pl.DataFrame(
    {
        "id": [f"p{number}" for number in range(60)],
        "age": [20 + number * number % 11 for number in range(60)],
        "a.`b": [None if number % 13 == 5 else "FM"[number % 2] for number in range(60)],
        "income": [[0.0, -0.0, float("nan"), 1.5, None][number % 5] for number in range(60)],
        "weight": ["2.5" if number % 3 else "10" for number in range(60)],
    }
)
QI = ["age", "a.`b", "income"]


@each_cell("nulls", ["value", "drop"])
@each_cell("method", ["all", "people", "pitman", "loglinear_nb", "copula"])
def test_uniqueness_in_the_population_is_the_same_on_every_engine(
    spark: "SparkSession", method: str, nulls: str
) -> None:
    options = {"population": 3000.0, "method": method, "nulls": nulls}
    found = by_spark(spark, "population_uniqueness", [TOWN], QI, **options)
    for answer in by_both("population_uniqueness", {"t": TOWN}, QI, **options):
        same(found, answer)


@pytest.mark.parametrize(("interactions", "nulls"), [(0, "value"), (0, "drop"), (2, "value")])
def test_loglinear_risk_of_each_record_is_the_same(
    spark: "SparkSession", interactions: int, nulls: str
) -> None:
    options = {"sampling_fraction": 0.1, "interactions": interactions, "key": "id", "nulls": nulls}
    found = by_spark(spark, "loglinear_risk", [TOWN], QI, **options)
    for answer in by_both("loglinear_risk", {"t": TOWN}, QI, **options):
        same(found, answer)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": "weight"},
        {"weight": "weight", "nulls": "drop", "form": "approximate"},
        {"weight": "weight", "household": "home"},
    ],
)
def test_individual_risk_is_the_same(spark: "SparkSession", options: dict[str, Any]) -> None:
    place = pl.int_range(pl.len())
    town = TOWN.with_columns(home=pl.when(place % 5 > 0).then(place // 3))
    found = by_spark(spark, "individual_risk", [town], QI, key="id", **options)
    for answer in by_both("individual_risk", {"t": town}, QI, key="id", **options):
        same(found, answer)


def test_lists_and_bytes_have_the_figures_of_the_values_that_they_are_made_of(
    town: "DataFrame",
) -> None:
    lists = town.selectExpr(
        "array(age, age % 2) AS pair", "encode(CAST(age AS STRING), 'UTF-8') AS raw"
    )
    expected = by_duckdb("FROM population_uniqueness(t, ['age'], 3000, method := 'copula')", t=TOWN)
    for column in ("pair", "raw"):
        same(rows_of(rs.population_uniqueness(lists, [column], 3000, method="copula")), expected)


@pytest.mark.spark_defaults
@pytest.mark.real_data
def test_adult_is_the_same(spark: "SparkSession", adult: str) -> None:
    columns = ["age", "race", "sex", "native_country"]
    frame = spark.read.parquet(adult)
    people, *found = rows_of(rs.population_uniqueness(frame, columns, 1e6))
    other, *expected = by_duckdb(f"FROM population_uniqueness('{adult}', {columns}, 1e6)")
    same(found, expected)
    # Of more than 10,000 records each engine draws its own.
    assert other["uniqueness_low"] <= people["uniqueness"] <= other["uniqueness_high"]
    risk = rows_of(rs.population_risk(frame, columns, [1e6]))[0]
    assert people["method"] == "people"
    for name in ("uniqueness", "uniqueness_low", "uniqueness_high"):
        assert people[name] == pytest.approx(risk[name], rel=1e-9)


BAD_WEIGHT = "weight must be a number above 0 for every record, got a missing, negative or zero one"


@pytest.fixture(scope="module")
def town(spark: "SparkSession") -> "DataFrame":
    return to_spark(spark, TOWN)


@pytest.mark.parametrize("weight", ["CAST(NULL AS INT)", "age - 20", "'many'", "DATE '2020-01-01'"])
def test_weights_that_are_no_numbers_above_0_are_refused(town: "DataFrame", weight: str) -> None:
    with pytest.raises(ReidError, match=BAD_WEIGHT):
        rs.individual_risk(
            town.selectExpr("id", "age", f"{weight} AS bad"), ["age"], "bad", key="id"
        )


def test_bad_names_and_empty_tables_are_refused(town: "DataFrame") -> None:
    with pytest.raises(
        ReidError,
        match="quasi-identifiers, weight and key must be columns of the table, got 'idd'; did you",
    ):
        rs.loglinear_risk(town, ["age"], 0.5, key="idd")
    with pytest.raises(
        ReidError,
        match="quasi-identifiers, weight and key must be columns of the table, got 'weigt'; did you",
    ):
        rs.individual_risk(town, ["age"], "weigt", key="id")
    with pytest.raises(
        ReidError, match="key must name the column that distinguishes records, got None"
    ):
        rs.loglinear_risk(town, ["age"], 0.5)
    nobody = "the table must contain at least one record, got 0"
    with pytest.raises(ReidError, match=nobody):
        rs.population_uniqueness(town.limit(0), ["age"], 9)
    with pytest.raises(ReidError, match=nobody):
        rs.loglinear_risk(town.limit(0), ["age"], 0.5, key="id")


def test_no_more_records_come_to_the_driver_than_stated(
    spark: "SparkSession", town: "DataFrame"
) -> None:
    setting = "spark.reid_sql.maxCollectedValues"
    spark.conf.set(setting, "20")
    try:
        with pytest.raises(
            ReidError,
            match=r"the distinct records that the driver answers from must be at most 5 rows, .* got more",
        ):
            rs.individual_risk(town, ["age", "a.`b"], key="id")
    finally:
        spark.conf.unset(setting)
