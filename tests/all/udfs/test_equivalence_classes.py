"""What the first tier leaves of tests/udfs/test_equivalence_classes.py."""

import polars as pl
import pytest

from tests.tables import by_duckdb, by_polars


@pytest.mark.real_data
def test_adult_has_the_published_number_of_classes(adult: str) -> None:
    six = ["age", "education", "occupation", "relationship", "sex", "native_country"]
    sql = f"SELECT count(*) AS n, sum(records) AS r FROM equivalence_classes('{adult}', {six})"
    assert by_duckdb(sql) == [{"n": 15_093, "r": 32_561}]
    assert len(by_polars("equivalence_classes", pl.scan_parquet(adult), six)) == 15_093
