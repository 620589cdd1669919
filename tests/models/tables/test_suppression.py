"""Secondary suppression against every choice of cells, and every table that fits what is left."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from reid_sql.models.tables import suppression
from reid_sql.models.tables.suppression import PRIMARY, PUBLISHED, SECONDARY, suppress_cells
from tests.cells import each_cell
from tests.published import tables_of

Cells = np.ndarray[Any, Any]


def with_totals(inner: Cells) -> tuple[Cells, Cells, Cells]:
    """The codes and counts of all cells of at least one person, and which inner cells each is a sum of."""
    codes, members = [], []
    places = list(np.ndindex(*inner.shape))
    for code in product(*(range(size + 1) for size in inner.shape)):
        codes.append(code)
        members.append(
            [all(c in {0, p + 1} for c, p in zip(code, place, strict=True)) for place in places]
        )
    counts = np.array(members) @ inner.ravel()
    listed = counts > 0
    return np.array(codes)[listed], counts[listed], np.array(members)[listed]


def sums_of_all_tables(inner: Cells, members: Cells) -> Cells:
    """The cells of every table of up to 4 people more, and nobody where nobody is."""
    possible = np.concatenate(
        [tables_of(inner.size, people) for people in range(1, int(inner.sum()) + 5)]
    )
    sums = possible[(possible[:, inner.ravel() == 0] == 0).all(axis=1)] @ members.T
    return np.asarray(sums[(sums >= 1).all(axis=1)])


def widths(sums: Cells, counts: Cells, hidden: Cells, primary: Cells) -> Cells:
    """How far apart two tables that fit may be at each primary cell."""
    fits = (sums[:, ~hidden] == counts[~hidden]).all(axis=1)
    inside = sums[fits][:, primary]
    return np.asarray(inside.max(axis=0) - inside.min(axis=0))


SMALL = [(np.random.default_rng(seed).integers(1, 4, (2, 3)).tolist(), 2) for seed in range(6)]
# Of these, a difference that is half as wide as it must be costs less.
SMALL += [([[3, 2, 3], [3, 2, 3]], 3), ([[2, 2, 2], [2, 3, 2]], 3)]


@each_cell("people, width", SMALL)
def test_a_small_table_is_protected_at_the_least_loss(people: list[list[int]], width: int) -> None:
    """Against every set of inner cells and totals of one more column: none that protects loses less."""
    inner = np.array(people)
    codes, counts, members = with_totals(inner)
    is_primary = (counts == counts.min()) & (members.sum(axis=1) == 1)
    if is_primary.sum() > 1:
        is_primary[np.flatnonzero(is_primary)[1:]] = False
    found = suppress_cells(codes, counts, is_primary, width)
    hidden = found.statuses != PUBLISHED
    assert set(found.statuses[is_primary]) == {PRIMARY}
    sums = sums_of_all_tables(inner, members)
    assert (widths(sums, counts, hidden, is_primary) >= width).all()
    assert found.is_optimal
    loss = counts[hidden].sum()
    rest = np.flatnonzero(~is_primary)
    for size in range(4):
        for chosen in combinations(rest, size):
            other = is_primary.copy()
            other[list(chosen)] = True
            if counts[other].sum() < loss:
                assert (widths(sums, counts, other, is_primary) < width).any()


def test_the_bound_on_the_loss_is_below_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum is that of the integer programme, which the test above compares with every choice."""
    gaps = []
    for people, width in SMALL:
        codes, counts, members = with_totals(np.array(people))
        is_primary = (counts == counts.min()) & (members.sum(axis=1) == 1)
        best = suppress_cells(codes, counts, is_primary, width)
        with monkeypatch.context() as patch:
            patch.setattr(suppression, "MAX_OPTIMAL", -1)
            greedy = suppress_cells(codes, counts, is_primary, width)
        assert counts[is_primary].sum() <= greedy.least <= best.loss + 1e-6
        assert best.loss <= greedy.loss == counts[greedy.statuses != PUBLISHED].sum()
        gaps.append(greedy.least / best.loss)
    assert max(gaps) > 0.6


@pytest.mark.parametrize("shape", [(4, 5), (2, 2, 3), (12,), (9, 9)])
def test_every_unsafe_cell_is_protected_or_said_not_to_be(shape: tuple[int, ...]) -> None:
    for seed in range(3):
        inner = np.random.default_rng(seed).poisson(9, shape) + 1
        codes, counts, members = with_totals(inner)
        is_primary = (counts < 5) & (members.sum(axis=1) == 1)
        found = suppress_cells(codes, counts, is_primary, 5)
        assert (found.statuses[is_primary] == PRIMARY).all()
        assert set(found.statuses) <= {PUBLISHED, PRIMARY, SECONDARY}


def test_a_cell_without_totals_needs_no_other() -> None:
    codes, counts = np.array([[1], [2]]), np.array([2, 30])
    assert suppress_cells(codes, counts, counts < 5, 5).statuses.tolist() == [PRIMARY, PUBLISHED]


def test_order_of_cells_is_of_no_effect() -> None:
    codes, counts, members = with_totals(np.random.default_rng(1).poisson(7, (4, 4)) + 1)
    is_primary = (counts < 5) & (members.sum(axis=1) == 1)
    turned = np.random.default_rng(2).permutation(len(counts))
    found = suppress_cells(codes[turned], counts[turned], is_primary[turned], 5).statuses
    assert found.tolist() == suppress_cells(codes, counts, is_primary, 5).statuses[turned].tolist()


def width_by_milp(codes: Cells, counts: Cells, hidden: Cells, cell: int) -> float:
    """How far apart two whole tables that fit may be at a cell: programmes over all sums of inner cells."""
    is_inner = (codes > 0).all(axis=1)
    inner = codes[is_inner]
    sums = ((codes[:, None, :] == inner) | (codes[:, None, :] == 0)).all(axis=2).astype(float)
    low, high = np.where(hidden, 1.0, counts), np.where(hidden, np.inf, counts)
    ends = [
        milp(
            sign * sums[cell],
            constraints=LinearConstraint(sums, low, high),
            integrality=np.ones(len(inner)),
            bounds=(1, counts.sum() + 100),
        )
        for sign in (1, -1)
    ]
    return float(np.round(-ends[1].fun - ends[0].fun))


@pytest.mark.parametrize("has_programmes", [True, False])
@pytest.mark.parametrize("shape", [(3, 4, 3), (3, 3, 2, 2)])
def test_each_unsafe_cell_is_protected_by_milp(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, *, has_programmes: bool
) -> None:
    """No audit of the project is asked: an integer programme bounds each unsafe cell.

    A large table has hypercubes alone, once its programmes have taken their time.
    """
    if not has_programmes:
        monkeypatch.setattr(suppression, "MAX_WORK", -1)
    inner = np.random.default_rng(5).poisson(9, shape) + 1
    codes, counts, members = with_totals(inner)
    is_primary = (counts < 6) & (members.sum(axis=1) == 1)
    found = suppress_cells(codes, counts, is_primary, 6)
    hidden = found.statuses != PUBLISHED
    assert is_primary.any()
    for cell in np.flatnonzero(is_primary):
        assert width_by_milp(codes, counts, hidden, int(cell)) >= 6


def test_a_cell_without_a_hypercube_is_protected_by_its_totals() -> None:
    """All people are on one diagonal: nobody else is in a row or a column with them."""
    inner = np.diag([2, 30, 40, 50])
    codes, counts, _ = with_totals(inner)
    is_primary = (counts == 2) & (codes > 0).all(axis=1)
    found = suppress_cells(codes, counts, is_primary, 5)
    assert (
        width_by_milp(
            codes, counts, found.statuses != PUBLISHED, int(np.flatnonzero(is_primary)[0])
        )
        >= 5
    )


def test_a_hierarchy_of_many_columns_is_protected() -> None:
    """Ten nested columns have no hypercubes; the totals of an unsafe cell are hidden, or one next to it."""
    levels = 10
    inner = np.array([[1] * level + [2] * (levels - level) for level in range(levels + 1)])
    people = np.array([2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9])
    codes, counts = [], []
    for level in range(levels + 1):
        cells = np.where(np.arange(levels) < level, inner, 0)
        for code in np.unique(cells, axis=0):
            codes.append(code)
            counts.append(people[(cells == code).all(axis=1)].sum())
    listed, sizes = np.array(codes), np.array(counts)
    is_primary = (sizes == 2) & (listed > 0).all(axis=1)
    found = suppress_cells(listed, sizes, is_primary, 5)
    hidden = found.statuses != PUBLISHED
    for cell in np.flatnonzero(is_primary):
        assert width_by_milp(listed, sizes, hidden, int(cell)) >= 5
