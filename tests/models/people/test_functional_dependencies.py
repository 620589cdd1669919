from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.people import functional_dependencies
from reid_sql.models.people.evidence import PeopleEvidence, count_records, select_columns
from reid_sql.models.people.functional_dependencies import (
    choose_dependencies,
    find_dependencies,
)
from reid_sql.models.population_risk import doubts
from reid_sql.models.population_risk.answer import answer


def table(codes: np.ndarray) -> PeopleEvidence:
    wide = codes.shape[1]
    values = [[str(v) for v in range(int(own.max()) + 1)] for own in codes.T]
    return count_records(codes, [f"c{j}" for j in range(wide)], values, [False] * wide)


def brute(codes: np.ndarray) -> set[tuple[int, int]]:
    """Pairs (follows, other): of all records that share a value of the other, all share one of the column."""
    found = set()
    for follows, other in permutations(range(codes.shape[1]), 2):
        groups: dict[int, list[int]] = {}
        for row in codes.tolist():
            groups.setdefault(row[other], []).append(row[follows])
        repeated = [own for own in groups.values() if len(own) > 1]
        enough = sum(len(own) for own in repeated) >= functional_dependencies.MIN_REPEATED_RECORDS
        if (
            len(set(codes[:, follows])) > 1
            and enough
            and all(len(set(own)) == 1 for own in repeated)
        ):
            found.add((follows, other))
    return found


@given(st.integers(0, 10**6), st.integers(12, 60), st.integers(1, 12))
def test_dependences_by_brute_force(seed: int, records: int, many: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, many, records)
    codes = np.stack([first, first // 2, rng.integers(0, 3, records)], axis=1)
    codes = np.stack([np.unique(own, return_inverse=True)[1] for own in codes.T], axis=1)
    found = {(one.determined, one.by) for one in find_dependencies(table(codes))}
    assert found == brute(codes)


def zips(records: int, many: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    home = rng.integers(0, many, records)
    rows = np.stack([home, home // 10, home // 50, rng.integers(0, 90, records)], axis=1)
    return np.stack([np.unique(own, return_inverse=True)[1] for own in rows.T], axis=1)


def test_city_and_state_are_left_out_for_their_postal_code() -> None:
    evidence = table(zips(3000, 500))
    left = choose_dependencies(find_dependencies(evidence), evidence.values)
    assert sorted(one.determined for one in left) == [1, 2]
    assert all(one.is_certain for one in left)
    remaining = select_columns(evidence, [0, 3])
    assert remaining.columns == ("c0", "c3")
    assert list(remaining.pairs) == [(0, 1)]
    np.testing.assert_array_equal(remaining.pairs[0, 1][2], evidence.pairs[0, 3][2])


def test_a_value_that_nearly_all_have_is_no_evidence() -> None:
    codes = np.zeros((400, 2), dtype=np.int64)
    codes[:, 0] = np.arange(400) // 2
    codes[0, 1], codes[1, 1] = 1, 1
    found = find_dependencies(table(codes))
    assert [(one.determined, one.by, one.is_likely) for one in found] == [(1, 0, False)]


@pytest.mark.parametrize(("records", "sure"), [(200, False), (3000, True)])
def test_the_answer_counts_them_once(records: int, sure: bool) -> None:  # noqa: FBT001
    """Postal code, city and state of 500 codes, with an age: nearly nobody of a million is alone."""
    row = answer(table(zips(records, 500)), [1e6])[0]
    alone = answer(table(zips(records, 500)[:, [0, 3]]), [1e6])[0]
    assert row.uniqueness == pytest.approx(alone.uniqueness)
    assert "determined: c0 determines c1, so c1 adds nothing" in row.status
    assert (doubts.ASSUMPTION_DEPENDENCIES in row.assumptions) is not sure
