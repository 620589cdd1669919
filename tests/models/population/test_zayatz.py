"""Zayatz' estimator against exact fractions, and against the published run of ARX."""

from fractions import Fraction
from math import comb

import duckdb
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.population import zayatz
from tests.histograms import CLASSES, FEW, MORE, histogram, of_adult


def by_fractions(classes: dict[int, int], population: int) -> Fraction:
    records = sum(size * count for size, count in classes.items())
    once = {
        size: Fraction(size * comb(population - size, records - 1), comb(population, records))
        for size in classes
    }
    alone = classes.get(1, 0)
    return (
        Fraction(alone, records)
        * alone
        * once.get(1, Fraction(0))
        / sum(n * once[size] for size, n in classes.items())
    )


def by_gammas(classes: dict[int, int], population: int) -> float:
    """The same in forty digits, where fractions would be too long."""
    records = sum(size * count for size, count in classes.items())

    def once(size: int) -> mpmath.mpf:
        """C(n − i, n_s − 1) / C(n − 1, n_s − 1), times i."""
        if population - size - records + 1 < 0:
            return mpmath.mpf(0)
        tops = mpmath.loggamma(population - size + 1) - mpmath.loggamma(population - size - records + 2)
        whole = mpmath.loggamma(population) - mpmath.loggamma(population - records + 1)
        return size * mpmath.exp(tops - whole)

    with mpmath.workdps(40):
        return float(
            mpmath.mpf(classes[1]) ** 2 / records / sum(count * once(size) for size, count in classes.items())
        )


@given(CLASSES, st.integers(0, 5_000))
def test_the_answer_is_that_of_exact_fractions(classes: dict[int, int], more: int) -> None:
    population = sum(size * count for size, count in classes.items()) + more
    found = zayatz.estimate(histogram(classes), population).uniqueness
    if 1 not in classes:
        assert found == 0
        return
    assert found == pytest.approx(float(by_fractions(classes, population)), rel=1e-9)


@pytest.mark.parametrize("population", [10**9 + 7, 8 * 10**9])
def test_eight_thousand_million_people_lose_no_digits(population: int) -> None:
    classes = {1: 5_000_000, 2: 900_000, 30: 4_000, 100_000: 30, 400_000_000: 2}
    assert zayatz.estimate(histogram(classes), population).uniqueness == pytest.approx(
        by_gammas(classes, population), rel=1e-9
    )


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("columns", "population", "unique"),
    [(FEW, 325_610, 41.58), (FEW, 3_256_100, 66.51), (MORE, 325_610, 10_195.2), (MORE, 3_256_100, 47_097.9)],
)
def test_the_figures_of_arx(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], population: int, unique: float
) -> None:
    found = of_adult(con, adult, columns)
    classes = dict(zip(found.class_size.tolist(), found.classes.tolist(), strict=True))
    answer = zayatz.estimate(found, population).uniqueness
    assert answer is not None
    assert round(answer * population, 2 if unique < 100 else 1) == unique
    assert answer == pytest.approx(by_gammas(classes, population), rel=1e-9)


@pytest.mark.real_data
@pytest.mark.parametrize(("columns", "unique"), [(FEW, 131.8), (MORE, 5_122.7)])
def test_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], unique: float
) -> None:
    answer = zayatz.estimate(of_adult(con, adult, columns, tenth=True), 32_561).uniqueness
    assert answer is not None
    assert round(answer * 32_561, 1) == unique
