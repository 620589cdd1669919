import numpy as np
import pytest

from reid_sql.models.pyc.pitman_yor_fit import fit
from reid_sql.models.pyc.pitman_yor_forecast import MISSES, forecast
from reid_sql.models.pyc.pitman_yor_misfit import misfit, widened
from tests.urn import histogram_of, population

TWO_KINDS = np.r_[
    np.full(20, 500), np.ones(9_000, dtype=np.int64)
]  # large classes and unique people: no Pitman–Yor process


def test_a_table_of_the_process_is_fitted_closely_and_one_of_two_kinds_is_not() -> None:
    own, other = histogram_of(population(0.4, 20.0, 20_000, seed=4).sizes), histogram_of(TWO_KINDS)
    assert misfit(own, fit(own)[0]) < 0.2
    assert misfit(other, fit(other)[0]) > 0.5


def test_the_forecast_of_a_poor_fit_says_so_and_is_wider() -> None:
    row = forecast(histogram_of(TWO_KINDS), [1e6])[0]
    assert "fits the sample's own curve poorly" in row.status
    assert row.correctness_high - row.correctness_low > 0.2
    close = forecast(histogram_of(population(0.4, 20.0, 20_000, seed=4).sizes), [1e6])[0]
    assert close.status == MISSES
    assert close.correctness_high - close.correctness_low < 0.1


@pytest.mark.parametrize("interval", [(0.5, 0.4, 0.7), (0.001, 0.0, 0.2), (0.99, 0.9, 1.0)])
def test_widening_never_narrows_and_stays_between_0_and_1(interval: tuple[float, float, float]) -> None:
    value, low, high = widened(interval, 0.7, 100.0)
    assert value == interval[0]
    assert 0 <= low <= interval[1] <= interval[2] <= high <= 1


def test_without_growth_or_at_the_ends_nothing_moves() -> None:
    assert widened((0.5, 0.4, 0.7), 0.7, 1.0) == (0.5, 0.4, 0.7)
    assert widened((1.0, 0.4, 1.0), 0.7, 10.0) == (1.0, 0.4, 1.0)
