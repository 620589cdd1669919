import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.models.extreme.extreme_risk import Level, distinct_values
from reid_sql.models.extreme.quasi_identifiers import choose
from reid_sql.models.extreme.removal import deciding, risk_without, uniqueness
from tests.qar import coded, distinct, draw, table_risk, unique, without

TABLES = st.tuples(st.integers(0, 10**6), st.integers(2, 40), st.integers(4, 7), st.integers(1, 6))
LEVELS = st.sampled_from([(0.1, 0.5), (0.01, 0.3), (0.2, 0.9), (0.5, 1.0)])


def as_numbers(values: list[float | None]) -> list[float]:
    return [np.nan if value is None else value for value in values]


@given(TABLES, LEVELS, st.integers(1, 3))
def test_the_risk_without_each_record_is_that_of_the_table_without_it(
    table: tuple[int, int, int, int], level: tuple[float, float], p: int
) -> None:
    rows = draw(*table)
    chosen = choose(coded(rows), p)
    found = risk_without(chosen, distinct_values(chosen), Level(*level))
    expected = [table_risk(without(rows, record), p, *level) for record in range(len(rows))]
    assert found == pytest.approx(as_numbers(expected), rel=1e-9, nan_ok=True)


@given(TABLES, st.integers(1, 4))
def test_uniqueness_of_every_record(table: tuple[int, int, int, int], p: int) -> None:
    rows = draw(*table)
    found = uniqueness(choose(coded(rows), p))
    alone, counts = np.array(unique(rows, p)), np.array(distinct(rows, p))
    assert found.distinct.tolist() == counts.tolist()
    assert found.unique.tolist() == alone.sum(axis=1).tolist()
    assert found.weighted.tolist() == (alone @ counts).tolist()


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_only_the_deciding_quasi_identifiers_matter(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(1, 30, 50)
    level = Level(0.05, 0.2)
    rest = np.setdiff1d(np.arange(50), deciding(counts, level))
    assert len(rest) == (counts < np.sort(counts)[-level.top(50)]).sum()
    assert counts[rest].max(initial=0) < counts[deciding(counts, level)].min()
