"""What the first tier leaves of tests/models/population/test_population_uniqueness.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.population import classical_estimators
from reid_sql.models.population.population_uniqueness import (
    METHODS,
    UniquenessEvidence,
    estimate_by_methods,
)
from tests.histograms import CLASSES, huge
from tests.models.population.test_population_uniqueness import evidence


@settings(max_examples=15)
@given(CLASSES, st.floats(1.0001, 1e7))
def test_each_method_gives_a_share_or_a_reason(classes: dict[int, int], growth: float) -> None:
    given_sample = evidence(classes)
    records = sum(size * count for size, count in classes.items())
    sampled = classes.get(1, 0) / records
    rows = estimate_by_methods(given_sample, records * growth)
    assert [row.method for row in rows] == list(METHODS)
    for row in rows:
        if row.uniqueness is None:
            assert row.status != "ok"
            assert row.unique_records is None
            continue
        assert 0 <= row.uniqueness <= 1
        assert row.unique_records == pytest.approx(row.uniqueness * records * growth)
        assert (
            row.uniqueness <= sampled * (1 + 1e-9)
            or classical_estimators.STATUS_EXCEEDS_BOUND in row.status
        )
        # an interval of the people alone was measured to hold what it says
        assert row.status != "ok"
        if row.uniqueness_low is not None and row.uniqueness_high is not None:
            assert row.uniqueness_low - 1e-12 <= row.uniqueness <= row.uniqueness_high + 1e-12


def test_a_thousand_million_records_of_eight_thousand_million_people() -> None:
    whole = huge()
    given_sample = UniquenessEvidence(
        whole.class_size, np.log(whole.class_size * 0.9), whole.classes
    )
    with np.errstate(all="raise", under="ignore"):
        rows = estimate_by_methods(given_sample, 8e9)
    # They need the pairs of values.
    assert [row.method for row in rows if row.uniqueness is None] == ["people", "copula"]
    assert all(0 < (row.uniqueness or 0.1) < 0.2 for row in rows)
