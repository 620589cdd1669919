import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.quasi_identifiers import choose
from reid_sql.models.extreme.removal_order import distinct_along, risk_along
from tests.qar import coded, distinct, draw, table_risk


@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(1, 5), st.integers(1, 3))
def test_every_step_is_a_table_of_what_is_left(seed: int, records: int, values: int, p: int) -> None:
    rows = draw(seed, records, 6, values)
    order = np.random.default_rng(seed).permutation(records)[: records - 2]
    chosen = choose(coded(rows), p)
    counts = distinct_along(chosen, order)
    fits = risk_along(chosen, Level(0.1, 0.6), order)
    risks = np.concatenate([part.risk for part in fits])
    for step in range(len(order) + 1):
        left = [row for record, row in enumerate(rows) if record not in set(order[:step].tolist())]
        assert counts[step].tolist() == distinct(left, p)
        expected = table_risk(left, p, 0.1, 0.6)
        assert risks[step] == pytest.approx(np.nan if expected is None else expected, rel=1e-9, nan_ok=True)


def test_too_little_memory_is_refused_with_what_is_needed() -> None:
    chosen = choose(coded(draw(1, 3000, 11, 3)), 3)
    with pytest.raises(
        OutOfDomainError,
        match="memory_mb must be at least 4 for 2900 removals in 165 quasi-identifiers, got 1",
    ):
        distinct_along(chosen, np.arange(2900), 1)
