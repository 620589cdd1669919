import numpy as np
import pytest

from reid_sql.models.numerics.quadrature import explore_posterior, maximize_in_box
from reid_sql.parameters import Floats

BOX = np.array([[-4.0, 4.0], [-4.0, 4.0]])


def rosenbrock(points: Floats) -> Floats:
    return np.asarray(-100 * (points[1] - points[0] ** 2) ** 2 - (1 - points[0]) ** 2)


def test_the_end_of_a_curved_ridge_is_found() -> None:
    point, _ = maximize_in_box(rosenbrock, np.array([-1.2, 1.0]), np.ones(2), BOX, 1e-15)
    assert point == pytest.approx([1, 1], abs=1e-7)


@pytest.mark.parametrize(
    ("top", "expected"), [((9, 1), (4, 1)), ((1, -9), (1, -4)), ((9, -9), (4, -4))]
)
def test_a_top_beyond_the_box_is_exactly_on_its_edge(
    top: tuple[float, float], expected: tuple[float, float]
) -> None:
    point, _ = maximize_in_box(
        lambda points: -((points - np.array(top)[:, None]) ** 2).sum(axis=0),
        np.zeros(2),
        np.ones(2),
        BOX,
        1e-15,
    )
    assert point == pytest.approx(expected, abs=1e-7)
    at_edge = np.abs(expected) == 4
    assert (point[at_edge] == np.array(expected)[at_edge]).all()


def test_where_the_function_is_flat_the_start_remains() -> None:
    point, _ = maximize_in_box(
        lambda points: 0 * points[0], np.array([1.0, 2.0]), np.ones(2), BOX, 1e-15
    )
    assert point.tolist() == [1.0, 2.0]


def test_points_where_the_function_is_not_defined_are_passed_over() -> None:
    def logarithm(points: Floats) -> Floats:
        x = points[0] + 1
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                np.where(x > 0, np.log(np.maximum(x, 0)) - 50 * x, -np.inf) - points[1] ** 2
            )

    point, _ = maximize_in_box(logarithm, np.array([-0.999, 3.0]), np.ones(2), BOX, 1e-15)
    assert point == pytest.approx([1 / 50 - 1, 0], abs=1e-7)


def test_weights_and_mode_of_a_log_normal_density() -> None:
    middle = np.array([[0.5], [-1.0]])
    points, weight, mode = explore_posterior(
        lambda points: -((points - middle) ** 2).sum(axis=0) / (2 * 0.01**2), BOX, 1e-12
    )
    assert points @ weight == pytest.approx(middle[:, 0], abs=1e-6)
    assert np.sqrt((points - middle) ** 2 @ weight) == pytest.approx([0.01, 0.01], rel=0.05)
    # the Jacobian moves it by the variance
    assert mode == pytest.approx(middle[:, 0] - 0.01**2, abs=1e-8)
