"""What the first tier leaves of tests/models/synthetic/test_copied_records.py."""

import random

import numpy as np
import pytest

from tests.audited import encode
from tests.models.synthetic.test_copied_records import measure_copies, persons


def test_the_excess_is_the_share_that_was_copied_whether_values_are_common_or_rare() -> None:
    """Of 200 draws; the mean is the share, and the intervals contain it in 93 % or more."""
    rng, excesses, contained = random.Random(3), [], 0  # noqa: S311 - no secret
    for _ in range(200):
        original, holdout = persons(rng, 300, 80), persons(rng, 300, 80)
        others = persons(rng, 300, 80)
        synthetic = [each if rng.random() > 0.1 else original[n] for n, each in enumerate(others)]
        row = measure_copies(encode(original, synthetic, holdout))
        assert row.excess is not None
        assert row.low is not None
        assert row.high is not None
        excesses.append(row.excess)
        contained += row.low <= 0.1 <= row.high
    assert np.mean(excesses) == pytest.approx(0.1, abs=3 * np.std(excesses) / 200**0.5 + 0.002)
    assert contained >= 186
