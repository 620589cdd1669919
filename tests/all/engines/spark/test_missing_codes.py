"""Spark: codes that a policy declares missing, decimal commas in weights, and which table lacks a column."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")


import reid_sql.spark as rs
from reid_sql.check.gate import run
from reid_sql.errors import ReidError
from tests.check.test_declared_codes import KINDS, ROLES, figures, people

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("role", ROLES)
def test_spark_counts_declared_codes_as_duckdb_does(
    spark: "SparkSession",  # noqa: ARG001 - the session that the gate takes
    tmp_path: Path,
    role: str,
) -> None:
    about, checks = ROLES[role]
    policy = tmp_path / "p.toml"
    for kind, (values, codes) in KINDS.items():
        pl.DataFrame(people(values)).write_parquet(tmp_path / "t.parquet")
        head = (
            f'mask_below = 1\n[[tables]]\nfile = "t.parquet"\n{about}\nmissing = {{ x = {codes} }}'
        )
        policy.write_text(f"{head}\nchecks = [{checks}]", encoding="utf-8")
        found, expected = (
            figures(run(policy, engine=engine).page) for engine in ("spark", "duckdb")
        )
        assert found == expected, kind


def test_a_weight_with_a_decimal_comma_is_named(spark: "SparkSession") -> None:
    frame = spark.createDataFrame([(1, 1, "10,53"), (2, 1, "3")], "id BIGINT, a BIGINT, w STRING")
    with pytest.raises(ReidError, match="weight must be a number for every record, got text") as no:
        rs.individual_risk(frame, ["a"], weight="w", key="id").collect()
    assert "10,53" not in str(no.value)


@pytest.mark.parametrize(
    ("function", "table"), [("compare", "release"), ("journalist_risk", "population table")]
)
def test_the_table_that_lacks_a_column_is_named(
    spark: "SparkSession", function: str, table: str
) -> None:
    has = spark.createDataFrame([(1, "x"), (2, "y")], "a BIGINT, job STRING")
    with pytest.raises(ReidError, match=f"must be columns of the {table}, got 'job'"):
        getattr(rs, function)(has, has.withColumnRenamed("job", "jobs"), ["a", "job"]).collect()
