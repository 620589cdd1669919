"""Attacks on a synthetic table on Spark: every figure is DuckDB's, of records and of people; refusals."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.tables import by_duckdb

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.sparks import by_spark, rows_of, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANY: Any = rs
QI = ["age", "zip"]


def town(start: int) -> pl.DataFrame:
    """Visits with NULLs; each table has people of its own."""
    rows = range(start, start + 90)
    return pl.DataFrame(
        {
            "age": [None if n % 17 == 3 else 20 + n * n % 23 for n in rows],
            "zip": ["abcdé"[n * 7 % 5] for n in rows],
            "diagnosis": [None if n % 11 == 1 else f"d{n * n % 4}" for n in rows],
            "person": [f"p{n * 7 % 31}" for n in rows],
        }
    )


TABLES = {"o": town(0), "s": pl.concat([town(0).head(20), town(500).head(70)]), "h": town(1000)}


@pytest.mark.parametrize("entity", [None, "person"])
@pytest.mark.parametrize("has_holdout", [True, False])
def test_every_figure_is_that_of_duckdb(
    spark: "SparkSession", entity: str | None, *, has_holdout: bool
) -> None:
    tables = dict(list(TABLES.items())[: 2 + has_holdout])
    more: dict[str, Any] = {} if entity is None else {"entity": entity}
    asked = "".join(
        [
            ", holdout := h" if has_holdout else "",
            "" if entity is None else f", entity := '{entity}'",
        ]
    )
    expected = by_duckdb(
        f"FROM audit_synthetic(o, s, {QI}, sensitive := ['diagnosis']{asked})", **tables
    )
    frames = [to_spark(spark, each) for each in tables.values()]
    holdout = {"holdout": frames[2]} if has_holdout else {}
    found = ANY.audit_synthetic(*frames[:2], QI, sensitive=["diagnosis"], **holdout, **more)
    for mine, theirs in zip(rows_of(found), expected, strict=True):
        assert mine == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            TABLES["s"].with_columns(pl.col("age").cast(pl.Float64)),
            "must have the same types in both tables, got 'age' as BIGINT and DOUBLE; cast one",
        ),
        (TABLES["s"].drop("zip"), "must be columns of the synthetic table, got 'zip'"),
        (TABLES["s"].head(0), "synthetic must contain at least one record, got 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    spark: "SparkSession", other: pl.DataFrame, words: str
) -> None:
    with pytest.raises(ReidError, match=words):
        by_spark(spark, "audit_synthetic", [TABLES["o"], other], QI)
