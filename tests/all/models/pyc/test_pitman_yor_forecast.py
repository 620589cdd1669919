"""What the first tier leaves of tests/models/pyc/test_pitman_yor_forecast.py."""

import numpy as np
import pytest

from reid_sql.models.pyc.pitman_yor_forecast import (
    forecast_pitman_yor,
)
from tests.urn import histogram_of, population


@pytest.mark.parametrize(("d", "alpha"), [(0.0, 100.0), (0.5, 10.0), (0.8, 2.0), (-0.5, 100.0)])
def test_intervals_hold_what_the_population_turns_out_to_be(d: float, alpha: float) -> None:
    runs, contained = 12, np.zeros(3)
    for seed in range(runs):
        whole = population(d, alpha, 10_000, seed)
        # arrivals are exchangeable: the first are a random sample
        first = np.bincount(whole.labels[:1_000])
        row = forecast_pitman_yor(histogram_of(first), [10_000], prior="flat")[0]
        sizes = whole.sizes
        contained += [
            row.correctness_low <= len(sizes) / 10_000 <= row.correctness_high,
            row.uniqueness_low <= (sizes == 1).sum() / 10_000 <= row.uniqueness_high,
            row.k_violation_low <= sizes[sizes < 5].sum() / 10_000 <= row.k_violation_high,
        ]
    assert (contained >= 0.9 * runs).all(), contained
