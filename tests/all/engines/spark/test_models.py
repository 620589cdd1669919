"""Fitted copula models on Spark: fitted, scored and drawn as in DuckDB and Polars."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.engines import registry
from reid_sql.errors import ReidError
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from tests.copulas import fitted, independent, people
from tests.tables import by_duckdb, by_polars

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

import reid_sql.spark as rs
from tests.sparks import by_spark, refusal, rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ANY: Any = rs  # to be called as its types forbid
PEOPLE = people(120).with_columns(weight=pl.Series([1.0, 2.5, 0.5] * 40))
COLUMNS = ["age", "sex", "grade"]
FLOATS = ("double", "float")
MARGINALS = pl.DataFrame(
    {"column_name": ["sex"] * 3, "value": ["F", "M", None], "share": [0.65, 0.3, 0.05]}
)


@pytest.fixture(scope="module")
def town(spark: "SparkSession") -> "DataFrame":
    return to_spark(spark, PEOPLE)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "calibrated", "ordered": ["age"], "nulls": "drop"},
        {"method": "sharp"},
        {"weight": "weight", "nulls": "drop"},
    ],
)
def test_a_model_is_the_same_whoever_counted(town: "DataFrame", options: dict[str, Any]) -> None:
    expected = fitted("by others", PEOPLE, COLUMNS, **options)
    summary = rows_of(rs.fit_copula("by spark", town, COLUMNS, **options))
    same(
        [row | {"model": "by others"} for row in summary],
        by_polars("fit_copula", "by others", PEOPLE, COLUMNS, **options),
    )
    found = registry.known("by spark")
    assert isinstance(found, GaussianCopula)
    assert (found.columns, found.records, found.seed) == (
        expected.columns,
        expected.records,
        expected.seed,
    )
    assert found.correlation == pytest.approx(expected.correlation, rel=1e-9, abs=1e-12)
    assert found.calibration == pytest.approx(expected.calibration, rel=1e-9)
    assert [marginal.values for marginal in found.marginals] == [
        marginal.values for marginal in expected.marginals
    ]


@pytest.mark.parametrize("kind", ["double", "float", "decimal(20,5)", "string"])
def test_values_have_the_same_texts_in_a_fit_and_in_a_score(
    spark: "SparkSession", kind: str
) -> None:
    """Spark writes 1.0E7 where DuckDB writes 10000000.0; a value that the model does not know is rarer.

    Names in place of the values have the same shares, and a model of categories without an order
    scores both alike.
    """
    values = [1e7, 1e-5, 0.1, 1e14, 123456789.5, None] + [float("nan"), float("inf"), 0.0] * (
        kind in FLOATS
    )
    names = [f"value {place}" for place, _ in enumerate(values)]
    rows = [
        row for count, row in enumerate(zip(names, values, strict=True), 1) for _ in range(count)
    ]
    rows[-1] = (names[-1], -0.0 if kind in FLOATS else values[-1])
    named = pl.DataFrame({"name": [name for name, _ in rows]})
    fitted("names", named, ["name"])
    expected = by_duckdb(
        "SELECT DISTINCT name, cell_probability('names', name) AS p FROM t ORDER BY name", t=named
    )
    frame = spark.createDataFrame(rows, "name string, x double").withColumn(
        "x", F.col("x").cast(kind)
    )
    rs.fit_copula("texts", frame, ["x"])
    scored = (
        frame.select("name", ANY.cell_probability("texts", "x").alias("p")).distinct().sort("name")
    )
    same(rows_of(scored), expected)
    risks = (
        rs.score_records(frame, "texts", 10).select("name", "uniqueness_xi").distinct().sort("name")
    )
    same(
        rows_of(risks),
        [{"name": row["name"], "uniqueness_xi": (1 - row["p"]) ** 9} for row in expected],
    )


def test_a_census_from_outside_counts_as_elsewhere(
    spark: "SparkSession", town: "DataFrame"
) -> None:
    expected = rp.fit_copula("m1", PEOPLE, COLUMNS, marginals=MARGINALS).collect().to_dicts()
    found = rows_of(ANY.fit_copula("m1", town, COLUMNS, marginals=to_spark(spark, MARGINALS)))
    same(found, expected)
    with pytest.raises(ReidError, match="marginals must be a Spark DataFrame, got str; pass"):
        ANY.fit_copula("m1", town, COLUMNS, marginals="census")
    with pytest.raises(ReidError, match="must be columns of the table, got 'column_name'"):
        ANY.fit_copula("m1", town, COLUMNS, marginals=town)


@pytest.mark.usefixtures("spark")
def test_models_travel_as_tables() -> None:
    registry.keep("first", independent())
    saved = rs.model_json("first")
    same(
        rows_of(rs.load_model("first", saved)),
        by_polars("load_model", "first", pl.DataFrame(rows_of(saved))),
    )


@pytest.fixture(scope="module")
def scored() -> pl.DataFrame:
    """A model called town in every engine, and records of it, one with values that it never saw."""
    fitted("town", PEOPLE, COLUMNS)
    unseen = pl.DataFrame({"age": [99, None], "sex": ["X", None], "grade": [7, 6]})
    rows = pl.concat([PEOPLE.select(COLUMNS), unseen])
    return rows.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))


@pytest.mark.parametrize("name", ["uniqueness_xi", "correctness_kappa", "cell_probability"])
def test_functions_of_models_are_columns_and_sql_functions(
    spark: "SparkSession", scored: pl.DataFrame, name: str
) -> None:
    own = () if name == "cell_probability" else (5000,)
    given = ", ".join(["'town'", *map(str, own), *COLUMNS])
    expected = by_duckdb(f"SELECT row, {name}({given}) AS answer FROM t ORDER BY row", t=scored)
    table = to_spark(spark, scored)
    bound = getattr(ANY, name)
    for model in ("town", registry.known("town")):
        same(rows_of(table.select("row", bound(model, *own, *COLUMNS).alias("answer"))), expected)
    assert table.select(bound("town", *own, *(F.col(column) for column in COLUMNS))).columns == [
        name
    ]
    rs.register(spark)
    same(rows_of(spark.sql(f"SELECT row, {name}({given}) AS answer FROM {{t}}", t=table)), expected)


def test_a_missing_number_has_no_answer_and_a_bad_one_is_refused(
    spark: "SparkSession", scored: pl.DataFrame
) -> None:
    table = to_spark(spark, scored.head(3)).withColumn("people", F.lit(None).cast("double"))
    assert [
        row["x"]
        for row in rows_of(table.select(ANY.uniqueness_xi("town", "people", *COLUMNS).alias("x")))
    ] == [None] * 3
    rs.register(spark)
    sentence = "population must be a number of people of at least 1"
    with pytest.raises(ReidError, match=f"{sentence} .*, got 0.5; "):
        ANY.uniqueness_xi("town", 0.5, *COLUMNS)
    refused = {
        "uniqueness_xi('town', 0.5, age, sex, grade)": sentence,
        "uniqueness_xi('twon', 10, age, sex, grade)": (
            "model must be a fitted model, got another value; the models are "
        ),
        "cell_probability('town', age, sex)": (
            "the columns must be the 3 of the model (age, sex, grade), got 2; pass them in"
        ),
    }
    for call, words in refused.items():
        with pytest.raises(PySparkException) as by_sql:
            spark.sql(f"SELECT {call} FROM {{t}}", t=table).collect()
        assert refusal(by_sql.value).startswith(words), call
    with pytest.raises(
        ReidError,
        match=r"the columns must be the 3 of the model \(age, sex, grade\), got 1; pass them in",
    ):
        ANY.cell_probability("town", "age")
    with pytest.raises(
        ReidError, match="model must be a fitted model, got 'twon'; did you mean 'town'"
    ):
        ANY.cell_probability("twon", "age")
    with pytest.raises(TypeError, match="missing a required argument: 'population'"):
        ANY.uniqueness_xi("town")


@pytest.mark.parametrize("sample", ["ignored", "known"])
def test_scores_stand_beside_every_record(
    spark: "SparkSession", scored: pl.DataFrame, sample: str
) -> None:
    found = by_spark(spark, "score_records", [scored], "town", 5000.0, sample=sample)
    same(found, by_polars("score_records", scored, "town", 5000.0, sample=sample))
    with pytest.raises(
        ReidError,
        match=r"no column that is named as a score \(class_size, .*\), got 'Class_Size'; rename it",
    ):
        rs.score_records(to_spark(spark, scored).withColumn("Class_Size", F.lit(1)), "town", 10)
    with pytest.raises(
        ReidError, match="columns of the model must be columns of the table, got 'grade'"
    ):
        rs.score_records(to_spark(spark, scored).drop("grade"), "town", 10)
