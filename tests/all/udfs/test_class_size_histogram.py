"""What the first tier leaves of tests/udfs/test_class_size_histogram.py."""

import polars as pl
import pytest

from tests.tables import (
    NULLS,
    by_duckdb,
    by_polars,
)


@pytest.mark.real_data
def test_engines_agree_on_real_data_with_missing_values(adult: str) -> None:
    path = adult.replace("adult", "hdv2003")
    columns = [
        name
        for name in pl.scan_parquet(path).collect_schema().names()
        if name not in ("poids", "id")
    ][:8]
    for nulls in NULLS:
        sql = f"FROM class_size_histogram('{path}', {columns}, nulls := '{nulls}')"
        assert by_duckdb(sql) == by_polars(
            "class_size_histogram", pl.scan_parquet(path), columns, nulls=nulls
        )
