"""Ewens' estimator against his sampling formula, written out over all partitions."""

import math
from collections import Counter
from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.population import ewens
from reid_sql.models.population.estimate import ALL_UNIQUE, Sample
from tests.histograms import CLASSES, histogram


def partitions(records: int, most: int) -> Iterator[list[int]]:
    if records == 0:
        yield []
    for size in range(min(records, most), 0, -1):
        yield from ([size, *rest] for rest in partitions(records - size, size))


def singletons(records: int, theta: float) -> tuple[float, float]:
    """Mean and standard deviation of the number of classes of one, by Ewens' formula."""
    found = []
    for sizes in partitions(records, records):
        counts = Counter(sizes)
        share = math.factorial(records) / math.prod(theta + step for step in range(records))
        for size, count in counts.items():
            share *= (theta / size) ** count / math.factorial(count)
        found.append((share, counts[1]))
    assert sum(share for share, _ in found) == pytest.approx(1)
    mean = sum(share * alone for share, alone in found)
    return mean, math.sqrt(sum(share * (alone - mean) ** 2 for share, alone in found))


@pytest.mark.parametrize(("records", "theta"), [(6, 0.3), (9, 1.0), (12, 7.5)])
def test_the_population_is_expected_to_hold_what_the_formula_says(records: int, theta: float) -> None:
    sample = 5
    unique, _ = singletons(sample, theta)
    assert ewens.equation_10(Sample(sample, 0, records), unique) == pytest.approx(
        singletons(records, theta)[0] / records, rel=1e-12
    )


@pytest.mark.parametrize(("records", "theta"), [(6, 0.3), (9, 1.0), (14, 40.0)])
def test_thespread_is_that_of_the_formula(records: int, theta: float) -> None:
    assert ewens.spread(theta, records) == pytest.approx(max(singletons(records, theta)[1], 1.0), rel=1e-12)


@given(CLASSES, st.floats(1, 1e6))
def test_the_answer_solves_for_theta(classes: dict[int, int], growth: float) -> None:
    sample = histogram(classes)
    records, unique = int(sample.records.sum()), classes.get(1, 0)
    found = ewens.estimate(sample, records * growth)
    if unique == records:
        assert (found.uniqueness, found.status) == (1.0, ALL_UNIQUE)
        return
    with mpmath.workdps(30):
        theta = mpmath.mpf(unique) * (records - 1) / (records - unique)
        exact = float(theta / (mpmath.mpf(records * growth) - 1 + theta))
    assert found.uniqueness == pytest.approx(exact, rel=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= exact * (1 + 1e-12)
    assert exact <= found.high * (1 + 1e-12)


def test_intervals_hold_where_the_formula_does() -> None:
    rng, held = np.random.default_rng(3), 0
    for _ in range(200):
        labels: list[int] = []
        for place in range(2_000):
            new = rng.random() < 60 / (60 + place)
            labels.append(place if new else labels[int(rng.integers(place))])
        truth = sum(count == 1 for count in Counter(labels).values()) / 2_000
        counts = Counter(Counter(rng.permutation(labels)[:200].tolist()).values())
        found = ewens.estimate(histogram(dict(counts)), 2_000)
        held += (found.low or 0) <= truth <= (found.high or 1)
    assert held >= 185


def test_two_records_that_are_alike_have_an_answer() -> None:
    """Nobody is unique: the variance of Ewens' formula is a limit there."""
    found = ewens.estimate(histogram({2: 1}), 50)
    assert (found.uniqueness, found.low) == (0.0, 0.0)
    assert 0 < (found.high or 0) <= 1
