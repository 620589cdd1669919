"""Two releases on Spark: every figure is DuckDB's, of records and of people; refusals."""

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.tables import by_duckdb

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

import reid_sql.spark as rs
from tests.sparks import rows_of, to_spark

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANY: Any = rs
QI = ["size", "zip"]
SIZES = [0.0, -0.0, float("nan"), None, 1.5, 2.5]
VALUES = ["flu", "hiv", None]


def month(start: int) -> pl.DataFrame:
    """People with NULLs, of whom some move; `stay` repeats with the values of each person's rows."""
    rows = range(start, start + 40)
    return pl.DataFrame(
        {
            "id": rows,
            "size": [SIZES[n * n % 6 + (n % 7 == start % 7) - 1] for n in rows],
            "zip": ["abc"[n * 7 % 3] if n % 5 else None for n in rows],
            "sick": [VALUES[n * n % 3] for n in rows],
            "person": [n // 3 for n in rows],
        }
    )


OPTIONS: list[dict[str, str]] = [
    {"sensitive": "sick", "nulls": "drop"},
    {"key": "id", "sensitive": "sick"},
    {"entity": "person"},
    {"entity": "id", "sensitive": "sick"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_figure_is_that_of_duckdb(spark: "SparkSession", options: dict[str, str]) -> None:
    one, two = month(0), month(9)
    extras = "".join(f", {name} := '{value}'" for name, value in options.items())
    expected = by_duckdb(f"FROM compare_releases(one, two, {QI}{extras})", one=one, two=two)
    found = rows_of(ANY.compare_releases(to_spark(spark, one), to_spark(spark, two), QI, **options))
    assert found == expected


def test_what_all_releases_reveal_is_that_of_duckdb(spark: "SparkSession") -> None:
    one, two, three = month(0), month(9), month(18)
    asked = f"FROM compare_releases(one, two, {QI}, entity := 'person', more := ['three'])"
    frames = [to_spark(spark, each) for each in (one, two, three)]
    found = ANY.compare_releases(frames[0], frames[1], QI, entity="person", more=frames[2:])
    assert rows_of(found) == by_duckdb(asked, one=one, two=two, three=three)


@pytest.mark.parametrize(
    ("second", "options", "words"),
    [
        (
            month(0).cast({"id": pl.String}),
            {"key": "id"},
            "key must have the same type in both tables",
        ),
        (month(0), {"key": "person"}, "key must differ between records"),
        (month(0).drop("zip"), {}, "must be columns of the second release, got 'zip'"),
        (
            month(0).cast({"size": pl.String}),
            {},
            "must have the same types in both tables, got 'size' as",
        ),
        (month(0), {"entity": "zip"}, "entity must not be a quasi-identifier, got 'zip'"),
        (month(0).head(0), {}, "second must contain at least one record, got 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    spark: "SparkSession", second: pl.DataFrame, options: dict[str, str], words: str
) -> None:
    with pytest.raises(ReidError, match=words):
        ANY.compare_releases(to_spark(spark, month(0)), to_spark(spark, second), QI, **options)
