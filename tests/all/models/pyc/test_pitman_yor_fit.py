"""What the first tier leaves of tests/models/pyc/test_pitman_yor_fit.py."""

import pytest

from reid_sql.models.pyc.pitman_yor import (
    fit_pitman_yor,
)
from tests.pitman_yor import entropy_and_tail
from tests.urn import histogram_of, population


@pytest.mark.parametrize(("d", "alpha"), [(0.0, 200.0), (0.4, 30.0), (0.7, 3.0)])
def test_the_truth_lies_in_the_interval_of_a_large_sample(d: float, alpha: float) -> None:
    entropy, tail = (float(value) for value in entropy_and_tail(d, alpha))
    found, posterior = fit_pitman_yor(
        histogram_of(population(d, alpha, 20_000, seed=1).sizes), "flat"
    )
    assert found.entropy_low - 0.3 <= entropy <= found.entropy_high + 0.3
    assert found.tail_low - 0.03 <= tail <= found.tail_high + 0.03
    assert found.entropy_low < found.entropy < found.entropy_high
    assert posterior.weight.sum() == pytest.approx(1)
