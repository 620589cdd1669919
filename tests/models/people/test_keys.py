"""Columns that are a key together are found by how many pairs of records should agree, and do not."""

from itertools import combinations

import numpy as np
import pytest

from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.keys import AGREEING_SHARE, MIN_NATS, find_key
from reid_sql.parameters import Integers


def evidence_of(codes: Integers) -> PeopleEvidence:
    coded = [np.unique(column, return_inverse=True) for column in codes.T]
    names = [[str(value) for value in seen.tolist()] for seen, _ in coded]
    table = np.stack([code.ravel() for _, code in coded], axis=1)
    return count_records(table, [f"c{j}" for j in range(len(names))], names, [False] * len(names))


def sampled(population: Integers, records: int) -> Integers:
    return population[np.random.default_rng(4).permutation(len(population))[:records]]


def court_cases() -> Integers:
    """A court, a year, and the number of a case, which restarts in each year of each court."""
    court, year, number = np.meshgrid(range(20), range(10), range(60), indexing="ij")
    return np.stack([court.ravel(), year.ravel(), number.ravel()], axis=1)


def count_agreeing(codes: Integers, columns: tuple[int, ...]) -> int:
    rows = codes[:, list(columns)].tolist()
    return sum(one == other for one, other in combinations(rows, 2))


def test_a_number_that_restarts_in_each_street_is_a_key_with_it() -> None:
    place = np.arange(10_000)
    codes = sampled(np.stack([place // 25, place % 25, place % 2], axis=1), 400)
    key = find_key(evidence_of(codes))
    assert key is not None
    assert key.columns == (0, 1)
    pairs = 400 * 399 / 2
    agreeing = [count_agreeing(codes, (column,)) for column in (0, 1)]
    assert key.nats == pytest.approx(AGREEING_SHARE * agreeing[0] * agreeing[1] / pairs)


def test_three_columns_of_which_no_two_are_a_key() -> None:
    codes = sampled(court_cases(), 900)
    key = find_key(evidence_of(codes))
    assert key is not None
    assert key.columns == (0, 1, 2)
    assert key.is_likely
    pairs = 900 * 899 / 2
    own = [count_agreeing(codes, (column,)) for column in range(3)]
    both = [count_agreeing(codes, (one, other)) for one, other in ((1, 2), (0, 2), (0, 1))]
    most = max(one * two / pairs for one, two in zip(own, both, strict=True))
    assert key.nats == pytest.approx(AGREEING_SHARE * most)


@pytest.mark.parametrize("records", [200, 600])
def test_columns_that_go_their_own_ways_are_no_key(records: int) -> None:
    """Few records agree in all of the columns by chance, in some samples none."""
    rng = np.random.default_rng(records)
    for _ in range(20):
        codes = np.stack(
            [rng.integers(10, many + 10, records) for many in (records, 40, 30)], axis=1
        )
        key = find_key(evidence_of(codes))
        assert key is None or key.nats < MIN_NATS


def test_records_that_repeat_have_no_key() -> None:
    codes = sampled(court_cases(), 900)
    assert find_key(evidence_of(np.concatenate([codes, codes[:1]]))) is None
