"""The page of the papers' figures: its statistics by hand, its functions, and its stored figures."""

import json
import re

import numpy as np
import pytest
from scipy.stats import linregress

from benchmarks.accuracy.papers_page import STORED, TABLES, WORDS
from benchmarks.accuracy.papers_summary import f_score, judge, regress, true_positives
from benchmarks.accuracy.published import RND, TABLE_1
from benchmarks.accuracy.summary import random_guess_error
from reid_sql_udfs import declared

RNG = np.random.default_rng(3)
XI = RNG.random(400)
UNIQUE = (RNG.random(400) < XI).astype(float)


def test_the_error_of_a_random_guess_is_that_of_many_guesses() -> None:
    truth, measured = np.array([0.1, 0.4, 0.9]), np.array([0.5, 0.6, 0.95])
    guesses = RNG.uniform(0, measured, (200_000, 3))
    assert random_guess_error(truth, measured) == pytest.approx(
        np.sqrt(((guesses - truth) ** 2).mean()), rel=0.01
    )


def test_no_guess_between_0_and_1_has_the_errors_that_are_printed() -> None:
    """Whatever the correctness, RND as printed has an RMSE of at least √(1/12); that of the share has not."""
    guesses = RNG.random(200_000)
    least = min(np.sqrt(((guesses - truth) ** 2).mean()) for truth in np.linspace(0.01, 0.99, 50))
    assert least > max(RND[1.0], RND[0.1], RND[0.01])
    assert set(RND) == set(TABLE_1)


def test_f_scores_and_roc_curves_by_counting() -> None:
    named, true = XI > 0.7, UNIQUE == 1
    precision, recall = (named & true).sum() / named.sum(), (named & true).sum() / true.sum()
    assert f_score(XI, UNIQUE, 0.7) == pytest.approx(2 * precision * recall / (precision + recall))
    xi, truth = np.array([*range(1, 11), 5.5, 9.5, 10.5]), np.repeat([0.0, 1.0], [10, 3])
    # the highest of ten others is above, too
    assert true_positives(xi, truth, 0.1) == pytest.approx(2 / 3)
    assert true_positives(xi, truth, 0.6) == 1


def test_a_population_without_unique_persons_counts_but_has_no_area() -> None:
    found = judge([(XI, UNIQUE), (XI[:200], UNIQUE[:200]), (np.full(100, 0.99), np.zeros(100))])
    assert 0.5 < found["auc"][0] < 1
    named = np.concatenate([XI > 0.95, XI[:200] > 0.95])
    right = np.concatenate([UNIQUE, UNIQUE[:200]])[named].sum()
    assert found["fdr"]["0.95"] == pytest.approx(1 - right / (named.sum() + 100))


def test_regressions_are_those_of_least_squares() -> None:
    y = 0.2 + 0.5 * XI + RNG.normal(0, 0.1, len(XI))
    found, expected = regress(XI, y), linregress(XI, y)
    assert found["slope"] == pytest.approx([expected.slope, expected.stderr])
    assert found["intercept"] == pytest.approx([expected.intercept, expected.intercept_stderr])


def test_every_table_has_a_place_and_every_function_exists() -> None:
    assert sorted(re.findall(r"^<!-- (\w+) -->$", WORDS, re.MULTILINE)) == sorted(TABLES)
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    text = WORDS + "\n".join(row for rows in TABLES.values() for row in rows(stored))
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", text)) - set(stored["replaced"]["after"])
    assert named >= {"fit_copula", "population_risk", "pyc_fit", "pyc_extrapolate"}
    assert named <= set(declared())
