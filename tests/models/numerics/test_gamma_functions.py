import mpmath
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.numerics.special_functions import (
    digamma_difference,
    inverse_harmonic,
    log_gamma_ratio,
    log_rising_ratio,
)

DIGITS = 320  # enough for increments of 1e-150 on arguments of 1e100


def magnitudes(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


@given(magnitudes(0, 100), magnitudes(-12, 15), magnitudes(-150, 60))
def test_the_ratio_of_rising_factorials_keeps_its_digits_at_every_scale(
    z: float, x: float, y: float
) -> None:
    with mp.workdps(DIGITS):
        a, b, c = mp.mpf(z), mp.mpf(x), mp.mpf(y)
        exact = mp.loggamma(a + b + c) - mp.loggamma(a + b) - mp.loggamma(a + c) + mp.loggamma(a)
    assert float(log_rising_ratio(z, x, y)) == pytest.approx(float(exact), rel=1e-12, abs=0)


@given(magnitudes(-2, 100), magnitudes(-150, 100))
def test_digamma_differences_keep_their_digits_at_every_scale(z: float, x: float) -> None:
    with mp.workdps(DIGITS):
        exact = mp.digamma(mp.mpf(z) + mp.mpf(x)) - mp.digamma(mp.mpf(z))
    assert float(digamma_difference(z, x)) == pytest.approx(float(exact), rel=1e-13, abs=0)


@given(st.one_of(st.floats(-60, 700), magnitudes(-300, 0), magnitudes(-300, 0).map(lambda y: -y)))
def test_the_harmonic_number_of_its_inverse_is_itself(y: float) -> None:
    x = float(inverse_harmonic(y))
    with mp.workdps(DIGITS):
        back = mp.digamma(1 + mp.mpf(x)) - mp.digamma(1)
    assert float(back) == pytest.approx(y, rel=1e-13, abs=0)


def test_whole_increments_are_exact_products() -> None:
    assert log_rising_ratio(1.0, [0.0, 1.0, 2.0], 1.0) == pytest.approx(
        np.log([1, 2, 3]), rel=1e-14
    )
    assert log_rising_ratio(5.0, 0.0, 3.0) == log_rising_ratio(5.0, 3.0, 0.0) == 0.0


def test_beyond_the_doubles_the_inverse_is_infinite() -> None:
    assert inverse_harmonic(1200.0) == np.inf


def test_to_1e_12_of_what_is_added_up_in_mpmath() -> None:
    rng = np.random.default_rng(0)
    x = 10 ** rng.uniform(-8, 16, 2_000)
    a = 10 ** rng.uniform(-6, 12, 2_000) * np.where(rng.random(2_000) < 0.3, -1, 1)
    a = np.where(x + a <= 0, -0.9 * x, a)
    with mpmath.workdps(60):
        for start, step, found in zip(x, a, log_gamma_ratio(x, a), strict=True):
            exact = mpmath.loggamma(mpmath.mpf(start) + mpmath.mpf(step)) - mpmath.loggamma(
                mpmath.mpf(start)
            )
            assert abs(found - exact) <= 1e-12 * (abs(exact) + abs(step)), (start, step)


def test_whole_steps_are_rising_factorials() -> None:
    assert np.exp(log_gamma_ratio(3.0, [0.0, 1.0, 2.0, 3.0])).round(9).tolist() == [
        1.0,
        3.0,
        12.0,
        60.0,
    ]
