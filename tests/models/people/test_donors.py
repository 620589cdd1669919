import math
from dataclasses import replace

import numpy as np
import pytest

from reid_sql.models.people import donors
from reid_sql.models.people.donors import START, Donors, fit_donors
from reid_sql.models.people.evidence import count_records
from reid_sql.models.people.fit import fit, fit_columns
from reid_sql.models.people.model import fit_mixture, fit_weight
from reid_sql.models.people.tree import PairTables
from tests.models.people.test_tree import every_cell
from tests.people_tables import three_columns

EVIDENCE = three_columns(150)
COLUMNS = fit_columns(EVIDENCE)
DONORS = fit_donors(COLUMNS, EVIDENCE.drawn)


def parts_of(
    some: Donors, record: np.ndarray, donor: np.ndarray, *, left_out: bool = False
) -> list[tuple[float, float, float]]:
    """One donor's chances of a record by column: of a value kept, taken from near by, and anybody's."""
    found = []
    for j, column in enumerate(some.columns):
        share = column.mass[record[j]] / column.multiplicity[record[j]]
        near = 0.0
        if column.kernel is not None:
            a, b = column.bins[donor[j]], column.bins[record[j]]
            near = some.neighbour[j] * column.kernel[a, b] * share / column.bin_mass[b]
        anybody = column.left_out[record[j]] if left_out else share
        remaining = some.copied[j] * (record[j] == donor[j])
        found.append((remaining, near, (1 - some.copied[j] - some.neighbour[j]) * anybody))
    return found


def kernel_of(some: Donors, record: np.ndarray, donor: np.ndarray) -> float:
    """One donor's chance of a record, column by column."""
    return math.prod(sum(parts) for parts in parts_of(some, record, donor))


def test_chances_are_the_mean_over_donors() -> None:
    cells, _ = every_cell(COLUMNS)
    some = cells[:: len(cells) // 40]
    want = [
        sum(n * kernel_of(DONORS, cell, donor) for n, donor in zip(DONORS.count, DONORS.codes, strict=True))
        for cell in some
    ]
    np.testing.assert_allclose(np.exp(DONORS.log_q(some)), np.array(want) / DONORS.count.sum(), rtol=1e-11)


def test_chances_left_out_are_the_mean_over_the_others() -> None:
    places = np.arange(0, len(DONORS.codes), 7)
    want = [
        sum(
            (n - (i == place))
            * math.prod(map(sum, parts_of(DONORS, DONORS.codes[place], donor, left_out=True)))
            for i, (n, donor) in enumerate(zip(DONORS.count, DONORS.codes, strict=True))
        )
        for place in places
    ]
    found = np.exp(DONORS.log_q_left_out(places))
    np.testing.assert_allclose(found, np.array(want) / (DONORS.count.sum() - 1), rtol=1e-11)


def test_a_lone_donor_left_out_leaves_the_shares() -> None:
    lone = Donors(COLUMNS, DONORS.codes[:1], np.ones(1), DONORS.copied, DONORS.neighbour)
    shares = math.prod(column.left_out[code] for column, code in zip(COLUMNS, lone.codes[0], strict=True))
    assert np.exp(lone.log_q_left_out(np.zeros(1, dtype=np.int64))) == pytest.approx([shares], rel=1e-12)


@pytest.mark.parametrize(
    ("together", "room", "remaining"),  # of 3, 12 and 5 values
    [
        *((1, 0, []), (1, 19, [(0,), (2,)]), (1, 20, [(0,), (2,), (1,)])),
        *((40, 20, [(0, 2)]), (40, 27, [(0, 2), (1,)]), (180, 179, []), (180, 180, [(0, 2, 1)])),
    ],
)
def test_what_is_kept_and_in_which_blocks_changes_no_chance(
    monkeypatch: pytest.MonkeyPatch, together: int, room: int, remaining: list[tuple[int, ...]]
) -> None:
    cells, _ = every_cell(COLUMNS)
    monkeypatch.setattr(donors, "MAX_JOINT_VALUES", together)
    monkeypatch.setattr(donors, "MAX_CELLS", room * len(DONORS.codes))
    cold = replace(DONORS)
    found = cold.log_q(cells)
    np.testing.assert_allclose(found, DONORS.log_q(cells), rtol=1e-13)
    assert [(group, len(table)) for group, table in cold.tables.items()] == [
        (group, math.prod(len(COLUMNS[j].mass) for j in group)) for group in remaining
    ]
    monkeypatch.setattr(donors, "BLOCK", 3 * len(DONORS.codes))
    np.testing.assert_array_equal(cold.log_q(cells), found)


def test_records_scored_alone_or_together_have_the_same_chances() -> None:
    cells, _ = every_cell(COLUMNS)
    alone = np.concatenate([DONORS.log_q(cell[None, :]) for cell in cells[:50]])
    np.testing.assert_array_equal(alone, DONORS.log_q(cells[::-1])[::-1][:50])


def test_a_round_of_em_is_that_of_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(donors, "EM_ROUNDS", 1)
    start = [START[1] if column.kernel is not None else 0.0 for column in COLUMNS]
    first = Donors(COLUMNS, DONORS.codes, DONORS.count, np.full(3, START[0]), np.array(start))
    remaining, near = np.zeros(3), np.zeros(3)
    for i, record in enumerate(first.codes):
        parts = np.array([parts_of(first, record, donor, left_out=True) for donor in first.codes])
        others = first.count - (np.arange(len(first.codes)) == i)
        giver = others * parts.sum(axis=2).prod(axis=1)
        share = (
            parts / parts.sum(axis=2, keepdims=True) * (giver / giver.sum() * first.count[i])[:, None, None]
        )
        remaining, near = remaining + share[:, :, 0].sum(axis=0), near + share[:, :, 1].sum(axis=0)
    whole, found = first.count.sum(), fit_donors(COLUMNS, EVIDENCE.drawn)
    np.testing.assert_allclose(found.copied, (remaining + 0.5) / (whole + 1.5), rtol=1e-6)
    ordered = np.array([column.kernel is not None for column in COLUMNS])
    np.testing.assert_allclose(found.neighbour, np.where(ordered, (near + 0.5) / (whole + 1.5), 0), rtol=1e-6)


def test_chances_of_all_cells_add_up_to_1() -> None:
    cells, many = every_cell(COLUMNS)
    assert (np.exp(DONORS.log_q(cells)) * many).sum() == pytest.approx(1, rel=1e-9)


def test_draws_come_as_often_as_they_should() -> None:
    cells, many = every_cell(COLUMNS)
    drawn = DONORS.draw(200_000, np.random.default_rng(1))
    share = np.bincount(
        np.ravel_multi_index(drawn.T, [len(column.mass) for column in COLUMNS]), minlength=len(cells)
    ) / len(drawn)
    want = np.exp(DONORS.log_q(cells)) * many
    assert np.abs(share - want).max() < 5 * np.sqrt(want.max() / len(drawn))


def test_rounds_of_em_make_left_out_records_likelier() -> None:
    start = [START[1] if column.kernel is not None else 0.0 for column in COLUMNS]
    first = Donors(COLUMNS, DONORS.codes, DONORS.count, np.full(3, START[0]), np.array(start))
    place = np.arange(len(DONORS.codes))
    before, after = (DONORS.count @ some.log_q_left_out(place) for some in (first, DONORS))
    assert after > before


def test_the_weight_is_the_likeliest() -> None:
    rng = np.random.default_rng(0)
    one, other, count = rng.normal(size=50), rng.normal(size=50), rng.integers(1, 4, 50).astype(float)
    grid = np.linspace(0.001, 0.999, 999)
    values = [count @ np.log(w * np.exp(one) + (1 - w) * np.exp(other)) for w in grid]
    assert fit_weight(one, other, count) == pytest.approx(grid[int(np.argmax(values))], abs=2e-3)


def test_the_stack_adds_up_to_1() -> None:
    stack = fit_mixture(PairTables(COLUMNS, EVIDENCE).spanning_tree(), DONORS)
    cells, many = every_cell(COLUMNS)
    assert (np.exp(stack.log_q(cells)) * many).sum() == pytest.approx(1, rel=1e-9)
    assert len(stack.draw(1001, np.random.default_rng(0))) == 1001


def test_many_columns_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 50, (200, 64))
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1)
    values = [[f"v{code}" for code in range(column.max() + 1)] for column in codes.T]
    evidence = count_records(codes, [f"c{j}" for j in range(64)], values, [False] * 64)
    model = fit(evidence)
    assert np.isfinite(model.mixture.log_q(evidence.drawn[:, list(model.free_columns)])).all()
    assert np.isfinite(model.drawn_log_q).all()
