import mpmath
import numpy as np

from reid_sql.models.numerics.log_gamma import log_gamma_ratio


def test_to_1e_12_of_what_is_added_up_in_mpmath() -> None:
    rng = np.random.default_rng(0)
    x = 10 ** rng.uniform(-8, 16, 2_000)
    a = 10 ** rng.uniform(-6, 12, 2_000) * np.where(rng.random(2_000) < 0.3, -1, 1)
    a = np.where(x + a <= 0, -0.9 * x, a)
    with mpmath.workdps(60):
        for start, step, found in zip(x, a, log_gamma_ratio(x, a), strict=True):
            exact = mpmath.loggamma(mpmath.mpf(start) + mpmath.mpf(step)) - mpmath.loggamma(mpmath.mpf(start))
            assert abs(found - exact) <= 1e-12 * (abs(exact) + abs(step)), (start, step)


def test_whole_steps_are_rising_factorials() -> None:
    assert np.exp(log_gamma_ratio(3.0, [0.0, 1.0, 2.0, 3.0])).round(9).tolist() == [1.0, 3.0, 12.0, 60.0]
