import numpy as np
import pytest
from scipy.optimize import minimize

from reid_sql.models.pyc.maximum_entropy import tilt

BASE = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
KERNEL = np.array([[1.0, 1, 1, 1, 1], [0.9, 0.7, 0.5, 0.2, 0.1], [0.99, 0.9, 0.8, 0.6, 0.2]])
MEASURED = np.array([1.0, 0.55, 0.78])
ERRORS = np.array([1e-3, 2e-2, 5e-2])


def loss(mass: np.ndarray) -> float:
    divergence = mass @ np.log(mass / BASE) - mass.sum() + 1
    return float(divergence + (((KERNEL @ mass / MEASURED - 1) / ERRORS) ** 2).sum() / 2)


def test_no_other_law_is_nearer_by_a_search_of_the_primal() -> None:
    found = tilt(BASE, KERNEL, MEASURED, ERRORS)
    primal = minimize(
        loss,
        BASE,
        bounds=[(1e-9, 1)] * 5,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 9999},
    )
    assert found.settled
    assert found.mass == pytest.approx(primal.x, abs=1e-4)
    assert loss(found.mass) <= primal.fun + 1e-9
    assert found.misfit == pytest.approx(
        np.sqrt(np.mean(((KERNEL @ found.mass / MEASURED - 1) / ERRORS) ** 2)), rel=1e-6
    )


def test_a_base_that_meets_the_points_stays() -> None:
    found = tilt(BASE, KERNEL, KERNEL @ BASE, ERRORS)
    assert found.mass == pytest.approx(BASE)
    assert found.misfit < 1e-6


def test_influence_is_the_change_that_a_moved_point_makes() -> None:
    found, weights = tilt(BASE, KERNEL, MEASURED, ERRORS), np.array([0.0, 0.1, 0.5, 0.8, 1.0])
    for place in range(3):
        moved = MEASURED.copy()
        moved[place] *= 1 + 1e-5
        change = (tilt(BASE, KERNEL, moved, ERRORS).mass - found.mass) @ weights / 1e-5
        assert found.influence(weights)[place] == pytest.approx(change, rel=0.08, abs=2e-3)


def test_points_that_no_law_meets_are_missed_and_said() -> None:
    found = tilt(BASE, KERNEL[1:], np.array([0.95, 0.3]), np.array([1e-3, 1e-3]))
    assert found.misfit > 10 or not found.settled


def test_points_that_contradict_each_other_beyond_rounding_end_in_a_law() -> None:
    # A curve that hardly falls over six decades and then is gone: drawn at random, it had no inverse
    # curvature.
    kernel = np.exp(-np.outer([1e-8, 1e-6, 1e-2, 1, 1e2], np.geomspace(1e-9, 1, 200)))
    found = tilt(np.full(200, 1 / 200), kernel, np.array([0.9, 0.9, 0.8, 0.5, 1e-3]), np.full(5, 1e-9))
    assert np.isfinite(found.mass).all()
    assert np.isfinite(found.influence(kernel)).all()
