from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.extreme_risk import Level, distinct_values
from reid_sql.models.quasi_identifiers import choose
from reid_sql.models.removal_bound import lowest
from tests.qar import coded, distinct, draw, risk, threshold


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(5, 9), st.integers(2, 5), st.sampled_from([(0.1, 0.5), (0.01, 0.3), (0.5, 1.0)]))
def test_no_removal_of_any_records_gets_below(seed: int, records: int, values: int, level: tuple[float, float]) -> None:
    rows = draw(seed, records, 6, values)
    chosen = choose(coded(rows), 2)
    bounds = lowest(chosen, distinct_values(chosen), Level(*level), 4)
    for step, bound in enumerate(bounds):
        for removed in combinations(range(records), step):
            counts = distinct([row for record, row in enumerate(rows) if record not in removed], 2)
            left = records - step
            assert float(threshold(counts, level[1]) / left) >= bound - 1e-12
            found = risk(counts, left, *level)
            assert found is None or found >= bound - 1e-12


def test_it_is_sharp_where_one_record_makes_each_class() -> None:
    rows = [[number, number, 1] for number in range(1, 11)]
    chosen = choose(coded(rows), 1)
    assert lowest(chosen, distinct_values(chosen), Level(0.1, 0.4), 3).tolist() == pytest.approx([1, 1, 1, 1])
