"""Forecasts of unicity against laws of shares that are known, and people who are drawn by them."""

import numpy as np
import pytest

from reid_sql.models.pyc.penalized_law import PopulationShare, forecast_uniqueness
from reid_sql.parameters import Floats

PEOPLE, POPULATION = 800, 8000.0


def shares(kind: str, rng: np.random.Generator, count: int) -> Floats:
    """What share of all people has what is known of each of so many people."""
    laws = {
        "equal": np.full(count, 1 / 3000),
        "lognormal": np.exp(rng.normal(-8, 2, count)),
        "two kinds": np.where(rng.random(count) < 0.4, 0.02, 1e-6),
    }
    return np.asarray(np.minimum(laws[kind], 0.5), dtype=np.float64)


def forecast(kind: str, seed: int) -> tuple[float, PopulationShare]:
    rng = np.random.default_rng(seed)
    truth = float(((1 - shares(kind, rng, 200_000)) ** (POPULATION - 1)).mean())
    matches = 1 + rng.binomial(PEOPLE - 1, shares(kind, rng, PEOPLE))
    found = forecast_uniqueness(matches, np.ones(PEOPLE), PEOPLE, PEOPLE, POPULATION)
    return truth, found


@pytest.mark.parametrize(("kind", "width"), [("lognormal", 0.2), ("two kinds", 0.2)])
def test_the_interval_contains_the_share_under_a_known_law(kind: str, width: float) -> None:
    found = [forecast(kind, seed) for seed in range(12)]
    assert sum(share.low <= truth <= share.high for truth, share in found) >= 11
    assert np.mean([share.high - share.low for _, share in found]) < width


def test_equal_shares_are_never_said_to_single_out_fewer() -> None:
    """The law is smooth: of a sharp one it overstates how many are rare, which is the safe side."""
    assert all(
        truth <= share.high for truth, share in (forecast("equal", seed) for seed in range(12))
    )


def test_more_people_single_out_fewer_and_the_interval_widens() -> None:
    size, weight = np.array([1, 2, 3, 10, 50]), np.array([300, 120, 60, 200, 120])
    found = [
        forecast_uniqueness(size, weight, 800, 800, people) for people in (800, 4000, 20_000, 1e6)
    ]
    estimates, widths = [each.estimate for each in found], [each.high - each.low for each in found]
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[0] == pytest.approx(300 / 800, abs=0.02)
    assert widths[1] < widths[2] < 0.5


def test_fewer_targets_are_known_less_well() -> None:
    size, weight = np.array([1, 2, 3, 10, 50]), np.array([300, 120, 60, 200, 120])
    many, few = (forecast_uniqueness(size, weight, 800, targets, 4000) for targets in (800, 80))
    assert few.high - few.low > many.high - many.low
