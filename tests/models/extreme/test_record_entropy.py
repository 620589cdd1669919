from itertools import combinations
from math import isqrt, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.extreme.quasi_identifiers import Codes, choose
from reid_sql.models.extreme.record_entropy import entropy, not_ordinal, too_wide
from tests.qar import coded, draw


def by_definition(rows: list[list[int]], p: int) -> list[float]:
    """Record by record: joint ecdf, its ecdf, the interval that holds it, entropy."""
    found: list[list[int]] = [[] for _ in rows]
    subsets = list(combinations(range(len(rows[0])), p))
    bins, total = isqrt(len(subsets)), len(rows)
    for places in subsets:
        joint = [sum(all(other[c] <= row[c] for c in places) for other in rows) for row in rows]
        for record, value in enumerate(joint):
            share = sum(other <= value for other in joint)
            found[record].append(next(m for m in range(1, bins + 1) if share * bins <= m * total))
    return [-sum(q * log(q) for q in (cells.count(m) / len(cells) for m in set(cells))) for cells in found]


@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(1, 5), st.integers(1, 3))
def test_entropy_is_what_the_definition_says(seed: int, records: int, values: int, p: int) -> None:
    rows = draw(seed, records, 6, values)
    assert entropy(choose(coded(rows), p)) == pytest.approx(by_definition(rows, p), abs=1e-12)


def test_threads_add_up() -> None:
    table = coded(draw(1, 60_000, 5, 9))
    small = coded(draw(1, 60_000, 5, 9)[:100])
    assert len(entropy(choose(table, 2))) == 60_000
    assert entropy(choose(small, 2)).shape == (100,)


def test_what_has_no_order_is_named() -> None:
    assert not_ordinal(coded([[1, 2]])) == ""
    missing = Codes(["age"], [True], [np.array([1, 0])], np.arange(2))
    assert not_ordinal(missing) == "'age' holds NULL, which has no place in an order; pass nulls := 'drop'"


def test_distributions_beyond_the_memory_are_refused() -> None:
    wide = choose(coded([[1, 1], [1000, 1000]]), 2)
    assert too_wide(wide, 100) == ""
    assert too_wide(wide, 10) == "1000000 cells of the joint distribution are too many for memory_mb := 10"
