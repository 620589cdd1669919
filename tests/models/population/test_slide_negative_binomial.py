"""The slide negative binomial model against its summed distribution, drawn populations, published runs."""

from collections import Counter

import duckdb
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

from reid_sql.models.population import slide_negative_binomial as snb
from reid_sql.models.population.shlosser import population_classes
from tests.histograms import CLASSES, FEW, MORE, histogram, of_adult


@pytest.mark.real_data
@pytest.mark.parametrize(("columns", "unique"), [(FEW, 106.7), (MORE, 3_095.2)])
def test_a_tenth_of_adult(
    con: duckdb.DuckDBPyConnection, adult: str, columns: list[str], unique: float
) -> None:
    answer = snb.estimate(of_adult(con, adult, columns, tenth=True), 32_561).uniqueness
    assert answer is not None
    assert answer * 32_561 == pytest.approx(unique, rel=1e-3)


@pytest.mark.parametrize(
    ("alpha", "beta", "fraction"), [(0.3, 0.1, 0.1), (2.0, 0.4, 0.05), (0.05, 0.01, 0.5), (1.0, 0.2, 0.9)]
)
def test_the_equations_are_solved_by_the_distribution_they_describe(
    alpha: float, beta: float, fraction: float
) -> None:
    people = np.arange(1, 20_000)
    share = stats.nbinom.pmf(people - 1, alpha, beta)
    once, twice = (float(share @ stats.binom.pmf(seen, people, fraction)) for seen in (1, 2))
    equations = snb.Equations(once, twice / once, fraction)
    found = equations.solutions()
    nearest = found[np.argmin(np.abs(found - logit(beta)))]
    assert expit(nearest) == pytest.approx(beta, rel=1e-8)
    assert equations.alpha(np.array([nearest]))[0] == pytest.approx(alpha, rel=1e-8)


@given(CLASSES, st.floats(1e-6, 1))
def test_the_classes_of_the_population_are_those_of_the_textbook(
    classes: dict[int, int], fraction: float
) -> None:
    found = population_classes(histogram(classes), fraction)
    if 1 not in classes or fraction == 1:
        assert found == sum(classes.values())
        return
    with mpmath.workdps(60):
        f = mpmath.mpf(fraction)
        squares = sum(n * i * f**2 * (1 - f**2) ** (i - 1) for i, n in classes.items())
        pairs = sum(n * (1 - f) ** i * ((1 + f) ** i - 1) for i, n in classes.items())
        missed = sum(n * (1 - f) ** i for i, n in classes.items())
        once = sum(n * i * f * (1 - f) ** (i - 1) for i, n in classes.items())
        exact = float(sum(classes.values()) + classes[1] * squares / pairs * (missed / once) ** 2)
    assert found == pytest.approx(exact, rel=1e-9)


def test_a_population_of_the_model_is_found_again() -> None:
    rng = np.random.default_rng(7)
    people = 1 + rng.negative_binomial(0.4, 0.08, 20_000)
    seen = rng.binomial(people, 0.5)
    sample = histogram(dict(Counter(seen[seen > 0].tolist())))
    found = snb.estimate(sample, float(people.sum())).uniqueness
    assert found == pytest.approx((people == 1).sum() / people.sum(), rel=0.05)


@given(CLASSES, st.floats(1, 1e6))
def test_there_is_a_share_or_a_reason(classes: dict[int, int], growth: float) -> None:
    sample = histogram(classes)
    found = snb.estimate(sample, float(sample.records.sum() * growth))
    assert (found.uniqueness is None) == (found.status == snb.NOT_SOLVED)
    assert found.uniqueness is None or 0 <= found.uniqueness <= 1


def in_exact_arithmetic(classes: dict[int, int], population: int) -> list[float]:
    """Shares of unique people of every (α, β) that solves both equations, with 50 digits."""
    with mpmath.workdps(50):
        f = mpmath.mpf(sum(size * count for size, count in classes.items())) / population
        once, twice = classes[1], mpmath.mpf(classes[2])
        rows = list(classes.items())
        squares = mpmath.fsum(n * i * f**2 * (1 - f**2) ** (i - 1) for i, n in rows)
        pairs = mpmath.fsum(n * (1 - f) ** i * ((1 + f) ** i - 1) for i, n in rows)
        missed = mpmath.fsum(n * (1 - f) ** i for i, n in rows)
        shown = mpmath.fsum(n * i * f * (1 - f) ** (i - 1) for i, n in rows)
        total = sum(classes.values()) + once * squares / pairs * (missed / shown) ** 2

        def alpha(beta: mpmath.mpf) -> mpmath.mpf:
            d = (1 - f) * (1 - beta)
            r = 2 * twice / once * (1 - d) / (f * (1 - beta))
            middle = 2 - d - r * d
            return (-middle + mpmath.sqrt(middle**2 + 4 * d * r * (1 - d))) / (2 * d)

        def excess(logit: mpmath.mpf) -> mpmath.mpf:
            beta = 1 / (1 + mpmath.e ** (-logit))
            a, d = alpha(beta), (1 - f) * (1 - beta)
            return f * total * (beta / (1 - d)) ** a * (1 + (a - 1) * d) / (1 - d) - once

        grid = [mpmath.mpf(place) / 4 for place in range(-120, 121)]
        values = [excess(logit) for logit in grid]
        found = []
        for low, high, first, last in zip(grid, grid[1:], values, values[1:], strict=False):
            if first * last < 0:
                beta = 1 / (1 + mpmath.e ** (-mpmath.findroot(excess, (low, high), solver="anderson")))
                found.append(float(min(1, total / population * beta ** alpha(beta))))
        return found


@pytest.mark.parametrize(
    ("classes", "population"),
    [
        ({1: 24, 2: 3}, 6_000),
        ({1: 54, 2: 13}, 16_000),
        ({1: 3, 2: 14, 3: 5, 4: 7, 6: 1}, 160),
        ({1: 402, 2: 49}, 100_000),
        ({1: 49, 2: 14, 3: 1}, 160),
        ({1: 752, 2: 372, 3: 121, 4: 27, 5: 3, 6: 3}, 4_000),
        ({1: 196, 2: 2}, 400),
    ],
)
def test_it_solves_its_equations_or_says_that_nothing_does(classes: dict[int, int], population: int) -> None:
    solutions = in_exact_arithmetic(classes, population)
    found = snb.estimate(histogram(classes), population)
    if not solutions:
        assert (found.uniqueness, found.status) == (None, snb.NOT_SOLVED)
        return
    assert found.uniqueness == pytest.approx(max(solutions), abs=1e-9)
