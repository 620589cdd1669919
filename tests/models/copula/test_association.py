from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.copula.copula_fit import (
    adjusted_information,
    expected_information,
    fit_pair_correlation,
    matching_correlation,
    normal_information,
    normal_table,
    order_categories,
)
from reid_sql.parameters import Floats
from tests.rectangles import rectangle_probabilities


def information(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """Mutual information of two columns, pair by pair."""
    n, one, other = len(first), Counter(first), Counter(second)
    pairs = Counter(zip(first, second, strict=True))
    return float(sum(k / n * np.log(n * k / (one[a] * other[b])) for (a, b), k in pairs.items()))


def counts(column: tuple[int, ...]) -> Floats:
    return np.array(list(Counter(column).values()), dtype=np.float64)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6))
def test_chance_is_the_mean_over_all_shuffles(rows: list[tuple[int, int]]) -> None:
    first, second = tuple(a for a, _ in rows), tuple(b for _, b in rows)
    shuffled = [information(first, some) for some in permutations(second)]
    assert expected_information(counts(first), counts(second)) == pytest.approx(
        np.mean(shuffled), abs=1e-12
    )


def test_information_of_a_large_table_is_that_of_shuffles() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.zipf(1.5, 3000) % 40, rng.integers(0, 50, 3000)
    shuffled = [information(tuple(first), tuple(rng.permutation(second))) for _ in range(40)]
    found = expected_information(counts(tuple(first)), counts(tuple(second)))
    assert found == pytest.approx(np.mean(shuffled), abs=4 * float(np.std(shuffled)) / 40**0.5)


def test_independence_has_no_information_beyond_chance_and_equality_has_all() -> None:
    rng = np.random.default_rng(6)
    first, second = tuple(rng.integers(0, 30, 2000)), tuple(rng.integers(0, 30, 2000))
    both = counts(tuple(a * 30 + b for a, b in zip(first, second, strict=True)))
    assert adjusted_information(counts(first), counts(second), both) == pytest.approx(0, abs=0.02)
    own = counts(first)
    entropy = -float((own / 2000 * np.log(own / 2000)).sum())
    assert adjusted_information(own, own, own) == pytest.approx(entropy)


@pytest.mark.parametrize("correlation", [-0.8, 0.0, 0.3, 0.95])
def test_the_table_of_two_normals_is_that_of_their_rectangles(correlation: float) -> None:
    first, second = np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.6, 0.3])
    cuts = [
        np.array([-np.inf, *np.asarray(at), np.inf])
        for at in ([0.0, 0.524400512708041], [-1.28155156554460, 0.524400512708041])
    ]
    table = normal_table(first, second, correlation)
    places = [(i, j) for i in range(3) for j in range(3)]
    lower, upper = ([[cuts[0][i + at], cuts[1][j + at]] for i, j in places] for at in (0, 1))
    exact = rectangle_probabilities(lower, upper, [[1, correlation], [correlation, 1]]).probability
    assert table.ravel() == pytest.approx(exact, abs=5e-4)


@pytest.mark.parametrize("correlation", [0.05, 0.5, 0.9])
def test_the_correlation_comes_back_from_its_information(correlation: float) -> None:
    shares = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.25, 0.7, 0.05])
    found = matching_correlation([shares], normal_information(*shares, correlation))
    assert found == pytest.approx(correlation, abs=1e-4)


def test_no_information_and_too_much() -> None:
    halves = np.array([0.5, 0.5])
    assert matching_correlation([(halves, halves)], -0.1) == 0
    assert matching_correlation([(halves, halves)], 0.7) == pytest.approx(0.999)


def test_an_order_that_was_lost_is_found_again() -> None:
    rng = np.random.default_rng(3)
    shares = np.full(6, 1 / 6), np.full(5, 1 / 5), np.full(7, 1 / 7)
    lost = [rng.permutation(len(own)) for own in shares]
    pairs = {}
    for one, other in ((0, 1), (0, 2), (1, 2)):
        table = 1000 * normal_table(shares[one], shares[other], 0.8)
        rows, columns = np.indices(table.shape)
        pairs[one, other] = lost[one][rows.ravel()], lost[other][columns.ravel()], table.ravel()
    for order, hidden in zip(order_categories(shares, pairs, [False] * 3), lost, strict=True):
        true = [int(np.flatnonzero(hidden == code)[0]) for code in order]
        assert true in (sorted(true), sorted(true, reverse=True))


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.4])
def test_the_likeliest_correlation_is_that_of_the_table(correlation: float) -> None:
    shares = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.4])
    table = normal_table(*shares, correlation)
    rows, columns = np.indices(table.shape)
    found = fit_pair_correlation(*shares, (rows.ravel(), columns.ravel(), table.ravel()))
    assert found == pytest.approx(correlation, abs=2e-3)
