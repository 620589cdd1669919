"""The slide negative binomial model against its own distribution summed up, populations drawn from it, and published runs."""

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
