"""What the first tier leaves of tests/models/population/test_pitman.py."""

import duckdb
import pytest

from reid_sql.models.population import pitman
from tests.histograms import FEW, MORE, of_adult


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("columns", "population", "unique"),
    # ARX 3.9.2 lets α become negative for the first, which gives 90.24; 93.09 is its figure with alpha at 0.
    [(FEW, 325_610, 93.09), (MORE, 325_610, 10_059.0), (MORE, 3_256_100, 29_057.0)],
)
def test_the_figures_of_arx(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], population: float, unique: float
) -> None:
    found = pitman.pitman_uniqueness(
        of_adult(con, adult, columns), population, "asymptotic"
    ).uniqueness
    assert found is not None
    assert found * population == pytest.approx(unique, rel=5e-5)


@pytest.mark.real_data
@pytest.mark.parametrize(("columns", "unique"), [(FEW, 103.8), (MORE, 3_946.2)])
def test_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], unique: float
) -> None:
    found = pitman.pitman_uniqueness(
        of_adult(con, adult, columns, tenth=True), 32_561, "asymptotic"
    ).uniqueness
    assert found is not None
    assert found * 32_561 == pytest.approx(unique, rel=1e-3)
