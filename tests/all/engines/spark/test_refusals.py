"""Spark's own names and types, what is refused, and that no more than is stated comes to the driver."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import rows_of, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

ANY: Any = rs  # to be called as its types forbid
SETTING = "spark.reid_sql.maxCollectedValues"


@pytest.fixture
def people(spark: "SparkSession") -> "DataFrame":
    return to_spark(
        spark,
        pl.DataFrame(
            {"Age": [20, 20, 30], "sex": ["F", "F", None], "a.`b": [1, 1, 2], "id": [1, 2, 3]}
        ),
    )


@pytest.fixture
def narrow(spark: "SparkSession") -> "Iterator[None]":
    spark.conf.set(SETTING, "12")
    yield
    spark.conf.unset(SETTING)


def test_names_differ_by_case_only_where_spark_says_so(
    spark: "SparkSession", people: "DataFrame"
) -> None:
    assert rows_of(rs.risk_summary(people, ["AGE", "a.`B"]))[0]["classes"] == 2
    assert rs.equivalence_classes(people, ["AGE"]).columns[0] == "AGE"
    with pytest.raises(ReidError, match="quasi-identifiers must be distinct, got 'Age' twice"):
        rs.risk_summary(people, ["AGE", "age"])
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(
            ReidError, match="must be columns of the table, got 'AGE'; did you mean 'Age'"
        ):
            rs.risk_summary(people, ["AGE"])
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_a_name_that_stands_for_two_columns_is_refused(people: "DataFrame") -> None:
    twice = people.select("Age", "Age", "sex")
    with pytest.raises(
        ReidError,
        match="must each name one column, got 'Age', which two columns of this table have; rename one",
    ):
        rs.risk_summary(twice, ["Age"])
    assert rows_of(rs.risk_summary(twice, ["sex"]))[0]["records"] == 3


UNLIKE = [
    "map('a', 1)",
    "struct(map('a', 1) AS m)",
    "array(parse_json('1'))",
    "parse_json('{}')",
    "'a' COLLATE UTF8_LCASE",
]


@pytest.mark.parametrize("kind", UNLIKE)
def test_types_that_engines_compare_differently_are_refused(
    spark: "SparkSession", kind: str
) -> None:
    with pytest.raises(
        ReidError,
        match=r"must be of types that can be compared, got 'x' of type .*; cast it first, a map to",
    ):
        rs.class_size_histogram(spark.sql(f"SELECT {kind} AS x"), ["x"])


REFUSED: dict[str, Any] = {
    "quasi-identifiers must be columns of the table, got 'agee'; did you mean 'Age'?": lambda t: (
        rs.risk_summary(t, ["agee"])
    ),
    "quasi-identifiers must be a list of column names, got 42; write ['age', 'sex']": lambda t: (
        ANY.risk_summary(t, 42)
    ),
    "quasi-identifiers must name 1 to 64 columns, got 0": lambda t: rs.risk_summary(t, []),
    "quasi-identifiers must name 1 to 64 columns, got 0; pass": rs.equivalence_class_size,
    "threshold must be a risk between 0 and 1, got 2": lambda t: rs.risk_summary(
        t, ["Age"], threshold=2
    ),
    "nulls must be one of 'value', 'wildcard', 'drop', got 'dorp'; did you mean": lambda t: (
        ANY.risk_summary(t, ["Age"], nulls="dorp")
    ),
    "tbl must be a Spark DataFrame, got list; pass spark.table('name')": lambda _: ANY.risk_summary(
        [1], ["Age"]
    ),
    "name must not be a column of the table, got 'SEX'; pass another": lambda t: (
        rs.equivalence_class_size(t, "Age", name="SEX")
    ),
    "the table must contain at least one record, got 0": lambda t: rs.risk_summary(
        t.limit(0), ["Age"]
    ),
    "key must name the column that distinguishes records, got None: a Spark table has no order; pass "
    "key='id'": lambda t: rs.adversary_risk(
        t, {"population": 9, "groups": [{"columns": ["id"], "probability": 0.5}]}
    ),
    "columns of the scenario must be columns of the table, got 'idd'; did you mean 'id'?": lambda t: (
        rs.adversary_summary(
            t, {"population": 9, "groups": [{"columns": ["idd"], "probability": 0.5}]}
        )
    ),
    "quasi-identifiers and sensitive must be distinct, got 'Age' twice": lambda t: rs.t_closeness(
        t, ["age"], "AGE"
    ),
    "must contain 'sex' as the same type, got string and bigint; cast one": lambda t: (
        rs.journalist_risk(t, t.selectExpr("id AS sex"), ["sex"])
    ),
    "the number of subsets of the columns must be at most 10000000": lambda t: rs.attribute_risk(
        t.selectExpr(*(f"id AS c{place}" for place in range(40))),
        [f"c{place}" for place in range(40)],
        7,
    ),
}


@each_cell("sentence", REFUSED)
def test_bad_input_is_refused_in_one_sentence(people: "DataFrame", sentence: str) -> None:
    with pytest.raises(ReidError) as refused:
        REFUSED[sentence](people)
    assert sentence in str(refused.value)


def test_a_population_may_hold_other_numbers(people: "DataFrame") -> None:
    wider = people.selectExpr("CAST(Age AS DOUBLE) AS age").union(
        people.selectExpr("CAST(Age AS DOUBLE)")
    )
    found = rows_of(rs.journalist_risk(people, wider, ["Age"]))[0]
    assert (found["k"], found["uncovered_records"]) == (2, 0)


@pytest.mark.usefixtures("narrow")
def test_no_more_comes_to_the_driver_than_is_stated(spark: "SparkSession") -> None:
    table = spark.range(7).selectExpr("id", "CAST(id % 2 AS STRING) AS half")
    assert rows_of(rs.risk_summary(table, ["half"]))[0]["classes"] == 2
    assert rs.equivalence_class_size(table, "id").count() == 7
    refused = (
        r"rows, as they come to the driver, got more; take fewer or coarser columns, or raise "
        r"spark.reid_sql.maxColl"
    )
    with pytest.raises(
        ReidError,
        match=f"the distinct records that the driver answers from must be at most 6 {refused}",
    ):
        rs.risk_summary(table, ["id"], nulls="wildcard")
    with pytest.raises(
        ReidError,
        match=f"the distinct records that the driver answers from must be at most 6 {refused}",
    ):
        rs.adversary_summary(
            table, {"population": 9, "groups": [{"columns": ["id"], "probability": 0.5}]}
        )
    spark.conf.set(SETTING, "many")
    with pytest.raises(
        ReidError, match=f"{SETTING} must be a whole number of at least 1, got 'many'"
    ):
        rs.risk_summary(table, ["half"])


def plan(frame: "DataFrame", capsys: pytest.CaptureFixture[str]) -> str:
    frame.explain()
    return capsys.readouterr().out


@pytest.mark.spark_defaults
def test_counting_groups_before_it_shuffles_and_runs_no_python(
    people: "DataFrame", capsys: pytest.CaptureFixture[str]
) -> None:
    frames = {
        "histogram": rs.class_size_histogram(people, ["Age", "sex"]),
        "classes": rs.equivalence_classes(people, ["Age", "sex"], nulls="drop"),
        "class size": rs.equivalence_class_size(people, "Age", "sex"),
    }
    for frame in frames.values():
        text = plan(frame, capsys)
        assert "partial_count(1)" in text
        assert not any(word in text for word in ("Window", "Python", "ArrowEval", "MapIn"))
    lines = plan(frames["histogram"], capsys).splitlines()
    shuffles = [place for place, line in enumerate(lines) if "Exchange hashpartitioning" in line]
    assert len(shuffles) == 2
    assert all("partial_count(1)" in lines[place + 1] for place in shuffles)
