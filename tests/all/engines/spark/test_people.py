"""People in place of rows on Spark: what a loop over their records counts, and what DuckDB says."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.tables import by_duckdb

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import by_spark, rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANY: Any = rs
QI = ["age", "zip"]
VISITS = pl.DataFrame(
    {
        "age": [None if number % 17 == 3 else 20 + number * number % 5 for number in range(80)],
        "zip": ["ab"[number % 2] for number in range(80)],
        "person": [f"p{number * 7 % 31}" for number in range(80)],
        "id": range(80),
    }
)
CENSUS = VISITS.filter(pl.col("id") % 3 != 0).with_columns(pl.col("age").cast(pl.Float64))


def classes(frame: pl.DataFrame) -> dict[tuple[Any, ...], set[Any]]:
    """The people of each class."""
    found = defaultdict(set)
    for row in frame.rows(named=True):
        found[tuple(row[name] for name in QI)].add(row["person"])
    return dict(found)


@pytest.mark.spark_defaults
def test_a_class_is_as_large_as_it_has_people(spark: "SparkSession") -> None:
    people = classes(VISITS)
    sized = rows_of(
        rs.equivalence_class_size(to_spark(spark, VISITS), *QI, name="k", entity="person")
    )
    assert len(sized) == len(VISITS)
    assert all(row["k"] == len(people[tuple(row[name] for name in QI)]) for row in sized)
    listed = by_spark(spark, "equivalence_classes", [VISITS], QI, entity="person")
    assert {tuple(row[name] for name in QI): row["class_size"] for row in listed} == {
        key: len(members) for key, members in people.items()
    }
    assert sum(row["records"] for row in listed) == len(VISITS)
    by_name = rows_of(rs.equivalence_class_people(to_spark(spark, VISITS), "person", *QI, name="k"))
    assert sorted((row["id"], row["k"]) for row in by_name) == sorted(
        (row["id"], row["k"]) for row in sized
    )
    with pytest.raises(
        ReidError, match="entity must be the column that identifies people, got NULL"
    ):
        ANY.equivalence_class_people(to_spark(spark, VISITS), None, "age")


def test_each_person_counts_by_the_smallest_of_their_classes(spark: "SparkSession") -> None:
    people = classes(VISITS)
    smallest = {
        person: min(len(members) for members in people.values() if person in members)
        for person in set(VISITS["person"].to_list())
    }
    lines = by_spark(spark, "class_size_histogram", [VISITS], QI, entity="person")
    sizes = [len(members) for members in people.values()]
    expected = {size: (sizes.count(size), list(smallest.values()).count(size)) for size in sizes}
    assert {row["class_size"]: (row["classes"], row["records"]) for row in lines} == expected


@pytest.mark.parametrize("nulls", ["value", "drop"])
def test_risks_of_people_are_those_of_duckdb(spark: "SparkSession", nulls: str) -> None:
    given = {"entity": "person", "nulls": nulls}
    options = f"entity := 'person', nulls := '{nulls}'"
    found = by_spark(spark, "risk_summary", [VISITS], QI, **given)
    same(found, by_duckdb(f"FROM risk_summary(t, {QI}, {options})", t=VISITS))
    met = by_spark(spark, "journalist_risk", [VISITS, CENSUS], QI, **given)
    census = CENSUS.with_columns(pl.col("age").cast(pl.Int64))
    same(met, by_duckdb(f"FROM journalist_risk(t, p, {QI}, {options})", t=VISITS, p=census))


@pytest.mark.parametrize(
    ("function", "given", "options"),
    [
        ("pyc_fit", {}, ""),
        ("correctness_curve", {}, ""),
        (
            "population_uniqueness",
            {"population": 1e4, "method": "pitman"},
            ", population := 1e4, method := 'pitman'",
        ),
    ],
)
def test_samples_of_people_are_those_of_duckdb(
    spark: "SparkSession", function: str, given: dict[str, Any], options: str
) -> None:
    found = by_spark(spark, function, [VISITS], QI, **given, entity="person")
    same(found, by_duckdb(f"FROM {function}(t, {QI}{options}, entity := 'person')", t=VISITS))


@pytest.mark.parametrize("nulls", ["value", "drop"])
@pytest.mark.parametrize("function", ["l_diversity", "t_closeness", "disclosing_classes"])
def test_what_classes_give_away_of_people_is_that_of_duckdb(
    spark: "SparkSession", function: str, nulls: str
) -> None:
    diagnosis = [
        None if person is None else "xyz"[len(person) + int(person[1:]) % 2 - 2]
        for person in VISITS["person"]
    ]
    table = VISITS.with_columns(pl.Series("diagnosis", diagnosis, dtype=pl.String))
    found = by_spark(spark, function, [table], QI, "diagnosis", nulls=nulls, entity="person")
    options = f"entity := 'person', nulls := '{nulls}'"
    same(found, by_duckdb(f"FROM {function}(t, {QI}, 'diagnosis', {options})", t=table))
    where = "where a class is compared" if function == "t_closeness" else "in a class"
    with pytest.raises(ReidError, match=f"sensitive must have one value for each person {where}"):
        by_spark(spark, function, [table], QI, "id", nulls=nulls, entity="person")


def test_five_visits_of_a_lone_person_are_one_person(spark: "SparkSession") -> None:
    lone = pl.DataFrame(
        {
            "age": [number // 5 for number in range(50)],
            "person": [number // 5 for number in range(50)],
        }
    )
    found = by_spark(spark, "risk_summary", [lone], ["age"], entity="person")[0]
    assert (found["k"], found["records"], found["unique_records"]) == (1, 10, 10)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"entity": "ZIP"}, "entity must not be a quasi-identifier, got 'ZIP'"),
        (
            {"entity": "persn"},
            "quasi-identifiers and entity must be columns of the table, got 'persn'; did you mean 'person'",
        ),
        (
            {"entity": "person", "nulls": "wildcard"},
            "entity must be used with nulls := 'value' or 'drop', got",
        ),
    ],
)
def test_what_cannot_tell_people_apart_is_refused(
    spark: "SparkSession", options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ReidError, match=sentence):
        by_spark(spark, "risk_summary", [VISITS], QI, **options)


OF_COLUMNS: list[tuple[str, dict[str, Any]]] = [
    ("attribute_risk", {}),
    ("qar_risk", {"p": 2, "output": "quasi_identifiers"}),
    ("qar_risk", {"p": 2, "alpha": 0.1, "tail": 0.9}),
    ("suda_scores", {"output": "subsets"}),
    ("suda_scores", {"k": 4, "output": "subsets"}),
    ("suda_scores", {}),
    ("suda_scores", {"k": 3, "output": "columns"}),
]


@each_cell("nulls", ["value", "drop"])
@each_cell("name, own", OF_COLUMNS)
def test_choices_of_columns_count_people_as_duckdb_does(
    spark: "SparkSession", name: str, own: dict[str, Any], nulls: str
) -> None:
    frame = VISITS.with_columns(
        (pl.col("id") % 7 % 4).alias("ward"), (pl.col("id") * 3 % 11 % 5).alias("bed")
    )
    columns, given = [*QI, "ward", "bed"], own | {"entity": "person", "nulls": nulls}
    options = ", ".join(f"{key} := {value!r}" for key, value in given.items())
    expected = by_duckdb(f"FROM {name}(t, {columns}, {options})", t=frame)
    same(by_spark(spark, name, [frame], columns, **given), expected)


NUMBER = pl.col("person").str.slice(1).cast(pl.Int64)
STEADY = VISITS.drop_nulls("person").with_columns(
    (NUMBER % 5).alias("age"), (NUMBER % 3).alias("zip")
)
SCENARIO = """{"population": 1000, "groups": [{"columns": ["age"], "probability": 0.5},
  {"columns": ["zip"], "probability": 0.3}]}"""


@pytest.mark.parametrize("name", ["adversary_risk", "adversary_summary"])
def test_attackers_meet_people_as_in_duckdb(spark: "SparkSession", name: str) -> None:
    found = by_spark(spark, name, [STEADY], SCENARIO, entity="person")
    same(found, by_duckdb(f"FROM {name}(t, '{SCENARIO}', entity := 'person')", t=STEADY))
    several = r"people must have one value in each column of the scenario, got people of several"
    with pytest.raises(ReidError, match=several):
        by_spark(spark, name, [VISITS], SCENARIO, entity="person")


@pytest.mark.parametrize("name", ["individual_risk", "loglinear_risk"])
def test_a_sample_of_people_is_weighed_as_in_duckdb(spark: "SparkSession", name: str) -> None:
    frame = VISITS.with_columns((pl.col("id") * 7 % 11 + 2.5).alias("w"))
    given = {"weight": "w"} if name == "individual_risk" else {"sampling_fraction": 0.1}
    options = ", ".join(f"{key} := {value!r}" for key, value in given.items())
    found = by_spark(spark, name, [frame], QI, **given, entity="person")
    same(found, by_duckdb(f"FROM {name}(t, {QI}, {options}, entity := 'person')", t=frame))
    with pytest.raises(ReidError, match="key must be left out where people are counted, got 'id'"):
        by_spark(spark, name, [frame], QI, **given, entity="person", key="id")
