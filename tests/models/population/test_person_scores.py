from itertools import product

import numpy as np
import pytest

from reid_sql.models.population.backtest import score_persons

RNG = np.random.default_rng(3)


def test_ranking_is_that_of_all_pairs() -> None:
    xi, unique = RNG.integers(0, 8, 60) / 8, RNG.random(60) < 0.4
    pairs = list(product(xi[unique], xi[~unique]))
    counted = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
    assert score_persons(xi, unique).auc == pytest.approx(counted)


def test_published_brier_scores_of_a_constant_and_of_guesses() -> None:
    # Supplement of 2019, equations 4 and 9: Ξ (1 − Ξ) for the best constant, 1/3 for uniform guesses.
    unique = RNG.random(200_000) < 0.3
    constant = score_persons(np.full(unique.size, unique.mean()), unique)
    assert constant.brier == pytest.approx(constant.brier_constant)
    assert constant.brier_constant == pytest.approx(0.21, abs=0.003)
    assert score_persons(RNG.random(unique.size), unique).brier == pytest.approx(1 / 3, abs=0.003)


def test_discoveries_are_counted() -> None:
    xi = np.array([0.99, 0.98, 0.97, 0.96, 0.94, 0.7, 0.6, 0.2])
    unique = np.array([True, True, False, True, True, False, False, True])
    found = score_persons(xi, unique)
    assert found.false_discovery_rate == 1 / 4
    assert found.recall == 3 / 5
    assert found.f_score == pytest.approx(2 * (4 / 7) * (4 / 5) / (4 / 7 + 4 / 5))


def test_scores_that_mean_what_they_say_are_reliable() -> None:
    xi = RNG.random(300_000)
    honest, bold = (
        score_persons(xi, RNG.random(xi.size) < xi),
        score_persons(xi, RNG.random(xi.size) < xi / 2),
    )
    assert honest.reliability < 0.005
    assert bold.reliability == pytest.approx(0.25, abs=0.005)


def test_nobody_to_tell_it_by_is_none() -> None:
    found = score_persons(np.array([0.1, 0.2]), np.array([False, False]))
    assert found.auc is None
    assert found.false_discovery_rate is None
    assert found.recall is None
    assert found.f_score is None


def test_tenths_are_what_a_loop_counts() -> None:
    xi, unique = np.r_[RNG.random(300), 1.0, 0.0], RNG.random(302) < 0.3
    found = score_persons(xi, unique).tenths
    for tenth in found:
        inside = [
            (x, u)
            for x, u in zip(xi, unique, strict=True)
            if tenth.low <= x < tenth.high or (tenth.high == x == 1.0)
        ]
        assert tenth.persons == len(inside)
        assert tenth.score == pytest.approx(sum(x for x, _ in inside) / len(inside))
        assert tenth.unique == pytest.approx(sum(u for _, u in inside) / len(inside))
    assert sum(tenth.persons for tenth in found) == 302
