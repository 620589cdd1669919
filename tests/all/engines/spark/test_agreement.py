"""Spark gives the same numbers as DuckDB and Polars, and what somebody counts by hand."""

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.asking import FUNCTIONS, counted, tidy
from tests.tables import (
    ADULT10,
    KINDS,
    NULLS,
    blank,
    by_both,
    by_duckdb,
    by_polars,
    class_sizes,
    drop_nulls,
    frames,
    histogram,
    keys,
    risk,
)

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import by_spark, rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = settings(max_examples=5)
PEOPLE = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, 30, None, None, 41],
        "sex": ["F", "F", "F", None, None, "M", "M", ""],
        "income": [0.0, -0.0, float("nan"), float("nan"), None, 1.5, 1.5, float("inf")],
        "born": [dt.date(2000, 2, 29)] * 3 + [None] * 2 + [dt.date(1970, 1, 1)] * 3,
        "debt": [Decimal("1.50")] * 2 + [None] * 4 + [Decimal("2.25")] * 2,
        "id": range(8),
    }
)
QI = ["age", "sex", "income", "born", "debt"]
OTHERS = PEOPLE.head(6).with_columns(age=pl.Series([20, 20, 20, 30, None, None]))
QUESTIONS: dict[str, tuple[list[pl.DataFrame], list[str], dict[str, Any]]] = {
    "equivalence_classes": ([PEOPLE], QI, {}),
    "class_size_histogram": ([PEOPLE], QI, {}),
    "risk_summary": ([PEOPLE], QI, {"threshold": 0.5}),
    "journalist_risk": ([OTHERS, PEOPLE], QI, {}),
    "attribute_risk": ([PEOPLE], QI[:4], {"max_size": 2}),
}


@each_cell("nulls", NULLS)
@each_cell("name", QUESTIONS)
def test_three_engines_say_the_same(spark: "SparkSession", name: str, nulls: str) -> None:
    tables, columns, options = QUESTIONS[name]
    options = options | {"nulls": nulls}
    named = dict(zip(("t", "p"), tables, strict=False))
    found = by_spark(spark, name, tables, columns, **options)
    for answer in by_both(name, named, columns, **options):
        same(found, answer)


@pytest.mark.spark_defaults
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_shared_questions_have_the_answers_that_counting_gives(
    spark: "SparkSession", name: str
) -> None:
    columns = ["a.b", 'q"uo`te', "Größe"]
    rows = [(1, "x", None), (1, "x", None), (2, "y", "1"), (None, None, None), (2, "y", "1")]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    given = [frame, frame] if name == "journalist_risk" else [frame]
    found = by_spark(
        spark, name, given, columns, **({"max_size": 1} if name == "attribute_risk" else {})
    )
    assert tidy([tuple(row.values()) for row in found]) == counted(name, rows, columns)


@FEW
@given(frames(min_rows=1), st.sampled_from(NULLS))
def test_drawn_tables_of_any_type_are_counted_as_a_person_counts(
    spark: "SparkSession", frame: pl.DataFrame, nulls: str
) -> None:
    rows = drop_nulls(keys(frame), nulls)
    sizes = class_sizes(rows, rows, nulls)
    lines = by_spark(spark, "class_size_histogram", [frame], frame.columns, nulls=nulls)
    assert [(row["class_size"], row["classes"], row["records"]) for row in lines] == histogram(
        rows, sizes
    )
    if rows:
        summary = by_spark(spark, "risk_summary", [frame], frame.columns, nulls=nulls)[0]
        expected = risk(rows, sizes, 0.2)
        assert summary["blank_records"] == blank(rows, nulls)
        assert {name: summary[name] for name in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.spark_defaults
def test_a_table_with_every_type_at_once(spark: "SparkSession") -> None:
    values: dict[str, list[Any]] = {
        "i": [1, 1, None, 2], "s": ["a", "a", None, "A"], "f": [0.0, -0.0, float("nan"), float("nan")],
        "b": [True, True, None, False], "d": [dt.date(2000, 1, 1)] * 3 + [None], "n": [Decimal("1.50")] * 4,
        "l": [[1, None], [1, None], [], None], "r": [{"x": None}, {"x": None}, {"x": 1}, {"x": 1}],
        "e": ["low"] * 4,
    }  # fmt: skip
    frame = pl.DataFrame(
        {
            name: pl.Series(values[name], dtype=kind)
            for name, kind in zip(values, KINDS, strict=True)
        }
    )
    frame = frame.with_columns(
        raw=pl.Series([b"\0\1", b"\0\1", None, b""]),
        deep=pl.Series([[{"y": 0.0}], [{"y": -0.0}], [{"y": float("nan")}], [{"y": None}]]),
        at=pl.Series([dt.datetime(2020, 1, 1, 0, 0, 0, 1, tzinfo=dt.UTC)] * 3 + [None]),
    )
    rows = keys(frame)
    found = rows_of(
        rs.equivalence_class_size(
            to_spark(spark, frame.with_row_index("row")), *frame.columns, name="k"
        )
    )
    assert (
        [row["k"] for row in sorted(found, key=lambda row: row["row"])]
        == class_sizes(rows, rows, "value")
        == [2, 2, 1, 1]
    )
    for column in frame.columns:
        same(
            by_spark(spark, "risk_summary", [frame], [column]),
            by_polars("risk_summary", frame, [column]),
        )


@pytest.mark.parametrize("exact_up_to", [1_000_000, 0])
def test_sets_are_matched_and_drawn_alike(spark: "SparkSession", exact_up_to: int) -> None:
    sets = ["abc", "ab", "bcd", "d", "abc", "ae"]
    pairs = [(number * 7 % 5 + number, item) for number, items in enumerate(sets) for item in items]
    frame = pl.DataFrame(
        [*pairs, *pairs[:3], (99, "a"), (3, None)], schema=["person", "item"], orient="row"
    )
    options: dict[str, Any] = {"points": 2, "exact_up_to": exact_up_to, "samples": 9, "seed": 5}
    found = by_spark(spark, "unicity", [frame], "person", ["item"], **options, output="curve")
    same(found, by_polars("unicity", frame, "person", ["item"], **options, output="curve"))
    assert found[0]["draws"] == (0 if exact_up_to else 9)
    for points in ([1, 3, 6], None):
        options["points"] = points
        found = by_spark(spark, "unicity", [frame], "person", ["item"], **options)
        same(found, by_polars("unicity", frame, "person", ["item"], **options))


SCENARIO = {
    "population": 1000,
    "groups": [
        {"columns": ["age", "born"], "by": "sex", "probabilities": {"F": 0.75}, "otherwise": 0.3},
        {"columns": ["income"], "probability": 0.5},
    ],
    "hierarchies": {"age": {"broader": {"20": ["30"]}}},
}


@pytest.mark.parametrize("nulls", NULLS)
def test_attackers_who_know_part_are_the_same_on_every_engine(
    spark: "SparkSession", nulls: str
) -> None:
    found = by_spark(spark, "adversary_risk", [PEOPLE], SCENARIO, key="id", nulls=nulls)
    same(found, by_polars("adversary_risk", PEOPLE, SCENARIO, key="id", nulls=nulls))
    summary = by_spark(spark, "adversary_summary", [PEOPLE], SCENARIO, nulls=nulls)
    same(summary, by_polars("adversary_summary", PEOPLE, SCENARIO, nulls=nulls))


@pytest.mark.parametrize("nulls", NULLS)
def test_a_population_table_tells_an_attacker_the_same_on_every_engine(
    spark: "SparkSession", nulls: str
) -> None:
    register = pl.concat([PEOPLE[2:], PEOPLE]).select("age", "born", "income")
    from_spark = to_spark(spark, register)
    found = by_spark(
        spark,
        "adversary_risk",
        [PEOPLE],
        SCENARIO,
        key="id",
        nulls=nulls,
        population_tbl=from_spark,
    )
    here = by_polars(
        "adversary_risk", PEOPLE, SCENARIO, key="id", nulls=nulls, population_tbl=register
    )
    same(found, here)
    assert {row["journalist"] for row in here} != {row["prosecutor"] for row in here}


VARIANTS = [
    ("l_diversity", {"variant": "distinct"}),
    ("l_diversity", {"variant": "entropy"}),
    ("l_diversity", {"variant": "recursive", "c": 0.9}),
    ("t_closeness", {"variant": "equal"}),
    ("attribute_disclosure", {"k": 3}),
    ("attribute_disclosure", {"measure": "beta_likeness", "variant": "basic"}),
    ("attribute_disclosure", {"measure": "beta_likeness", "variant": "enhanced"}),
    ("attribute_disclosure", {"measure": "delta_disclosure", "variant": "present"}),
    ("attribute_disclosure", {"measure": "delta_disclosure", "variant": "all"}),
]


@each_cell("measure, options", VARIANTS)
def test_what_classes_give_away_is_the_same(
    spark: "SparkSession", measure: str, options: dict[str, Any]
) -> None:
    numbers = range(60)
    people = pl.DataFrame(
        {
            "age": [number % 4 for number in numbers],
            "zip": [None if number % 9 == 3 else number % 2 for number in numbers],
            "ill": [
                None if number % 17 == 1 else "abcd"[number * number % 7 % 4] for number in numbers
            ],
        }
    )
    for name, more in (
        (measure, {"nulls": "value"}),
        ("disclosing_classes", {"nulls": "drop"}),
    ):
        first = "alpha_k_anonymity" if measure == "attribute_disclosure" else measure
        chosen = {"measure": first} if name == "disclosing_classes" else {}
        given = chosen | options | more
        found = by_spark(spark, name, [people], ["age", "zip"], "ill", **given)
        same(found, by_polars(name, people, ["age", "zip"], "ill", **given))


def test_class_sizes_stand_beside_every_record(spark: "SparkSession") -> None:
    rows = keys(PEOPLE.select(QI))
    found = rows_of(rs.equivalence_class_size(to_spark(spark, PEOPLE), *QI))
    assert list(found[0]) == [*PEOPLE.columns, "equivalence_class_size"]
    sized = {row["id"]: row["equivalence_class_size"] for row in found}
    assert [sized[number] for number in PEOPLE["id"]] == class_sizes(rows, rows, "value")


@pytest.mark.spark_defaults
@pytest.mark.real_data
def test_adult_has_the_published_figures(spark: "SparkSession", adult: str) -> None:
    people = spark.read.parquet(adult)
    found = rows_of(rs.risk_summary(people, ADULT10))
    assert (found[0]["records"], found[0]["classes"], found[0]["unique_records"]) == (
        32_561,
        27_515,
        24_802,
    )
    same(found, by_duckdb(f"FROM risk_summary('{adult}', {ADULT10})"))
    same(rows_of(rs.pyc_fit(people, ADULT10)), by_duckdb(f"FROM pyc_fit('{adult}', {ADULT10})"))
    sized = rs.equivalence_class_size(people, *ADULT10, name="k")
    assert sized.filter("k = 1").count() == 24_802
