"""The session's settings change no answer: each is held against counting and against DuckDB.

It is held under other settings.
"""

import datetime as dt
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.tables import by_duckdb, class_sizes, keys, risk

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

from pyspark.errors import PySparkException

import reid_sql.spark as rs
from tests.spark_session import DEFAULT_PLANNING, settings_of
from tests.sparks import refusal, rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANSI = "spark.sql.ansi.enabled"
ZONE = "spark.sql.session.timeZone"
SETTINGS: dict[str, dict[str, str]] = {
    "by default": DEFAULT_PLANNING,
    "as older versions": {
        ANSI: "false",
        "spark.sql.storeAssignmentPolicy": "LEGACY",
        "spark.sql.legacy.sizeOfNull": "true",
        "spark.sql.legacy.createEmptyCollectionUsingStringType": "true",
        "spark.sql.legacy.castComplexTypesToString.enabled": "true",
        "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true",
        "spark.sql.legacy.literal.pickMinimumPrecision": "false",
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.crossJoin.enabled": "false",
        "spark.sql.groupByOrdinal": "true",
    },
    "planned otherwise": {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.join.preferSortMergeJoin": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.optimizer.excludedRules": (
            "org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers"
        ),
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
        "spark.sql.shuffle.partitions": "7",
        "spark.sql.leafNodeDefaultParallelism": "3",
    },
    "elsewhere": {
        ZONE: "Europe/Berlin",
        "spark.sql.caseSensitive": "true",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.sql.datetime.java8API.enabled": "true",
    },
}
AUTUMN = dt.datetime(2020, 10, 25, 0, 30, tzinfo=dt.UTC)  # when the clocks of Berlin repeat an hour
PEOPLE = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, None, None, 41],
        "income": [0.0, -0.0, float("nan"), float("nan"), 1.5, 1.5, None],
        "seen": [AUTUMN, AUTUMN + dt.timedelta(hours=1)] * 3 + [None],
        "zip": ["0123", "123", " 123", "0123", "0123", "0123", None],
        "sex": ["F", "F", "M", "M", "M", "M", None],
        "id": range(7),
        "person": [1, 1, 2, 2, 3, 3, 4],
    }
)
QI = ["age", "income", "zip"]
SCENARIO = {
    "population": 99,
    "groups": [{"columns": ["age"], "by": "sex", "probabilities": {"F": 0.7}, "otherwise": 0.4}],
}
# As DuckDB is asked, and as Spark is.
QUESTIONS: dict[str, tuple[str, Any]] = {
    "attribute_risk": (f"t, {QI}", lambda t: rs.attribute_risk(t, QI)),
    "journalist_risk": (f"t, t, {QI}", lambda t: rs.journalist_risk(t, t, QI, nulls="drop")),
    "adversary_risk": ("t, ?, key := 'id'", lambda t: rs.adversary_risk(t, SCENARIO, key="id")),
    "loglinear_risk": (
        f"t, {QI}, 0.5, key := 'id'",
        lambda t: rs.loglinear_risk(t, QI, 0.5, key="id"),
    ),
    "unicity": (
        "t, 'person', ['zip'], output := 'curve'",
        lambda t: rs.unicity(t, "person", ["zip"], output="curve"),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_changes_a_count(spark: "SparkSession", name: str) -> None:
    with settings_of(spark, SETTINGS[name]):
        table = to_spark(spark, PEOPLE)
        for columns in (QI, ["seen"], ["zip"], ["income"]):
            rows = keys(PEOPLE.select(columns))
            sizes = class_sizes(rows, rows, "value")
            sized = sorted(
                rows_of(rs.equivalence_class_size(table, *columns, name="k")),
                key=lambda row: row["id"],
            )
            assert [row["k"] for row in sized] == sizes
            found = rows_of(rs.risk_summary(table, columns))[0]
            expected = risk(rows, sizes, 0.2)
            assert {each: found[each] for each in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_changes_an_answer(spark: "SparkSession", name: str) -> None:
    scenario = """'{"population": 99, "groups": [{"columns": ["age"], "by": "sex",
        "probabilities": {"F": 0.7}, "otherwise": 0.4}]}'"""
    with settings_of(spark, SETTINGS[name]):
        table = to_spark(spark, PEOPLE)
        for function, (asked, ask) in QUESTIONS.items():
            nulls = ", nulls := 'drop'" if function == "journalist_risk" else ""
            same(
                rows_of(ask(table)),
                by_duckdb(f"FROM {function}({asked.replace('?', scenario)}{nulls})", t=PEOPLE),
            )


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_what_is_no_number_is_refused_in_either_mode(spark: "SparkSession", ansi: str) -> None:
    with settings_of(spark, {ANSI: ansi}):
        texts = spark.sql("FROM VALUES ('abc'), ('0.5') AS t(x)")
        with pytest.raises(PySparkException) as by_column:
            texts.select(rs.cell_risk("x", 10)).collect()
        assert refusal(by_column.value) == (
            "p must be a probability between 0 and 1, got another value; pass a share, such as 0.01 for 1 %"
        )
        rs.register(spark)
        assert spark.conf.get(ANSI) == ansi
        with pytest.raises(PySparkException, match="'abc' of the type \"STRING\" cannot be cast"):
            spark.sql("SELECT cell_risk(x, 10) FROM {t}", t=texts).collect()
        found = rows_of(spark.sql("SELECT cell_risk('0.5', 3) AS u"))
        assert found == [{"u": 0.25}]


def test_a_session_whose_groups_lose_their_columns_is_refused(spark: "SparkSession") -> None:
    with settings_of(spark, {"spark.sql.retainGroupColumns": "false"}):
        table = to_spark(spark, PEOPLE)
        for ask in (rs.risk_summary, rs.equivalence_classes, rs.attribute_risk):
            with pytest.raises(
                ReidError, match=r"spark\.sql\.retainGroupColumns must be true, got false; call"
            ):
                ask(table, QI)


def test_instants_have_no_text_that_a_copula_could_tell_them_by(spark: "SparkSession") -> None:
    with settings_of(spark, {ZONE: "Europe/Berlin"}):
        table = to_spark(spark, PEOPLE)
        texts = rows_of(table.selectExpr("CAST(seen AS STRING) AS text").distinct())
        assert len(texts) == 2  # the hour that is repeated, and NULL: two instants have one text
        with pytest.raises(
            ReidError,
            match="must contain numbers, texts or other plain values on Spark, got 'seen'",
        ):
            rs.fit_copula("instants", table, ["seen", "sex"])
