"""Which values come to the driver: each table that is collected for an answer is read."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.polars as rp
import reid_sql.spark as rs
from reid_sql.check.gate import check
from reid_sql.reduction import Needs
from reid_sql_udfs import declared
from tests.all.engines.ibis.test_values_stay import CALLS, NUMBERS, TEXTS, members
from tests.cells import each_cell
from tests.sparks import rows_of, to_spark

__all__ = ["members"]
pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def people(members: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    frame: pl.DataFrame = members.sql("FROM people").pl()
    return frame


@pytest.fixture
def collected(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> list[pa.Table]:
    """Each table that Spark sends to the driver, which gets it all the same."""
    kind = type(spark.range(1))
    fetched: list[pa.Table] = []
    to_arrow: Callable[[Any], pa.Table] = kind.toArrow

    def record(frame: "DataFrame") -> pa.Table:
        fetched.append(to_arrow(frame))
        return fetched[-1]

    monkeypatch.setattr(kind, "toArrow", record)
    return fetched


def values_in(tables: list[pa.Table], people: pl.DataFrame) -> set[str]:
    """The columns of which a value is in one of the tables."""
    columns = (column for table in tables for column in table.columns)
    shown = [cell for column in columns for cell in column.to_pylist()]
    cells = {value for cell in shown for value in (cell if isinstance(cell, list) else [cell])}
    return {name for name in (*TEXTS, *NUMBERS) if cells & set(people[name].drop_nulls().to_list())}


@each_cell("name", CALLS)
def test_no_more_comes_than_a_function_needs(
    spark: "SparkSession", people: pl.DataFrame, collected: list[pa.Table], name: str
) -> None:
    """And the answers are those of Polars, from the values."""
    functions = (each for one in declared().values() for each in one.all_outputs)
    function = next(each for each in functions if each.key == name)
    collected.clear()
    answer: Any = CALLS[name](rs, to_spark(spark, people))
    allowed = {"age"} if function.needs is Needs.POSITIONS else set()
    assert values_in(collected, people) == allowed, name
    there, here = rows_of(answer), CALLS[name](rp, people).collect().to_dicts()
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        assert {key: each for key, each in other.items() if key in one} == {
            key: pytest.approx(each, rel=1e-9) if isinstance(each, float) else each
            for key, each in one.items()
        }, name


def test_values_come_where_an_option_compares_them(
    spark: "SparkSession", people: pl.DataFrame, collected: list[pa.Table]
) -> None:
    rs.risk_summary(to_spark(spark, people), ["age", "sex"], tolerance={"age": 1000})
    assert values_in(collected, people) == {"age", "sex"}


def test_texts_that_are_numbers_keep_their_places(spark: "SparkSession") -> None:
    """A model of people reads such texts as numbers; a rank would be another number."""
    rows = [(str(1900 + n % 90), n % 7, float("nan") if n % 40 == 0 else n / 4) for n in range(400)]
    frame = pl.DataFrame(rows, ["year", "place", "home"], orient="row")
    ask: Callable[[Any, Any], Any]
    for ask in (
        lambda r, t: r.population_risk(t, ["year", "place"], [10**5]),
        lambda r, t: r.household_risk(t, "home", ["year", "place"]),
    ):
        here = partial(ask, rp)(frame).collect().to_dicts()
        assert rows_of(ask(rs, to_spark(spark, frame))) == here


GATE = """
[[tables]]
file = "people.parquet"
quasi_identifiers = ["age", "place", "sex"]
checks = [
  { measure = "separation", at_most = 1 },
  { measure = "keys", at_most = 3 },
  { measure = "qar", p = 1, at_most = 1 },
  { measure = "population_uniqueness", population = 100_000, at_most = 1 },
]
"""


def test_the_gate_gets_values_of_columns_and_rows_but_no_combinations(
    spark: "SparkSession", people: pl.DataFrame, collected: list[pa.Table], tmp_path: Path
) -> None:
    """It looks for missing-value codes in columns, and for columns of people in a draw of rows."""
    del spark
    people.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(GATE, encoding="utf-8")
    collected.clear()
    page = check(tmp_path / "policy.toml", engine="spark")
    assert all(
        group["verdict"] != "not measured" for each in page["checks"] for group in each["groups"]
    )
    combined = [each for each in collected if {"q1", "q2", "q3", "records"} <= {*each.column_names}]
    assert [values_in([each], people) for each in combined] == [set()] * (len(combined) - 1) + [
        {"age"}
    ]
    assert len(combined) >= 2
    others = [each for each in collected if values_in([each], people) - {"age"}]
    assert {tuple(each.column_names) for each in others} == {
        ("q1", "records"),
        tuple(people.columns),
    }
