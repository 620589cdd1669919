from itertools import combinations, permutations, product

import numpy as np
import pytest

from reid_sql.models.marginals.column import Column
from reid_sql.models.people import conditional
from reid_sql.models.people.conditional import (
    OWN_SHARE_CHILD,
    OWN_SHARE_PARENT,
    bin_pairs,
    fit_conditional,
)
from reid_sql.models.people.evidence import count_pairs, count_records
from reid_sql.models.people.fit import fit_columns
from reid_sql.models.people.tree import PairTables, maximum_spanning_tree
from tests.cells import each_cell
from tests.people_tables import three_columns

EVIDENCE = three_columns(400)
COLUMNS = fit_columns(EVIDENCE)
TABLES = PairTables(COLUMNS, EVIDENCE)
TREE = TABLES.spanning_tree()


def every_cell(columns: tuple[Column, ...]) -> tuple[np.ndarray, np.ndarray]:
    cells = np.array(list(product(*(range(len(column.mass)) for column in columns))))
    many = np.prod([column.multiplicity[cells[:, j]] for j, column in enumerate(columns)], axis=0)
    return cells, many


def test_chances_of_all_cells_add_up_to_1() -> None:
    cells, many = every_cell(COLUMNS)
    assert (np.exp(TREE.log_q(cells)) * many).sum() == pytest.approx(1)


def test_draws_come_as_often_as_they_should() -> None:
    cells, many = every_cell(COLUMNS)
    drawn = TREE.draw(200_000, np.random.default_rng(1))
    wide = [len(column.mass) for column in COLUMNS]
    share = np.bincount(np.ravel_multi_index(drawn.T, wide), minlength=len(cells)) / len(drawn)
    want = np.exp(TREE.log_q(cells)) * many
    assert np.abs(share - want).max() < 5 * np.sqrt(want.max() / len(drawn))


@each_cell("seed", range(20))
def test_the_tree_is_the_best_of_all_16(seed: int) -> None:
    gains = np.random.default_rng(seed).normal(size=(4, 4))
    gains = gains + gains.T
    np.fill_diagonal(gains, 0)

    def joins_all(edges: tuple[tuple[int, int], ...]) -> bool:
        reached = {0}
        for _ in range(4):
            reached |= {b for a, b in edges if a in reached} | {a for a, b in edges if b in reached}
        return len(reached) == 4

    trees = [
        edges for edges in combinations(list(combinations(range(4), 2)), 3) if joins_all(edges)
    ]
    assert len(trees) == 16  # Cayley
    best = max(sum(gains[a, b] for a, b in edges) for edges in trees)
    assert sum(gains[a, b] for a, b in maximum_spanning_tree(gains)[1:]) == pytest.approx(best)


def test_dependent_columns_are_joined() -> None:
    edges = {frozenset((j, parent)) for j, parent in enumerate(TREE.parents) if parent >= 0}
    assert frozenset((1, 2)) in edges  # town goes with age


@pytest.mark.parametrize(("parent", "child"), [(0, 1), (1, 0), (1, 2), (2, 1)])
def test_smoothed_counts_and_left_out_chances_by_hand(parent: int, child: int) -> None:
    """Take each of some records out of the table, smooth by loops, and shrink."""
    one, other = COLUMNS[parent], COLUMNS[child]
    first, second = EVIDENCE.drawn[:, parent], EVIDENCE.drawn[:, child]
    fitted = fit_conditional(one, other, bin_pairs(one, other, *_pairs(first, second)))

    def table(rows: np.ndarray) -> np.ndarray:
        found = np.zeros((len(one.bin_mass), len(other.bin_mass)))
        for a, b in zip(one.bins[first[rows]], other.bins[second[rows]], strict=True):
            spread = np.eye(len(other.bin_mass))[b]
            if fitted.smoothing.axes[0] and other.kernel is not None:
                spread = OWN_SHARE_CHILD * spread + (1 - OWN_SHARE_CHILD) * other.kernel[b]
            along = np.eye(len(one.bin_mass))[a]
            if fitted.smoothing.axes[1] and one.kernel is not None:
                along = OWN_SHARE_PARENT * along + (1 - OWN_SHARE_PARENT) * one.kernel[a]
            found += np.outer(along, spread)
        return found

    everyone = np.arange(len(first))
    np.testing.assert_allclose(fitted.smoothed.counts, table(everyone), rtol=1e-9, atol=1e-9)
    for row in (0, 7, 100):
        rest = table(np.delete(everyone, row))
        a, b = one.bins[first[row]], other.bins[second[row]]
        top = rest[a, b] + fitted.smoothing.strength * other.bin_left_out[b]
        want = top / (rest[a].sum() + fitted.smoothing.strength)
        got = fitted.log_left_out(np.array([a]), np.array([b]))
        assert np.exp(got[0]) == pytest.approx(want, rel=1e-9)


def _pairs(
    first: np.ndarray, second: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    one, other, count = count_pairs(first, second)
    return (one, other), count


def test_independent_columns_are_shrunk_by_the_strongest_that_is_offered() -> None:
    """The likelihood of each record without itself, by loops, for strengths of 0.5 to 128 and of 1,000."""
    codes = np.array(list(product(range(6), range(5))) * 30)
    values = [[f"v{code}" for code in range(many)] for many in (6, 5)]
    one, other = fit_columns(count_records(codes, ["a", "b"], values, [False, False]))
    bins = [(one.bins[a], other.bins[b]) for a, b in codes.tolist()]

    def likelihood(strength: float) -> float:
        chances = [
            (bins.count(pair) - 1 + strength * other.bin_left_out[pair[1]])
            / (sum(parent == pair[0] for parent, _ in bins) - 1 + strength)
            for pair in set(bins)
        ]
        return float(
            sum(bins.count(pair) * np.log(p) for pair, p in zip(set(bins), chances, strict=True))
        )

    best = max([*(2.0**power for power in range(-1, 8)), 1000.0], key=likelihood)
    fitted = fit_conditional(one, other, bin_pairs(one, other, *_pairs(*codes.T)))
    assert fitted.smoothing.strength == best == 1000


@pytest.mark.parametrize("pairs_per_cell", [0, 10**9])
def test_gains_are_those_of_the_fitted_chances(
    monkeypatch: pytest.MonkeyPatch, pairs_per_cell: int
) -> None:
    """Each record left out of the whole table of counts, in both directions of every pair."""
    monkeypatch.setattr(conditional, "PAIRS_PER_CELL", pairs_per_cell)
    tables = PairTables(COLUMNS, EVIDENCE)
    for parent, child in permutations(range(3), 2):
        fitted = tables.conditional(parent, child)
        bins = (
            COLUMNS[parent].bins[EVIDENCE.drawn[:, parent]],
            COLUMNS[child].bins[EVIDENCE.drawn[:, child]],
        )
        gain = (fitted.log_left_out(*bins) - np.log(COLUMNS[child].bin_left_out[bins[1]])).sum()
        assert tables.gains[parent, child] == pytest.approx(gain, rel=1e-9)


def test_cumulated_chances_end_each_row_at_its_number() -> None:
    fitted = TABLES.conditional(1, 2)
    rows = (
        fitted.cumulated.reshape(fitted.log_chance.shape)
        - np.arange(len(fitted.log_chance))[:, None]
    )
    np.testing.assert_allclose(np.diff(rows, axis=1), np.exp(fitted.log_chance)[:, 1:], atol=1e-12)
    assert (rows[:, -1] == 1).all()
