import numpy as np
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram, class_risk


def histogram(sizes: list[int], classes: list[int]) -> Histogram:
    size, count = np.array(sizes, dtype=np.int64), np.array(classes, dtype=np.int64)
    return Histogram(size, count, size * count)


def test_a_billion_records_lose_no_digit() -> None:
    risk = class_risk(histogram([1, 10**9 - 1], [1, 1]))
    assert (risk.records, risk.classes, risk.uniqueness) == (10**9, 2, 1e-9)
    assert risk.average_risk == pytest.approx(2e-9, rel=1e-12)


def test_a_risk_equal_to_the_threshold_is_not_above_it() -> None:
    assert class_risk(histogram([4, 5], [1, 1]), threshold=0.2).records_at_risk == 4 / 9


def test_no_records_and_bad_thresholds_are_refused() -> None:
    with pytest.raises(NoRecordsError, match="at least one record, got 0"):
        class_risk(histogram([], []))
    for threshold in (-0.1, 1.1, float("nan")):
        with pytest.raises(OutOfDomainError, match="threshold must be a risk between 0 and 1, got"):
            class_risk(histogram([1], [1]), threshold=threshold)
