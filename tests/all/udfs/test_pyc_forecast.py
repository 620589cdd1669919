"""What the first tier leaves of tests/udfs/test_pyc_forecast.py."""

import polars as pl
import pytest

from tests.tables import by_duckdb, by_polars


@pytest.mark.real_data
def test_a_tenth_of_adult_forecasts_the_whole(adult: str) -> None:
    whole = pl.read_parquet(adult)
    columns = ["age", "sex", "race", "education", "occupation"]
    tenth = whole.sample(fraction=0.1, seed=1, shuffle=True)
    found = by_polars("pyc_forecast", tenth, columns, [whole.height])[0]
    truth = by_duckdb(f"FROM risk_summary('{adult}', {columns})")[0]
    assert found["correctness"] == pytest.approx(truth["average_risk"], abs=0.03)
    assert found["uniqueness"] == pytest.approx(truth["uniqueness"], abs=0.03)
