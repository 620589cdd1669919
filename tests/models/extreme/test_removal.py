import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.quasi_identifiers import choose_quasi_identifiers
from reid_sql.models.extreme.extreme_risk import Level, count_distinct_values
from reid_sql.models.extreme.removal import (
    Remaining,
    count_distinct_along,
    count_uniqueness,
    eliminate_records,
    fit_along,
    risk_without,
    select_deciding,
)
from tests.qar import coded, distinct, draw, table_risk, unique, within, without

TABLES = st.tuples(st.integers(0, 10**6), st.integers(2, 40), st.integers(4, 7), st.integers(1, 6))
LEVELS = st.sampled_from([(0.1, 0.5), (0.01, 0.3), (0.2, 0.9), (0.5, 1.0)])


def as_numbers(values: list[float | None]) -> list[float]:
    return [np.nan if value is None else value for value in values]


@given(TABLES, LEVELS, st.integers(1, 3))
def test_the_risk_without_each_record_is_that_of_the_table_without_it(
    table: tuple[int, int, int, int], level: tuple[float, float], p: int
) -> None:
    rows = draw(*table)
    chosen = choose_quasi_identifiers(coded(rows), p)
    found = risk_without(chosen, count_distinct_values(chosen), Level(*level))
    expected = [table_risk(without(rows, record), p, *level) for record in range(len(rows))]
    assert found == pytest.approx(as_numbers(expected), rel=1e-9, nan_ok=True)


@given(TABLES, st.integers(1, 4))
def test_uniqueness_of_every_record(table: tuple[int, int, int, int], p: int) -> None:
    rows = draw(*table)
    found = count_uniqueness(choose_quasi_identifiers(coded(rows), p))
    alone, counts = np.array(unique(rows, p)), np.array(distinct(rows, p))
    assert found.distinct.tolist() == counts.tolist()
    assert found.unique.tolist() == alone.sum(axis=1).tolist()
    assert found.weighted.tolist() == (alone @ counts).tolist()


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_only_the_deciding_quasi_identifiers_matter(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(1, 30, 50)
    level = Level(0.05, 0.2)
    rest = np.setdiff1d(np.arange(50), select_deciding(counts, level))
    assert len(rest) == (counts < np.sort(counts)[-level.top(50)]).sum()
    assert counts[rest].max(initial=0) < counts[select_deciding(counts, level)].min()


@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(1, 5), st.integers(1, 3))
def test_every_step_is_a_table_of_what_is_left(
    seed: int, records: int, values: int, p: int
) -> None:
    rows = draw(seed, records, 6, values)
    order = np.random.default_rng(seed).permutation(records)[: records - 2]
    chosen = choose_quasi_identifiers(coded(rows), p)
    counts = count_distinct_along(chosen, order)
    fits = fit_along(chosen, Level(0.1, 0.6), order)
    risks = np.concatenate([part.risk for part in fits])
    for step in range(len(order) + 1):
        left = [row for record, row in enumerate(rows) if record not in set(order[:step].tolist())]
        assert counts[step].tolist() == distinct(left, p)
        expected = table_risk(left, p, 0.1, 0.6)
        assert risks[step] == pytest.approx(
            np.nan if expected is None else expected, rel=1e-9, nan_ok=True
        )


def test_too_little_memory_for_an_order_is_refused() -> None:
    chosen = choose_quasi_identifiers(within(coded(draw(1, 3000, 11, 3)), 1), 3)
    with pytest.raises(
        OutOfDomainError,
        match="memory_limit must be at least 4 MB for 2900 removals in 165 quasi-identifiers, got 1",
    ):
        count_distinct_along(chosen, np.arange(2900))


def naive(
    rows: list[list[int]], p: int, level: tuple[float, float], remove: int
) -> list[tuple[int, float]]:
    """Remove the record without which the risk is least, worked out anew; of ties, the first."""
    left, removed = list(enumerate(rows)), []
    for _ in range(remove):
        table = [row for _, row in left]
        risks = [table_risk(without(table, place), p, *level) for place in range(len(table))]
        known = [risk for risk in risks if risk is not None]
        if not known or min(known) >= 1:
            break
        place = next(
            place
            for place, risk in enumerate(risks)
            if risk is not None and risk <= min(known) * (1 + 1e-10)
        )
        removed.append((left.pop(place)[0], min(known)))
    return removed


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(8, 30),
    st.integers(2, 6),
    st.sampled_from([(0.1, 0.5), (0.01, 0.4)]),
)
def test_it_removes_what_the_naive_procedure_removes(
    seed: int, records: int, values: int, level: tuple[float, float]
) -> None:
    rows = draw(seed, records, 6, values)
    records_removed, risks = eliminate_records(
        choose_quasi_identifiers(coded(rows), 3), Level(*level), 7
    )
    expected = naive(rows, 3, level, 7)
    assert records_removed == [record for record, _ in expected]
    assert risks == pytest.approx([risk for _, risk in expected], rel=1e-9)


def test_the_state_after_removals_is_that_of_a_new_table() -> None:
    rows = draw(4, 60, 5, 4)
    left = Remaining(choose_quasi_identifiers(coded(rows), 2))
    for record in np.random.default_rng(0).permutation(60)[:40].tolist():
        left.remove(record)
    table = [rows[record] for record in left.records]
    assert left.distinct.tolist() == distinct(table, 2)
    assert left.alone.T[left.records].astype(bool).tolist() == unique(table, 2)


def test_too_little_memory_for_an_elimination_is_refused() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="memory_limit must be at least 3 MB for the exact elimination among 3000 records in 165",
    ):
        eliminate_records(
            choose_quasi_identifiers(within(coded(draw(1, 3000, 11, 3)), 1), 3), Level(), 1
        )
