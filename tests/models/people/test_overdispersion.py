from math import lgamma

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import truncnorm

from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import row_keys
from reid_sql.models.people.overdispersion import LOG_SHAPES, ShapeLikelihood
from reid_sql.models.population_risk.intervals import (
    IntervalWidth,
    SampleShare,
    SharesByShape,
    estimate_interval,
)
from tests.cells import each_cell

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
    assert float(overdispersion.uniqueness(q, a, people)) == pytest.approx(want, rel=1e-8)


@pytest.mark.parametrize(("q", "a", "people"), CASES)
def test_correctness_is_the_mean_of_1_over_f(q: float, a: float, people: float) -> None:
    """The mean of 1/(1 + X), X Poisson of mean m, is (1 − e^−m)/m."""

    def law(g: object) -> object:
        m = people * q * g  # type: ignore[operator]
        return -mp.expm1(-m) / m

    assert float(overdispersion.correctness(q, a, people)) == pytest.approx(
        mean_over_gamma(a, law, 1), rel=1e-8
    )


@each_cell("k", [1, 2, 5, 20, 21])
@each_cell("q, a, people", CASES)
def test_below_is_the_sum_of_the_negative_binomial(
    q: float, a: float, people: float, k: int
) -> None:
    mean = people * q
    terms = [
        np.exp(lgamma(a + 1 + x) - lgamma(a + 1) - lgamma(x + 1) + (a + 1) * np.log(a / (a + mean)))
        * (mean / (a + mean)) ** x
        for x in range(k - 1)
    ]
    assert float(overdispersion.below_k(q, a, people, k)) == pytest.approx(sum(terms), rel=1e-9)


def test_without_scatter_it_is_poisson() -> None:
    assert float(overdispersion.uniqueness(0.01, 1e9, 100)) == pytest.approx(np.exp(-1), rel=1e-6)


@pytest.mark.parametrize("seen", [1, 3])
def test_what_the_sample_shows_by_simulation(seen: int) -> None:
    """Draw the people of many cells, keep those whose sample shows as many, and look at the others."""
    rng = np.random.default_rng(5)
    q, a, n, people = 0.002, 0.7, 400, 2000
    g = rng.gamma(a, 1 / a, 4_000_000)
    sample, rest = rng.poisson(n * q * g), rng.poisson((people - n) * q * g)
    remaining = sample == seen
    kappa = float(overdispersion.correctness_known(seen, q, a, n, people))
    assert kappa == pytest.approx((1 / (seen + rest[remaining])).mean(), rel=0.01)
    if seen == 1:
        assert float(overdispersion.uniqueness_known(q, a, n, people)) == pytest.approx(
            (rest[remaining] == 0).mean(), rel=0.01
        )


def test_a_whole_population_by_simulation() -> None:
    """Cells of known probabilities, gamma weights, people thrown into them: Ξ, κ and V of the people."""
    rng = np.random.default_rng(11)
    q = rng.dirichlet(np.full(4000, 0.3))
    a, people = 0.8, 5000
    counts = rng.poisson(people * q * rng.gamma(a, 1 / a, (400, len(q))))
    total = counts.sum()
    for law, members in (
        (overdispersion.uniqueness(q, a, people), counts[counts == 1].sum()),
        (overdispersion.correctness(q, a, people), (counts > 0).sum()),
        (overdispersion.below_k(q, a, people, 5), counts[counts < 5].sum()),
    ):
        assert q @ law == pytest.approx(members / total, rel=0.02)


@pytest.mark.parametrize("log_a", [-2.0, 0.0, 2.0])
def test_repeats_of_a_simulated_population_tell_the_shape(log_a: float) -> None:
    """Cells with gamma weights of shape a, a sample of them: the fit_weight shape is near a."""
    rng = np.random.default_rng(7)
    a, n = np.exp(log_a), 20_000
    q = np.full(200_000, 1 / 200_000)
    weights = rng.gamma(a, 1 / a, len(q)) * q
    sizes = rng.poisson(n * weights)
    repeated = int(sizes[sizes > 1].sum())
    drawn = np.log(q[:3000])
    found = overdispersion.shape_likelihood(drawn, n, repeated)
    assert LOG_SHAPES[np.argmax(found.log_likelihood)] == pytest.approx(log_a, abs=0.4)
    assert found.entropy == pytest.approx(np.log(200_000))


def test_subtables_that_agree_decide() -> None:
    """Sub-tables that all say ln a = 1 + β (H − 8) put the full table there, but for the shift."""
    flat = ShapeLikelihood(8.0, np.zeros(len(LOG_SHAPES)))
    reported = [ShapeLikelihood(8.0, -50 * (LOG_SHAPES - 1.0) ** 2) for _ in range(30)]
    weights = overdispersion.posterior_of_shapes(flat, reported)
    assert weights.sum() == pytest.approx(1)
    assert weights @ LOG_SHAPES == pytest.approx(1.0 + overdispersion.LAW.shift, abs=0.1)


def test_without_evidence_the_prior_speaks() -> None:
    flat = ShapeLikelihood(8.0, np.zeros(len(LOG_SHAPES)))
    weights = overdispersion.posterior_of_shapes(flat, [])
    centre = overdispersion.INTERCEPT[0] + overdispersion.LAW.shift
    deviation = np.hypot(overdispersion.INTERCEPT[1], overdispersion.LAW.deviation)
    ends = (LOG_SHAPES[[0, -1]] - centre) / deviation
    assert weights @ LOG_SHAPES == pytest.approx(truncnorm.mean(*ends, centre, deviation), abs=0.05)


def test_row_keys_tell_distinct_records_apart() -> None:
    codes = np.random.default_rng(0).integers(0, 3, (500, 6))
    _, want = np.unique(codes, axis=0, return_inverse=True)
    pairs = {(a, b) for a, b in zip(row_keys(codes).tolist(), want.ravel().tolist(), strict=True)}
    assert len(pairs) == len(np.unique(want))


@pytest.mark.parametrize("level", [0.0, 0.001, 0.3, 0.9, 1.0])
def test_an_interval_holds_its_estimate(level: float) -> None:
    weights = np.full(5, 0.2)
    by_shape, sample = (
        SharesByShape(np.full(5, level), 0.1),
        SampleShare(round(300 * level), 300, 3e4),
    )
    share, wider = (
        estimate_interval(
            "uniqueness", by_shape, weights, sample, IntervalWidth(z, z), has_upper_bound=False
        )
        for z in (1.0, 2.0)
    )
    assert 0 <= share.low <= share.estimate <= share.high <= 1
    assert share.estimate == pytest.approx(level)
    assert wider.low <= share.low
    assert wider.high >= share.high


def test_a_person_who_lacks_one_other_of_k_is_below_it_where_nobody_is_unseen() -> None:
    """Nobody is unseen with the chance of the 0 of a negative binomial number."""
    shape, q, records, people = 0.7, 0.01, 100, 300
    chance = (shape + records * q) / (shape + people * q)
    for k in (2, 3, 12, 200):
        found = overdispersion.below_k_known([k - 1], q, shape, (records, people), k)
        assert found == pytest.approx([chance ** (shape + k - 1)], rel=1e-9), k
