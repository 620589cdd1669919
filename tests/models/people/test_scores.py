from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import order_columns, row_keys
from reid_sql.models.people.fit import fit
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.scores import (
    SHRINKAGE,
    Overdispersion,
    shrink_correctness,
    shrink_scores,
)
from reid_sql.parameters import Integers
from tests.cells import each_cell
from tests.people_tables import of_values, three_columns

SHARES = st.floats(0, 1)


def draw_codes(model: PeopleModel) -> Integers:
    """Draw from the mixture, whose columns have an order of their own."""
    return model.mixture.draw(300, np.random.default_rng(0))[:, np.argsort(model.free_columns)]


@each_cell("xi", [1e-6, 0.2, 0.5, 0.7, 0.999])
@each_cell("share", [0.001, 0.3, 0.9])
@each_cell("fraction", [0.001, 0.1, 1.0])
def test_the_formula_in_thirty_digits(xi: float, share: float, fraction: float) -> None:
    mp.mp.dps = 30
    log, odds = mp.log(mp.mpf(xi) / (1 - mp.mpf(xi))), mp.log(mp.mpf(share) / (1 - mp.mpf(share)))
    steep = min(
        max(mp.mpf("0.93") - mp.mpf("0.35") + mp.mpf("0.09") * odds, mp.mpf("0.1")), mp.mpf(1)
    )
    drawn = mp.mpf("0.16") + mp.mpf("0.21") * odds + (steep if log > 0 else mp.mpf("0.93")) * log
    want = 1 / (1 + mp.exp(-(log + (1 - mp.mpf(fraction)) * (drawn - log))))
    assert shrink_scores(np.array([xi]), share, fraction)[0] == pytest.approx(float(want), rel=1e-9)


@given(st.lists(SHARES, min_size=2, max_size=20), SHARES, st.floats(0, 2))
def test_it_keeps_the_order_and_stays_a_chance(
    xis: list[float], share: float, fraction: float
) -> None:
    found = shrink_scores(np.sort(xis), share, fraction)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= -1e-12).all()


def test_nobody_is_named_where_hardly_anybody_is_unique() -> None:
    assert shrink_scores(np.array([0.999]), 0.001, 0.01)[0] < 0.7
    assert shrink_scores(np.array([0.999]), 0.9, 0.01)[0] > 0.99
    assert SHRINKAGE.bend_by_rarity > 0


@given(SHARES, st.floats(0, 0.5), SHARES)
def test_correctness_stays_within_what_uniqueness_allows(
    xi: float, right: float, shrunk: float
) -> None:
    kappa = np.array([xi + (1 - xi) * right])
    found = shrink_correctness(kappa, np.array([xi]), np.array([shrunk]))[0]
    assert shrunk - 1e-12 <= found <= (1 + shrunk) / 2 + 1e-12


@pytest.mark.parametrize("shrunk", [0.05, 0.3, 0.9])
def test_correctness_is_that_of_the_law_in_which_the_odds_of_being_unique_are_changed(
    shrunk: float,
) -> None:
    size = np.arange(1, 4000)  # of a class: 1 + a negative binomial number of others, term by term
    law = scipy.stats.nbinom.pmf(size - 1, 1.7, 0.3)
    changed = np.where(size == 1, shrunk, law * (1 - shrunk) / (1 - law[0]))
    assert changed.sum() == pytest.approx(1)
    found = shrink_correctness(np.array([law @ (1 / size)]), law[:1], np.array([shrunk]))
    assert found[0] == pytest.approx(float(changed @ (1 / size)), rel=1e-9)


@pytest.mark.parametrize("people", [400.0, 500.0, 4000.0, 1e6])
def test_correctness_is_shrunk_as_uniqueness_is(people: float) -> None:
    model = fit(three_columns(400))
    cells = model.scored(draw_codes(model))
    known = cells.known(np.random.default_rng(1).integers(1, 3, 300), people)
    for xi, kappa in ((cells.uniqueness(people), cells.correctness(people)), known):
        assert (kappa >= xi - 1e-12).all()
        assert (kappa <= (1 + xi) / 2 + 1e-12).all()


def test_the_score_of_a_record_does_not_depend_on_the_others() -> None:
    model = fit(three_columns(400))
    cells = model.scored(draw_codes(model))
    alone = cells.taken(np.array([7]))
    for people in (400.0, 4000.0, 1e8):
        assert alone.uniqueness(people)[0] == pytest.approx(cells.uniqueness(people)[7], rel=1e-12)
        bare = overdispersion.uniqueness(
            alone.probability, np.exp(cells.overdispersion.log_shapes(people)), people
        )
        want = float(bare @ model.shapes)
        assert cells.overdispersion.uniqueness(alone.probability, people)[0] == pytest.approx(
            want, abs=2e-4
        )


def test_each_score_is_the_mean_over_the_shapes_in_its_own_population() -> None:
    """In a population of 4 to 50 one person more would show; the others are counted one by one."""
    some = np.linspace(-6.0, 5.0, len(overdispersion.LOG_SHAPES)).round(1)
    weights = np.select([some == 0.0, some == 2.0], [0.25, 0.75])
    law, q, people = (
        Overdispersion(weights, 4),
        np.exp([-0.5, -3.0, -0.5, -3.0]),
        np.array([4, 4, 50, 50.0]),
    )
    others = np.arange(20_000)
    for place in range(4):
        shapes = np.exp(law.log_shapes(people[place]))[weights > 0]
        chances = [
            scipy.stats.nbinom.pmf(others, a + 1, a / (a + people[place] * q[place]))
            for a in shapes
        ]
        drawn = weights[weights > 0] @ chances
        assert law.uniqueness(q, people)[place] == pytest.approx(drawn[0], rel=1e-9)
        assert law.correctness(q, people)[place] == pytest.approx(
            drawn @ (1 / (1 + others)), rel=1e-6
        )


def test_a_model_scores_persons_with_caution_and_its_table_without() -> None:
    model = fit(three_columns(400))
    cells = model.scored(draw_codes(model))
    people = 4000.0
    bare = cells.overdispersion.uniqueness(cells.probability, people)
    want = shrink_scores(bare, model.unique_share(people), 0.1)
    np.testing.assert_allclose(cells.uniqueness(people), want)
    xi, kappa = cells.known(np.ones(300, dtype=np.int64), people)
    assert (xi <= kappa).all()
    of_drawn = cells.overdispersion.uniqueness(np.exp(model.drawn_log_q), people)
    assert model.unique_share(people) == pytest.approx(of_drawn.mean())
    np.testing.assert_allclose(cells.known(np.ones(300, dtype=np.int64), 400)[0], 1)


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_the_sample_itself_are_as_high_as_its_people_are_unique(seed: int) -> None:
    """A record is part of what its own q was fitted to: with itself, the mean ξ is too low."""
    rng = np.random.default_rng(seed)
    people, records = 20_000, 400
    hidden = rng.normal(size=(people, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(people, 6))
    codes = np.clip(np.floor(1.6 * hidden + 6), 0, 11).astype(np.int64)
    key = row_keys(codes)
    size = np.bincount(key)[key]
    rows = rng.permutation(people)[:records]
    values = [[f"v{code}" for code in own] for own in codes[rows].T.tolist()]
    model = fit(of_values(values, [False] * 6))
    in_sample = np.bincount(key[rows], minlength=key.max() + 1)[key[rows]]
    cells = model.cell_probability(values)
    xi, kappa = cells.known(in_sample, people)
    unique = size[rows] == 1
    assert 0.1 < unique.mean() < 0.9
    assert xi.mean() == pytest.approx(unique.mean(), abs=0.08)
    assert kappa.mean() == pytest.approx((1 / size[rows]).mean(), abs=0.08)
    assert replace(cells, left_out=None).known(in_sample, people)[0].mean() < xi.mean() - 0.02


def test_records_of_the_sample_are_left_out_in_any_order_and_only_if_all_values_are_known() -> None:
    evidence = three_columns(400)
    model = fit(evidence)
    assert model.sample is not None
    order = order_columns(evidence)
    codes = np.unique(evidence.drawn[:, order], axis=0)[::-1][:, np.argsort(order)]
    codes = np.concatenate([codes, [[c.other_code for c in model.marginals]]])
    cells = model.scored(codes)
    assert cells.left_out is not None
    expected = np.append(np.exp(model.sample.log_q[::-1]), cells.probability[-1])
    np.testing.assert_allclose(cells.left_out.probability, expected, rtol=1e-12)
    some = np.array([3, 1, len(codes) - 1])
    taken = cells.taken(some).taken(np.array([2, 0]))
    assert taken.left_out is not None
    np.testing.assert_allclose(taken.left_out.probability, expected[some[[2, 0]]], rtol=1e-12)
