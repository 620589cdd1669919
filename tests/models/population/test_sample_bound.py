"""The bound against the hypergeometric chance that it is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reid_sql.models.population import sample_bound
from tests.histograms import CLASSES, histogram


@given(CLASSES, st.integers(0, 20_000))
def test_more_unique_people_than_the_bound_would_have_shown_more_unique_records(
    classes: dict[int, int], more: int
) -> None:
    sample = histogram(classes)
    records, unique = int(sample.records.sum()), classes.get(1, 0)
    population = records + more
    found = sample_bound.estimate(sample, population)
    assert found.uniqueness == unique / records
    assert found.high is not None
    above = int(found.high * population) + 1
    # Either so many are not possible at all, or a sample with so few unique records is rarer than 1 in 40.
    assert (
        above > population - (records - unique)
        or stats.hypergeom.cdf(unique, population, above, records) <= 0.025 + 1e-9
    )


def test_a_sample_of_unique_records_bounds_nothing() -> None:
    assert sample_bound.estimate(histogram({1: 7}), 100).high == pytest.approx(1.0)
