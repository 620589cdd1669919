import mpmath
import numpy as np
import pytest
from scipy import stats

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.population import loglinear
from reid_sql.models.population.loglinear import FittedRecords
from reid_sql.parameters import Floats, Integers

# The shape against scipy's distributions over a grid, and against counts drawn with a known one.


def drawn(shape: float, seed: int) -> tuple[Integers, Floats]:
    rng = np.random.default_rng(seed)
    expected = rng.gamma(0.5, 4.0, 40_000)
    counts = rng.poisson(
        expected if np.isinf(shape) else expected * rng.gamma(shape, 1 / shape, expected.size)
    )
    return counts[counts > 0], expected[counts > 0]


@pytest.mark.parametrize("shape", [0.2, 1.5, 10.0])
def test_a_known_shape_is_found_again(shape: float) -> None:
    counts, expected = drawn(shape, seed=1)
    assert loglinear.fit_shape(counts, expected, np.ones_like(counts)) == pytest.approx(
        shape, rel=0.1
    )


def test_poisson_counts_need_no_shape() -> None:
    counts, expected = drawn(np.inf, seed=2)
    assert loglinear.fit_shape(counts, expected, np.ones_like(counts)) > 100


def test_no_other_shape_is_likelier() -> None:
    counts, expected = drawn(0.7, seed=3)
    counts, expected = counts[:500], expected[:500]

    def log_likelihood(a: float) -> float:
        chance = a / (a + expected)
        seen = stats.nbinom.logpmf(counts, a, chance) - np.log1p(-stats.nbinom.pmf(0, a, chance))
        return float(seen.sum())

    found = loglinear.fit_shape(counts, expected, np.ones_like(counts))
    assert all(
        log_likelihood(found) >= log_likelihood(a) - 1e-2 for a in np.geomspace(1e-4, 1e4, 200)
    )


def test_classes_that_are_alike_count_together() -> None:
    sizes, expected = np.array([1, 2, 9]), np.array([0.5, 1.0, 2.0])
    many = np.repeat(sizes, [4, 3, 2]), np.repeat(expected, [4, 3, 2]), np.ones(9, dtype=np.int64)
    assert loglinear.fit_shape(sizes, expected, np.array([4, 3, 2])) == pytest.approx(
        loglinear.fit_shape(*many), rel=1e-9
    )


@pytest.mark.parametrize("shape", [0.2, 1.5, 10.0, np.inf])
def test_the_interval_of_the_shape_holds_it_as_often_as_it_says(shape: float) -> None:
    contained = 0
    for seed in range(40):
        counts, expected = drawn(shape, seed)
        some = np.random.default_rng(seed).choice(len(counts), 600, replace=False)
        spread = loglinear.list_likely_shapes(
            counts[some], expected[some], np.ones(600, dtype=np.int64)
        )
        assert spread == sorted(spread)
        contained += spread[0] <= shape <= spread[-1]
    assert contained >= 35  # of 40 at 95 %, one in 300 such runs has fewer


def test_the_last_digit_of_an_expected_count_changes_nothing() -> None:
    """Engines tell logarithms to a thousandth, of which every tenth lay on a border between two groups."""
    rng = np.random.default_rng(2019)
    log_expected = rng.integers(-3000, 1000, 400) / 1000
    sizes, classes = 1 + rng.poisson(np.exp(log_expected)), rng.integers(1, 4, 400)
    found = {
        loglinear.fit_shape(
            sizes, np.exp(log_expected) * (1 + sign * rng.uniform(0, 1e-14, 400)), classes
        )
        for sign in (-1, 1, -1, 1)
    }
    assert max(found) == pytest.approx(min(found), rel=1e-9)


# Log-linear risk against integrals over what is not known, and against published figures of adult.


def records(sizes: list[int], expected: list[float]) -> FittedRecords:
    return FittedRecords(
        np.array(sizes), np.log(expected), np.empty((len(sizes), 0), dtype=np.int64)
    )


@pytest.mark.parametrize(
    ("mu", "fraction", "shape"), [(0.5, 0.1, 0.7), (2.0, 0.01, 3.0), (0.01, 0.5, 0.1)]
)
def test_negative_binomial_uniqueness_is_the_mean_over_a_gamma_rate(
    mu: float, fraction: float, shape: float
) -> None:
    people = mu / fraction
    with mpmath.workdps(20):

        def weighed(rate: mpmath.mpf, more: float) -> mpmath.mpf:
            """Density of the rate, times the chance of one in the sample, and of no other beside it."""
            return (
                rate ** (shape - 1)
                * mpmath.exp(-rate * shape / people)
                * rate
                * mpmath.exp(-rate * (fraction + more))
            )

        top = mpmath.quad(
            lambda rate: weighed(rate, 1 - fraction),
            [0, people / 10, people, people * 10, people * 200],
        )
        whole = mpmath.quad(
            lambda rate: weighed(rate, 0), [0, people / 10, people, people * 10, people * 200]
        )
    found = loglinear.loglinear_uniqueness(np.array([mu]), fraction, shape)[0]
    assert found == pytest.approx(float(top / whole), rel=1e-6)


def test_a_large_shape_is_poisson() -> None:
    mu = np.array([0.01, 1.0, 5.0])
    assert loglinear.loglinear_uniqueness(mu, 0.2, 1e9) == pytest.approx(
        loglinear.loglinear_uniqueness(mu, 0.2), rel=1e-6
    )


def test_a_whole_population_is_what_was_counted() -> None:
    found = loglinear.score_fitted_records(records([1, 2, 4], [0.3, 5.0, 1.7]), 1.0)
    assert found.uniqueness.tolist() == [1, 0, 0]
    assert found.correctness.tolist() == pytest.approx([1, 0.5, 0.25])
    assert (found.tau1, found.tau2) == pytest.approx((1, 1))


def test_bad_input_is_refused() -> None:
    with pytest.raises(NoRecordsError):
        loglinear.score_fitted_records(records([], []), 0.1)
    with pytest.raises(
        OutOfDomainError, match="interactions must be 0 or 2, got 1; pass 0 for main effects"
    ):
        loglinear.score_fitted_records(records([1], [1.0]), 0.1, 1)
    with pytest.raises(
        OutOfDomainError, match="sampling_fraction must be a share of the population"
    ):
        loglinear.score_fitted_records(records([1], [1.0]), 1.5)


def test_equal_classes_say_nothing_of_how_counts_vary() -> None:
    assert (
        loglinear.STATUS_ONE_SIZE
        in loglinear.score_fitted_records(records([2, 2], [1.0, 3.0]), 0.1).status
    )


def test_one_column_says_nothing_beyond_the_sample() -> None:
    assert (
        loglinear.STATUS_SATURATED
        in loglinear.score_fitted_records(records([1, 3], [1.0, 3.0]), 0.1).status
    )
