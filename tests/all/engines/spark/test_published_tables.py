"""Cells and published tables on Spark against DuckDB's, which a loop over the records verifies."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.check import gate
from reid_sql.errors import ReidError
from tests.udfs.test_safe_table import BY, people

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import rows_of, same, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
ODD = r"the \d's `sex` \"x\""
ASKED: list[dict[str, Any]] = [
    {},
    {"totals": "rollup", "nulls": "drop"},
    {"value": "cost", "totals": "margins", "dominance": [3, 0.8]},
    {"entity": "who", "totals": "margins", "suppress": "primary"},
    {"totals": "margins", "k": 9, "suppress": "secondary", "zeros": "list"},
    {"entity": "who", "value": "cost", "dominance": [2, 0.5]},
    {"totals": "margins", "k": 9, "suppress": "secondary", "protection": 4},
]


@each_cell("asked", ASKED)
def test_cells_are_those_of_duckdb(spark: "SparkSession", asked: dict[str, Any]) -> None:
    frame = people(3, 90).rename({"sex": ODD})
    by = [BY[0], ODD]
    answers = rows_of(rs.safe_table(to_spark(spark, frame), by, **asked))
    with duckdb.connect() as con:
        expected = reid_sql.safe_table(con, frame, by, **asked).pl().to_dicts()
    assert expected
    same(*(sorted(rows, key=lambda row: _cell(row, by)) for rows in (answers, expected)))


def _cell(row: dict[str, Any], by: list[str]) -> str:
    return repr((row["total_over"], *(row[name] for name in by)))


def test_what_spark_hides_is_audited_on_spark(spark: "SparkSession") -> None:
    asked: dict[str, Any] = {"totals": "margins", "k": 9, "suppress": "primary"}
    frame = people(1, 300)
    hidden = rs.safe_table(to_spark(spark, frame), BY, **asked)
    answers = rows_of(rs.audit_tables([hidden], k=9))
    with duckdb.connect() as con:
        published = reid_sql.safe_table(con, frame, BY, **asked)
        expected = reid_sql.audit_tables(con, [published], k=9).pl().to_dicts()
    assert "recovered" in {row["finding"] for row in answers}
    same(*(sorted(rows, key=lambda row: str(row["cell"])) for rows in (answers, expected)))


@pytest.mark.parametrize("value", ["x", "nan", "-inf"])
@pytest.mark.parametrize("entity", [None, "who"])
def test_a_value_that_is_no_finite_number_is_refused(
    spark: "SparkSession", value: str, entity: str | None
) -> None:
    frame = people(0).with_columns(cost=pl.lit(value))
    with pytest.raises(
        ReidError, match="value must be a column of finite numbers, got another value"
    ):
        rs.safe_table(to_spark(spark, frame), BY, value="cost", entity=entity)


def test_two_columns_of_one_name_are_refused(spark: "SparkSession") -> None:
    """One of them would replace the other, and its cells would be those of other people."""
    table = spark.sql("SELECT 'N' AS region, 3 AS records, 9 AS records")
    with pytest.raises(ReidError, match="columns must be distinct, got 'records' twice"):
        rs.audit_tables([table])


@pytest.mark.usefixtures("spark")
def test_the_gate_judges_cells_on_spark(tmp_path: Path) -> None:
    people(2, 200).write_parquet(tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(
        f"""mask_below = 1
        [[tables]]
        file = "{tmp_path / "people.parquet"}"
        quasi_identifiers = ["region", "sex"]
        [[tables.checks]]
        measure = "cells_below_k"
        totals = "margins"
        at_most = 0
        [[tables.checks]]
        measure = "dominated_cells"
        value = "cost"
        dominance = [2, 0.4]
        at_most = 0""",
        encoding="utf-8",
    )
    on_spark, by_duckdb = (
        [
            check["groups"][0]["value"]
            for check in gate.check(tmp_path / "policy.toml", engine=engine)["checks"]
        ]
        for engine in ("spark", None)
    )
    assert on_spark == by_duckdb
    assert all(on_spark)
