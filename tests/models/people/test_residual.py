from math import lgamma

import mpmath as mp
import numpy as np
import pytest

from reid_sql.models.people import residual

CASES = [(0.01, 1.0, 100), (1e-4, 0.3, 3000), (0.2, 5.0, 60), (1e-6, 0.05, 1e6)]


def mean_over_gamma(a: float, law: object, extra: int = 0) -> float:
    """∫ law(G) g^(a+extra−1) e^(−a g) a^(a+extra)/Γ(a+extra) dg: G of mean (a+extra)/a."""
    shape = a + extra

    def term(log: float) -> object:
        g = mp.e**log
        density = mp.exp(shape * (mp.log(a) + log) - a * g - mp.loggamma(shape))
        return law(g) * density  # type: ignore[operator]

    return float(mp.quad(term, [*range(-400, -8, 8), *range(-8, 8)]))


@pytest.mark.parametrize(("q", "a", "people"), CASES)
def test_uniqueness_is_the_chance_of_no_other(q: float, a: float, people: float) -> None:
    want = mean_over_gamma(a, lambda g: mp.exp(-people * q * g), extra=1)
    assert float(residual.uniqueness(q, a, people)) == pytest.approx(want, rel=1e-8)


@pytest.mark.parametrize(("q", "a", "people"), CASES)
def test_correctness_is_the_mean_of_1_over_f(q: float, a: float, people: float) -> None:
    """The mean of 1/(1 + X), X Poisson of mean m, is (1 − e^−m)/m."""

    def law(g: object) -> object:
        m = people * q * g  # type: ignore[operator]
        return -mp.expm1(-m) / m

    assert float(residual.correctness(q, a, people)) == pytest.approx(mean_over_gamma(a, law, 1), rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 5, 40])
@pytest.mark.parametrize(("q", "a", "people"), CASES)
def test_below_is_the_sum_of_the_negative_binomial(q: float, a: float, people: float, k: int) -> None:
    mean = people * q
    terms = [
        np.exp(lgamma(a + 1 + x) - lgamma(a + 1) - lgamma(x + 1) + (a + 1) * np.log(a / (a + mean)))
        * (mean / (a + mean)) ** x
        for x in range(k - 1)
    ]
    assert float(residual.below(q, a, people, k)) == pytest.approx(sum(terms), rel=1e-9)


def test_without_scatter_it_is_poisson() -> None:
    assert float(residual.uniqueness(0.01, 1e9, 100)) == pytest.approx(np.exp(-1), rel=1e-6)


@pytest.mark.parametrize("seen", [1, 3])
def test_what_the_sample_shows_by_simulation(seen: int) -> None:
    """Draw the people of many cells, keep those whose sample shows as many, and look at the others."""
    rng = np.random.default_rng(5)
    q, a, n, people = 0.002, 0.7, 400, 2000
    g = rng.gamma(a, 1 / a, 4_000_000)
    sample, rest = rng.poisson(n * q * g), rng.poisson((people - n) * q * g)
    kept = sample == seen
    kappa = float(residual.correctness_known(seen, q, a, n, people))
    assert kappa == pytest.approx((1 / (seen + rest[kept])).mean(), rel=0.01)
    if seen == 1:
        assert float(residual.uniqueness_known(q, a, n, people)) == pytest.approx(
            (rest[kept] == 0).mean(), rel=0.01
        )


def test_a_whole_population_by_simulation() -> None:
    """Cells of known probabilities, gamma weights, people thrown into them: Ξ, κ and V of the people."""
    rng = np.random.default_rng(11)
    q = rng.dirichlet(np.full(4000, 0.3))
    a, people = 0.8, 5000
    counts = rng.poisson(people * q * rng.gamma(a, 1 / a, (400, len(q))))
    total = counts.sum()
    for law, held in (
        (residual.uniqueness(q, a, people), counts[counts == 1].sum()),
        (residual.correctness(q, a, people), (counts > 0).sum()),
        (residual.below(q, a, people, 5), counts[counts < 5].sum()),
    ):
        assert q @ law == pytest.approx(held / total, rel=0.02)
