"""Pitman's intervals on populations drawn from his model, and a negative discount against published runs."""

from collections import Counter

import duckdb
import numpy as np
import pytest

from reid_sql.models.population import pitman_interval
from reid_sql.models.population import pitman_uniqueness as pitman
from tests.histograms import FEW, histogram, of_adult
from tests.models.population.test_pitman_uniqueness import formula
from tests.urn import population


@pytest.mark.real_data
@pytest.mark.parametrize(("people", "unique"), [(325_610, 90.24), (3_256_100, 88.86)])
def test_the_figures_of_arx_with_alpha_below_zero(
    con: duckdb.DuckDBPyConnection, adult: str, people: float, unique: float
) -> None:
    sample = of_adult(con, adult, FEW)
    found = pitman_interval.estimate(sample, people, "asymptotic", negative=True).uniqueness
    assert found is not None
    assert round(found * people, 2) == unique
    assert pitman.fit(sample, negative=True).alpha == pytest.approx(-0.00669, abs=5e-6)


@pytest.mark.parametrize(
    "classes", [{1: 5, 2: 9, 3: 12, 4: 9}, {1: 30, 2: 20, 5: 40, 9: 20}, {3: 4, 4: 6, 5: 3, 1: 2}]
)
def test_a_negative_alpha_is_a_maximum(classes: dict[int, int]) -> None:
    found = pitman.fit(histogram(classes), negative=True)
    if found.theta is None or found.alpha is None:
        assert found.status == pitman.NOT_FOUND
        return
    best = formula(classes, found.theta, found.alpha)
    for step in (-1e-2, -1e-4, 1e-4, 1e-2):
        for factor in (0.99, 1.0, 1.01):
            alpha, theta = found.alpha + step, (found.theta + found.alpha) * factor - found.alpha - step
            if theta + sum(classes.values()) * min(alpha, 0) > 0:
                assert formula(classes, theta, alpha) <= best + 1e-8


@pytest.mark.parametrize(("alpha", "theta"), [(0.0, 50.0), (0.5, 20.0)])
def test_intervals_hold_where_the_model_does(alpha: float, theta: float) -> None:
    held = 0
    for seed in range(30):
        labels = np.asarray(population(alpha, theta, 2_000, seed=seed).labels)
        truth = sum(count == 1 for count in Counter(labels.tolist()).values()) / 2_000
        rows = np.random.default_rng(seed).permutation(labels)[:300]
        found = pitman_interval.estimate(histogram(dict(Counter(Counter(rows.tolist()).values()))), 2_000)
        held += (found.low or 0) <= truth <= (found.high or 1)
    assert held >= 26
