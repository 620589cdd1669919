import numpy as np
import pytest

from reid_sql.models.people import people_fit
from reid_sql.models.people.donors import Donors
from reid_sql.models.people.donors_fit import START, fit_donors
from reid_sql.models.people.people_evidence import counted
from reid_sql.models.people.stack import likeliest, stacked
from reid_sql.models.people.tree import PairTables
from tests.models.people.test_tree import every_cell
from tests.people_tables import three_columns

EVIDENCE = three_columns(150)
COLUMNS = people_fit.fit_columns(EVIDENCE)
DONORS = fit_donors(COLUMNS, EVIDENCE.drawn)


def kernel_of(donors: Donors, record: np.ndarray, donor: np.ndarray) -> float:
    """One donor's chance of a record, column by column."""
    chance = 1.0
    for j, column in enumerate(donors.columns):
        share = column.mass[record[j]] / column.multiplicity[record[j]]
        part = (1 - donors.kept[j] - donors.near[j]) * share + donors.kept[j] * (record[j] == donor[j])
        if column.kernel is not None:
            a, b = column.bins[donor[j]], column.bins[record[j]]
            part += donors.near[j] * column.kernel[a, b] * share / column.bin_mass[b]
        chance *= part
    return chance


def test_chances_are_the_mean_over_donors() -> None:
    cells, _ = every_cell(COLUMNS)
    some = cells[:: len(cells) // 40]
    want = [
        sum(n * kernel_of(DONORS, cell, donor) for n, donor in zip(DONORS.count, DONORS.codes, strict=True))
        for cell in some
    ]
    np.testing.assert_allclose(np.exp(DONORS.log_q(some)), np.array(want) / DONORS.count.sum(), rtol=1e-4)


def test_chances_of_all_cells_add_up_to_1() -> None:
    cells, many = every_cell(COLUMNS)
    assert (np.exp(DONORS.log_q(cells)) * many).sum() == pytest.approx(1, rel=1e-5)


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
    assert likeliest(one, other, count) == pytest.approx(grid[int(np.argmax(values))], abs=2e-3)


def test_the_stack_adds_up_to_1() -> None:
    stack = stacked(PairTables(COLUMNS, EVIDENCE).tree(), DONORS)
    cells, many = every_cell(COLUMNS)
    assert (np.exp(stack.log_q(cells)) * many).sum() == pytest.approx(1, rel=1e-5)
    assert len(stack.draw(1001, np.random.default_rng(0))) == 1001


def test_many_columns_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 50, (200, 64))
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1)
    values = [[f"v{code}" for code in range(column.max() + 1)] for column in codes.T]
    evidence = counted(codes, [f"c{j}" for j in range(64)], values, [False] * 64)
    model = people_fit.fit(evidence)
    assert np.isfinite(model.stack.log_q(evidence.drawn)).all()
    assert np.isfinite(model.drawn_log_q).all()
