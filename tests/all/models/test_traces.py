"""How often intervals of unicity in a population contain the truth, on traces that chose no constant."""

import pytest

from benchmarks.accuracy.traces import JUDGED_ON, REAL, Forecast, baskets, generated


def covered(found: list[Forecast]) -> float:
    return sum(each.low <= each.truth <= each.high for each in found) / len(found)


def width(found: list[Forecast], fraction: float) -> float:
    widths = [each.high - each.low for each in found if each.fraction == fraction]
    return sum(widths) / len(widths)


def test_the_interval_contains_the_truth_of_generated_traces() -> None:
    found = list(generated(JUDGED_ON, 4, 77))
    assert covered(found) >= 0.93
    for fraction, most in ((0.05, 0.45), (0.1, 0.25), (0.25, 0.11)):
        assert width(found, fraction) < most


@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL)
def test_the_interval_contains_the_truth_of_baskets(name: str) -> None:
    found = list(baskets(name, 4, 77))
    assert covered(found) >= 0.9
    assert width(found, 0.25) < 0.11
