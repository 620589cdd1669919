"""The shape against scipy's distributions over a grid, and against counts drawn with a known one."""

import numpy as np
import pytest
from scipy import stats

from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.population import overdispersion
from reid_sql.parameters import Floats


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
    assert overdispersion.shape(counts, expected, np.ones_like(counts)) == pytest.approx(shape, rel=0.1)


def test_poisson_counts_need_no_shape() -> None:
    counts, expected = drawn(np.inf, seed=2)
    assert overdispersion.shape(counts, expected, np.ones_like(counts)) > 100


def test_no_other_shape_is_likelier() -> None:
    counts, expected = drawn(0.7, seed=3)
    counts, expected = counts[:500], expected[:500]

    def log_likelihood(a: float) -> float:
        chance = a / (a + expected)
        seen = stats.nbinom.logpmf(counts, a, chance) - np.log1p(-stats.nbinom.pmf(0, a, chance))
        return float(seen.sum())

    found = overdispersion.shape(counts, expected, np.ones_like(counts))
    assert all(log_likelihood(found) >= log_likelihood(a) - 1e-2 for a in np.geomspace(1e-4, 1e4, 200))


def test_classes_that_are_alike_count_together() -> None:
    sizes, expected = np.array([1, 2, 9]), np.array([0.5, 1.0, 2.0])
    many = np.repeat(sizes, [4, 3, 2]), np.repeat(expected, [4, 3, 2]), np.ones(9, dtype=np.int64)
    assert overdispersion.shape(sizes, expected, np.array([4, 3, 2])) == pytest.approx(
        overdispersion.shape(*many), rel=1e-9
    )


@pytest.mark.parametrize("shape", [0.2, 1.5, 10.0, np.inf])
def test_the_interval_of_the_shape_holds_it_as_often_as_it_says(shape: float) -> None:
    held = 0
    for seed in range(40):
        counts, expected = drawn(shape, seed)
        some = np.random.default_rng(seed).choice(len(counts), 600, replace=False)
        spread = overdispersion.likely_shapes(counts[some], expected[some], np.ones(600, dtype=np.int64))
        assert spread == sorted(spread)
        held += spread[0] <= shape <= spread[-1]
    assert held >= 35  # of 40 at 95 %, one in 300 such runs has fewer


def test_the_last_digit_of_an_expected_count_changes_nothing() -> None:
    """Engines tell logarithms to a thousandth, of which every tenth lay on a border between two groups."""
    rng = np.random.default_rng(2019)
    log_expected = rng.integers(-3000, 1000, 400) / 1000
    sizes, classes = 1 + rng.poisson(np.exp(log_expected)), rng.integers(1, 4, 400)
    found = {
        overdispersion.shape(sizes, np.exp(log_expected) * (1 + sign * rng.uniform(0, 1e-14, 400)), classes)
        for sign in (-1, 1, -1, 1)
    }
    assert max(found) == pytest.approx(min(found), rel=1e-9)
