"""What the first tier leaves of tests/models/classes/test_matching.py."""

import numpy as np
import pytest

from reid_sql.models.classes.matching import matching_curve


def test_continuous_scores_that_tell_nothing_are_right_once_in_n() -> None:
    draw = np.random.default_rng(2)
    for point in matching_curve(draw.random(4000), draw.random(4000), [2, 10, 100]):
        assert point.standard_error is not None
        assert point.correctness == pytest.approx(1 / point.n, abs=5 * point.standard_error)
