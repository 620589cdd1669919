"""What the first tier leaves of tests/models/population/test_classical_estimators.py."""

import duckdb
import pytest

from reid_sql.models.population import classical_estimators
from reid_sql.models.population import classical_estimators as snb
from tests.histograms import FEW, MORE, of_adult
from tests.models.population.test_classical_estimators import by_gammas


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("columns", "population", "unique"),
    [
        (FEW, 325_610, 41.58),
        (FEW, 3_256_100, 66.51),
        (MORE, 325_610, 10_195.2),
        (MORE, 3_256_100, 47_097.9),
    ],
)
def test_the_figures_of_arx(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], population: int, unique: float
) -> None:
    found = of_adult(con, adult, columns)
    classes = dict(zip(found.class_size.tolist(), found.classes.tolist(), strict=True))
    answer = classical_estimators.estimate_zayatz(found, population).uniqueness
    assert answer is not None
    assert round(answer * population, 2 if unique < 100 else 1) == unique
    assert answer == pytest.approx(by_gammas(classes, population), rel=1e-9)


@pytest.mark.real_data
@pytest.mark.parametrize(("columns", "unique"), [(FEW, 131.8), (MORE, 5_122.7)])
def test_zayatz_of_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], unique: float
) -> None:
    answer = classical_estimators.estimate_zayatz(
        of_adult(con, adult, columns, tenth=True), 32_561
    ).uniqueness
    assert answer is not None
    assert round(answer * 32_561, 1) == unique


@pytest.mark.real_data
@pytest.mark.parametrize(("columns", "unique"), [(FEW, 106.7), (MORE, 3_095.2)])
def test_slide_negative_binomial_of_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], unique: float
) -> None:
    answer = snb.estimate_slide_negative_binomial(
        of_adult(con, adult, columns, tenth=True), 32_561
    ).uniqueness
    assert answer is not None
    assert answer * 32_561 == pytest.approx(unique, rel=1e-3)
