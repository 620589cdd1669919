from collections.abc import Callable

import numpy as np
import pytest

from reid_sql.models.numerics.posterior import (
    Search,
    explore_posterior,
    maximize_in_box,
    run_searches,
)
from reid_sql.parameters import Floats

BOX = np.array([[-4.0, 4.0], [-4.0, 4.0]])


def maximum(function: Callable[[Floats], Floats], start: Floats, scale: Floats) -> Floats:
    search = maximize_in_box(start, scale, BOX, 1e-15)
    return run_searches([search], lambda points, *_: function(points))[0][0]


def rosenbrock(points: Floats) -> Floats:
    return np.asarray(-100 * (points[1] - points[0] ** 2) ** 2 - (1 - points[0]) ** 2)


def test_the_end_of_a_curved_ridge_is_found() -> None:
    point = maximum(rosenbrock, np.array([-1.2, 1.0]), np.ones(2))
    assert point == pytest.approx([1, 1], abs=1e-7)


@pytest.mark.parametrize(
    ("top", "expected"), [((9, 1), (4, 1)), ((1, -9), (1, -4)), ((9, -9), (4, -4))]
)
def test_a_top_beyond_the_box_is_exactly_on_its_edge(
    top: tuple[float, float], expected: tuple[float, float]
) -> None:
    point = maximum(
        lambda points: -((points - np.array(top)[:, None]) ** 2).sum(axis=0),
        np.zeros(2),
        np.ones(2),
    )
    assert point == pytest.approx(expected, abs=1e-7)
    at_edge = np.abs(expected) == 4
    assert (point[at_edge] == np.array(expected)[at_edge]).all()


def test_where_the_function_is_flat_the_start_remains() -> None:
    point = maximum(lambda points: 0 * points[0], np.array([1.0, 2.0]), np.ones(2))
    assert point.tolist() == [1.0, 2.0]


def test_points_where_the_function_is_not_defined_are_passed_over() -> None:
    def logarithm(points: Floats) -> Floats:
        x = points[0] + 1
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                np.where(x > 0, np.log(np.maximum(x, 0)) - 50 * x, -np.inf) - points[1] ** 2
            )

    point = maximum(logarithm, np.array([-0.999, 3.0]), np.ones(2))
    assert point == pytest.approx([1 / 50 - 1, 0], abs=1e-7)


def explored(
    log_density: Callable[[Floats], Floats], noise: float
) -> tuple[Floats, Floats, Floats]:
    """Explore a density of the logarithms themselves: that of the numbers lacks the Jacobian."""

    def density(points: Floats, *_: object) -> Floats:
        return np.asarray(log_density(points) - points.sum(axis=0))

    return run_searches([explore_posterior(density, BOX, noise)], density)[0]


def test_weights_and_mode_of_a_log_normal_density() -> None:
    middle = np.array([[0.5], [-1.0]])
    points, weight, mode = explored(
        lambda points: -((points - middle) ** 2).sum(axis=0) / (2 * 0.01**2), 1e-12
    )
    assert points @ weight == pytest.approx(middle[:, 0], abs=1e-6)
    assert np.sqrt((points - middle) ** 2 @ weight) == pytest.approx([0.01, 0.01], rel=0.01)
    # the Jacobian moves it by the variance
    assert mode == pytest.approx(middle[:, 0] - 0.01**2, abs=1e-8)


@pytest.mark.parametrize("rate", [0.5, 3.0, 80.0])
def test_a_density_that_ends_at_the_edge_has_its_weight_up_to_there(rate: float) -> None:
    # It rises to the upper end of the second number, along a narrow and oblique ridge.
    def density(points: Floats) -> Floats:
        below = BOX[1, 1] - points[1]
        return np.asarray(-rate * below - (20 * rate * (points[0] - below / 10)) ** 2 / 2)

    points, weight, _ = explored(density, 1e-12)
    below = BOX[1, 1] - points[1]
    assert rate * below @ weight == pytest.approx(1 - 8 * rate / np.expm1(8 * rate), abs=0.02)
    order = np.argsort(below)
    median = below[order][np.searchsorted(np.cumsum(weight[order]), 0.5)]
    assert -np.expm1(-rate * median) / -np.expm1(-8 * rate) == pytest.approx(0.5, abs=0.01)


def test_searches_together_find_what_each_finds_alone() -> None:
    middles = np.array([[0.5, -1.0], [3.9, 2.0], [-4.0, 4.0], [0.0, 0.0]])
    widths = np.array([1e-4, 0.3, 2.0, 1e-2])

    def explored_together(peaks: list[int]) -> list[tuple[Floats, Floats, Floats]]:
        def density(points: Floats, places: list[int], sizes: list[int]) -> Floats:
            asked = [peaks[place] for place in places]
            middle = np.repeat(middles[asked], sizes, axis=0).T
            return np.asarray(
                -(((points - middle) / np.repeat(widths[asked], sizes)) ** 2).sum(axis=0)
            )

        def explore(place: int) -> Search[tuple[Floats, Floats, Floats]]:
            return explore_posterior(
                lambda points: density(points, [place], [points.shape[1]]), BOX, 1e-12
            )

        return run_searches(map(explore, range(len(peaks))), density)

    together = explored_together([0, 1, 2, 3])
    for peak, found in enumerate(together):
        for one, other in zip(found, explored_together([peak])[0], strict=True):
            assert (one == other).all()
