"""Curves of known parameters are found again, and no curve of a fine grid is nearer to scattered points."""

import numpy as np
import pytest

from reid_sql.models.pyc.curve_families import Task, fit_exponential
from reid_sql.models.pyc.measurements import Measurements
from reid_sql.parameters import Floats
from tests.cells import each_cell

SIZES = np.array([2.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0])


def task_of(shares: Floats) -> Task:
    return Task(Measurements(SIZES, shares, np.log(SIZES), np.full(len(SIZES), 1e-6)))


@each_cell("floor", [0.0, 0.2, 0.7])
@each_cell("rate", [3e-4, 2e-3, 3e-2])
def test_an_exponential_decay_is_found_again(floor: float, rate: float) -> None:
    """From κ(1) = 1 towards the floor."""
    fit = fit_exponential(task_of(floor + (1 - floor) * np.exp(-rate * (SIZES - 1))))
    assert fit.parameters["floor"] == pytest.approx(floor, abs=1e-5)
    assert fit.parameters["rate"] == pytest.approx(rate, rel=1e-4)
    assert fit.curve(np.array([1.0])) == pytest.approx([1.0])
    wanted = floor + (1 - floor) * np.exp(-rate * 4999)
    assert fit.curve(np.array([5000.0])) == pytest.approx([wanted], abs=2e-3)


@pytest.mark.parametrize("rate", [1e-7, 1e-6, 0.3, 1.0, 20.0])
def test_slow_and_fast_decays_are_within_reach(rate: float) -> None:
    shares = 0.3 + 0.7 * np.exp(-rate * (SIZES - 1))
    fit = fit_exponential(task_of(shares))
    assert fit.curve(SIZES) == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_no_curve_of_a_fine_grid_is_nearer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = np.clip(np.sort(rng.random(7))[::-1], 0.01, 0.99)
    fit, weights = fit_exponential(task_of(shares)), np.log(SIZES)
    rates = np.exp(np.linspace(-14, 1, 700))[:, None, None]
    floors = np.linspace(0, 1, 201)[:, None]
    curves = floors + (1 - floors) * np.exp(-rates * (SIZES - 1))
    least = float((((curves - shares) ** 2) @ weights).min())
    assert float(((fit.curve(SIZES) - shares) ** 2) @ weights) <= least + 1e-9
