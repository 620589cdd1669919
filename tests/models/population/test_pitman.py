import math
from collections import Counter

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.population import pitman
from reid_sql.models.population.classical_estimators import STATUS_ALL_UNIQUE
from tests.cells import each_cell
from tests.histograms import CLASSES, histogram
from tests.urn import population

# Pitman's estimator against published runs of ARX, and against the sampling formula multiplied out.


def formula(classes: dict[int, int], theta: float, alpha: float) -> float:
    """Pitman's sampling formula, factor by factor."""
    opened, drawn = sum(classes.values()), sum(size * count for size, count in classes.items())
    total = sum(math.log(theta + alpha * step) for step in range(1, opened))
    total -= sum(math.log(theta + step) for step in range(1, drawn))
    return total + sum(
        count * sum(math.log(step - alpha) for step in range(1, size))
        for size, count in classes.items()
    )


@given(CLASSES)
def test_nothing_near_the_maximum_is_likelier(classes: dict[int, int]) -> None:
    found = pitman.fit_pitman(histogram(classes))
    if found.theta is None or found.alpha is None:
        assert set(classes) == {1} or sum(classes.values()) == 1
        return
    best = formula(classes, found.theta, found.alpha)
    for alpha in {
        found.alpha,
        0.0,
        *(min(max(found.alpha + step, 0.0), 0.999) for step in (-0.1, -0.001, 0.001, 0.1)),
    }:
        for factor in (0.3, 0.9, 0.99, 1.0, 1.01, 1.1, 3.0):
            theta = (found.theta + found.alpha) * factor - alpha
            if theta > -alpha:
                assert formula(classes, theta, alpha) <= best + 1e-8


@given(st.floats(0.01, 1e6), st.floats(0, 0.99), st.integers(1, 10**9))
def test_the_expectation_is_the_ratio_of_gamma_functions(
    theta: float, alpha: float, population: int
) -> None:
    with mpmath.workdps(40):
        log = (
            mpmath.loggamma(theta + 1)
            + mpmath.loggamma(mpmath.mpf(population) + theta + alpha - 1)
            - mpmath.loggamma(mpmath.mpf(theta) + alpha)
            - mpmath.loggamma(mpmath.mpf(population) + theta)
        )
        exact = float(mpmath.exp(log))
    assert pitman.expected_uniqueness(theta, alpha, population) == pytest.approx(exact, rel=1e-9)


@each_cell("end", [2, 255, 256, 257, 300, 1000, 10**5, 10**7])
def test_sums_of_many_terms_are_those_of_a_few(end: int) -> None:
    points, weights = pitman.sum_nodes(end)
    assert len(points) < 600
    for shift, power in ((0.0, 1), (-0.9, 1), (-0.9, 2), (5.0, 2), (1e6, 1)):
        with mpmath.workdps(30):
            exact = (
                float(mpmath.zeta(power, 1 + shift) - mpmath.zeta(power, end + shift))
                if power > 1
                else float(mpmath.digamma(end + shift) - mpmath.digamma(1 + shift))
            )
        assert weights @ (1 / (points + shift) ** power) == pytest.approx(exact, rel=1e-11)
    assert weights @ np.log(points) == pytest.approx(math.lgamma(end), rel=1e-11)


def test_nearly_unique_samples_still_have_an_estimate() -> None:
    found = pitman.fit_pitman(histogram({1: 29_998, 2: 1}))
    assert found.status == "ok"
    estimate = pitman.pitman_uniqueness(histogram({1: 29_998, 2: 1}), 1e8).uniqueness
    assert estimate is not None
    assert 0 < estimate < 1


def test_limits_have_words_and_no_invented_number() -> None:
    unique = pitman.pitman_uniqueness(histogram({1: 10}), 100)
    assert (unique.uniqueness, unique.status) == (1.0, STATUS_ALL_UNIQUE)
    alike = pitman.pitman_uniqueness(histogram({10: 1}), 100)
    assert (alike.uniqueness, alike.status) == (0.0, pitman.STATUS_ALL_ALIKE)
    with pytest.raises(
        OutOfDomainError, match="population must be at least the 10 records of the sample, got 9"
    ):
        pitman.pitman_uniqueness(histogram({10: 1}), 9)


# Pitman's intervals on populations drawn from his model.


@pytest.mark.parametrize(("alpha", "theta"), [(0.0, 50.0), (0.5, 20.0)])
def test_intervals_hold_where_the_model_does(alpha: float, theta: float) -> None:
    contained = 0
    for seed in range(30):
        labels = np.asarray(population(alpha, theta, 2_000, seed=seed).labels)
        truth = sum(count == 1 for count in Counter(labels.tolist()).values()) / 2_000
        rows = np.random.default_rng(seed).permutation(labels)[:300]
        found = pitman.estimate_pitman(
            histogram(dict(Counter(Counter(rows.tolist()).values()))), 2_000
        )
        contained += (found.low or 0) <= truth <= (found.high or 1)
    assert contained >= 26


@each_cell("growth", [1.0001, 2, 10, 1e5])
@each_cell("classes", [{1: 999, 2: 1}, {1: 3, 2: 1}, {1: 1, 2: 50}, {1: 2, 1000: 5}, {2: 500}])
def test_no_figure_is_beyond_what_the_unique_records_allow(
    classes: dict[int, int], growth: float
) -> None:
    """A person who is unique in the population is so in the sample, if drawn: Xi is at most that share.

    No warning of an overflow comes either: warnings are errors.
    """
    records = sum(size * count for size, count in classes.items())
    alone = classes.get(1, 0) / records
    for form in ("exact", "asymptotic"):
        pitman.pitman_uniqueness(histogram(classes), records * growth, form)
    found = pitman.estimate_pitman(histogram(classes), records * growth)
    if found.uniqueness is None:
        assert found.low is found.high is None
        assert found.status.startswith(("above_bound: ", "not_converged: "))
    else:
        assert found.uniqueness <= alone * (1 + 1e-9)


def test_a_figure_beyond_the_bound_is_replaced_by_the_reason() -> None:
    sample = histogram({1: 1, 2: 50})
    modelled = pitman.pitman_uniqueness(sample, 202).uniqueness
    assert modelled is not None
    assert modelled > 1 / 101
    found = pitman.estimate_pitman(sample, 202)
    assert (found.low, found.uniqueness, found.high) == (None, None, None)
    assert found.status == pitman.STATUS_BEYOND_BOUND
