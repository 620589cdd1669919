"""Columns that are nearly a key together are found by how many pairs of records should agree, and do not."""

from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import poisson

from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.models.people.keys import AGREEMENTS, find_key, weigh_agreements
from reid_sql.parameters import Integers


def evidence_of(codes: Integers) -> PeopleEvidence:
    coded = [np.unique(column, return_inverse=True) for column in codes.T]
    names = [[None if value < 0 else str(value) for value in seen.tolist()] for seen, _ in coded]
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
    assert key.agreeing == 0
    assert key.expected == pytest.approx(agreeing[0] * agreeing[1] / pairs)


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
    assert key.expected == pytest.approx(most)


@pytest.mark.parametrize("records", [200, 600])
def test_columns_that_go_their_own_ways_are_no_key(records: int) -> None:
    """Few records agree in all of the columns by chance, in some samples none."""
    rng, possible = np.random.default_rng(records), 0
    for _ in range(20):
        codes = np.stack(
            [rng.integers(10, many + 10, records) for many in (records, 40, 30)], axis=1
        )
        key = find_key(evidence_of(codes))
        possible += key is not None and key.is_possible
        assert key is None or not key.is_likely
    assert possible <= 2


def test_a_key_of_which_a_few_numbers_are_given_twice_is_nearly_one() -> None:
    codes = sampled(court_cases(), 900)
    key = find_key(evidence_of(np.concatenate([codes, codes[:1]])))
    assert key is not None
    assert (key.columns, key.agreeing) == ((0, 1, 2), 1)
    assert key.is_possible
    assert not key.is_likely


def test_records_with_a_null_do_not_hide_that_the_others_are_distinct() -> None:
    """Seats of sessions, of which a sixth is not known: those records repeat, the others never."""
    rng, place = np.random.default_rng(1), np.arange(30_000)
    seat = np.where(rng.random(len(place)) < 1 / 6, -1, place % 100)
    codes = sampled(np.stack([place // 100, seat], axis=1), 1200)
    known = codes[codes[:, 1] >= 0]
    key = find_key(evidence_of(codes))
    assert key is not None
    assert count_agreeing(codes, (0, 1)) > 0
    assert key.agreeing == count_agreeing(known, (0, 1)) == 0
    assert key.share == len(known) / len(codes)
    pairs = len(known) * (len(known) - 1) / 2
    agreeing = [count_agreeing(known, (column,)) for column in (0, 1)]
    assert key.expected == pytest.approx(agreeing[0] * agreeing[1] / pairs)
    assert key.is_possible


@pytest.mark.parametrize(
    ("agreeing", "expected"), [(0, 2.0), (1, 5.0), (3, 6.0), (9, 10.0), (8, 40.0)]
)
def test_the_posterior_of_agreements_is_that_of_a_poisson_number(
    agreeing: int, expected: float
) -> None:
    low, high = AGREEMENTS[0], AGREEMENTS[-2]
    of_keys, _ = quad(
        lambda log: poisson.pmf(agreeing, np.exp(log) * expected) / np.log(high / low),
        *np.log([low, high]),
    )
    none = max(poisson.pmf(agreeing, share * expected) for share in np.linspace(0.8, 1, 401))
    chance = 0.2 * of_keys / (0.2 * of_keys + 0.8 * none)
    found = 1 - weigh_agreements(agreeing, expected, 0.2)[-1]
    assert found == pytest.approx(chance, rel=0.25, abs=1e-3)
