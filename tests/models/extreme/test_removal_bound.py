from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import genpareto

from reid_sql.models.extreme.extreme_risk import Level, distinct_values, fit, highest
from reid_sql.models.extreme.quasi_identifiers import choose
from reid_sql.models.extreme.removal_bound import largest_shape, lowest
from tests.qar import coded, distinct, draw, risk


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(5, 9),
    st.integers(2, 5),
    st.sampled_from([(0.1, 0.5), (0.01, 0.3), (0.5, 1.0), (0.05, 0.5)]),
)
def test_no_removal_of_any_records_gets_below(
    seed: int, records: int, values: int, level: tuple[float, float]
) -> None:
    rows = draw(seed, records, 6, values)
    chosen = choose(coded(rows), 2)
    most = largest_shape(Level(*level)) or 1
    bounds = lowest(chosen, distinct_values(chosen), Level(*level), 4)
    for step, bound in enumerate(bounds):
        for removed in combinations(range(records), step):
            counts = distinct([row for record, row in enumerate(rows) if record not in removed], 2)
            left = records - step
            found = risk(counts, left, *level)
            shape = fit(
                highest(np.array(counts), Level(*level))[None], left, len(counts), Level(*level)
            ).shape[0]
            assert found is None or found >= bound - 1e-12 or shape > most


def test_below_the_largest_shape_the_quantile_is_at_least_the_mean() -> None:
    for alpha, tail in [(0.01, 0.05), (0.001, 0.05), (0.1, 0.5)]:
        most = largest_shape(Level(alpha, tail))
        assert most is not None
        for shape in [-50.0, -1.0, -1e-3, 1e-3, 0.2, most - 1e-3]:
            law = genpareto(shape, scale=0.7)
            assert law.ppf(1 - alpha / tail) >= law.mean()
        law = genpareto(most + 1e-3, scale=0.7)
        assert law.ppf(1 - alpha / tail) < law.mean()


def test_it_is_sharp_where_one_record_makes_each_class() -> None:
    rows = [[number, number, 1] for number in range(1, 11)]
    chosen = choose(coded(rows), 1)
    assert lowest(chosen, distinct_values(chosen), Level(0.1, 0.4), 3).tolist() == pytest.approx([1, 1, 1, 1])
