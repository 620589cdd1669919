"""What the first tier leaves of tests/udfs/test_risk_summary.py."""

import polars as pl
import pytest

from tests.tables import (
    ADULT10,
    by_both,
    by_duckdb,
)


@pytest.mark.real_data
def test_adult_figures(adult: str) -> None:
    six = ["age", "education", "occupation", "relationship", "sex", "native_country"]
    found = by_duckdb(f"FROM risk_summary('{adult}', {six})")[0]
    assert (found["classes"], found["k"], found["unique_records"]) == (15_093, 1, 10_154)
    for answer in by_both("risk_summary", {"t": pl.read_parquet(adult)}, ADULT10):
        figures = {name: answer[0][name] for name in ("records", "classes", "unique_records")}
        assert figures == {"records": 32_561, "classes": 27_515, "unique_records": 24_802}
    assert found["average_risk"] == pytest.approx(0.4635299899, abs=5e-11)
