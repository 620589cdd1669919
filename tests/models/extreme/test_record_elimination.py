import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.quasi_identifiers import choose
from reid_sql.models.extreme.record_elimination import Remaining, eliminate
from tests.qar import coded, distinct, draw, table_risk, unique, without


def naive(rows: list[list[int]], p: int, level: tuple[float, float], remove: int) -> list[tuple[int, float]]:
    """Remove the record without which the risk is least, worked out anew; of ties, the first."""
    left, removed = list(enumerate(rows)), []
    for _ in range(remove):
        table = [row for _, row in left]
        risks = [table_risk(without(table, place), p, *level) for place in range(len(table))]
        known = [risk for risk in risks if risk is not None]
        if not known or min(known) >= 1:
            break
        place = next(
            place for place, risk in enumerate(risks) if risk is not None and risk <= min(known) * (1 + 1e-10)
        )
        removed.append((left.pop(place)[0], min(known)))
    return removed


@settings(max_examples=25)
@given(
    st.integers(0, 10**6), st.integers(8, 30), st.integers(2, 6), st.sampled_from([(0.1, 0.5), (0.01, 0.4)])
)
def test_it_removes_what_the_naive_procedure_removes(
    seed: int, records: int, values: int, level: tuple[float, float]
) -> None:
    rows = draw(seed, records, 6, values)
    records_removed, risks = eliminate(choose(coded(rows), 3), Level(*level), 7)
    expected = naive(rows, 3, level, 7)
    assert records_removed == [record for record, _ in expected]
    assert risks == pytest.approx([risk for _, risk in expected], rel=1e-9)


def test_the_state_after_removals_is_that_of_a_new_table() -> None:
    rows = draw(4, 60, 5, 4)
    left = Remaining(choose(coded(rows), 2))
    for record in np.random.default_rng(0).permutation(60)[:40].tolist():
        left.remove(record)
    table = [rows[record] for record in left.records]
    assert left.distinct.tolist() == distinct(table, 2)
    assert left.alone.T[left.records].astype(bool).tolist() == unique(table, 2)


def test_too_little_memory_is_refused_with_what_is_needed() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="memory_mb must be at least 3 for the exact elimination among 3000 records in 165",
    ):
        eliminate(choose(coded(draw(1, 3000, 11, 3)), 3), Level(), 1, 1)
