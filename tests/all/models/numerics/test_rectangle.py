"""What the first tier leaves of tests/models/numerics/test_rectangle.py."""

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from tests.cells import each_cell
from tests.models.numerics.test_rectangle import equicorrelated, one


def by_one_factor(lower: float, upper: float, size: int, correlation: float) -> float:
    """All of `size` equicorrelated coordinates in one interval, by the trapezoid rule over what they share.

    The integrand is smooth and vanishes at both ends, where the rule converges faster than any power.
    """
    shared, step = np.linspace(-12, 12, 20_001, retstep=True)
    root, rest = correlation**0.5, (1 - correlation) ** 0.5
    inside = ndtr((upper - root * shared) / rest) - ndtr((lower - root * shared) / rest)
    return float(step * (inside**size * np.exp(-(shared**2) / 2)).sum() / (2 * np.pi) ** 0.5)


@each_cell("size, correlation", list(product([3, 8, 15], [0.1, 0.5, 0.95])))
def test_equicorrelated_coordinates(size: int, correlation: float) -> None:
    for lower, upper in ((-0.2, 0.3), (1.0, 1.5), (-1.0, 4.0)):
        exact = by_one_factor(lower, upper, size, correlation)
        if exact > 1e-12:
            found, error = one([lower] * size, [upper] * size, equicorrelated(size, correlation))
            assert found == pytest.approx(exact, rel=4e-3)
            assert found == pytest.approx(exact, rel=1e-3, abs=5 * error)
