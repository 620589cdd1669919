"""Proportional fitting on possible combinations only, against the fit of the whole cross-product."""

from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from reid_sql.models.population import loglinear
from tests.cells import each_cell


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Distinct records of two to four columns, with how many hold each as the last of their numbers."""
    width = draw(st.integers(2, 4))
    rows = draw(st.sets(st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=25))
    return [(*row, draw(st.integers(1, 30))) for row in sorted(rows)]


def by_cross_product(
    codes: list[tuple[int, ...]], records: list[int], cycles: int
) -> dict[tuple[int, ...], float]:
    """Fit every cell of the cross-product, by looping over all of them."""
    width = len(codes[0])
    cells = dict.fromkeys(
        product(*(sorted({row[place] for row in codes}) for place in range(width))), 1.0
    )
    for _ in range(cycles):
        for one, other in combinations(range(width), 2):
            counted: dict[tuple[int, int], float] = {}
            fitted: dict[tuple[int, int], float] = {}
            for row, count in zip(codes, records, strict=True):
                counted[row[one], row[other]] = counted.get((row[one], row[other]), 0.0) + count
            for cell, value in cells.items():
                fitted[cell[one], cell[other]] = fitted.get((cell[one], cell[other]), 0.0) + value
            for cell in cells:
                pair = cell[one], cell[other]
                cells[cell] *= counted.get(pair, 0.0) / fitted[pair] if fitted[pair] else 0.0
    return cells


@given(tables())
def test_the_fit_is_that_of_the_whole_cross_product(rows: list[tuple[int, ...]]) -> None:
    codes, records = [row[:-1] for row in rows], [row[-1] for row in rows]
    found = loglinear.fit_two_way(np.array(codes), np.array(records))
    whole = by_cross_product(codes, records, 100)
    for row, value in zip(codes, found.expected.tolist(), strict=True):
        assert value == pytest.approx(whole[row], abs=0.5, rel=0.05)
    assert found.expected.sum() <= sum(records) * (1 + 1e-9)


@given(tables())
def test_the_possible_combinations_are_those_of_which_each_two_values_occur(
    rows: list[tuple[int, ...]],
) -> None:
    codes = np.unique(np.array([row[:-1] for row in rows]), axis=0)
    dense = np.stack(
        [np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1
    ).astype(np.int32)
    pairs = {
        pair: loglinear.number_occurring_pairs(dense, pair)
        for pair in combinations(range(dense.shape[1]), 2)
    }
    found = {tuple(cell) for cell in loglinear.list_possible_cells(dense, pairs).tolist()}
    occur = {(pair, row[pair[0]], row[pair[1]]) for pair in pairs for row in dense.tolist()}
    expected = {
        cell
        for cell in product(*(range(int(column.max()) + 1) for column in dense.T))
        if all((pair, cell[pair[0]], cell[pair[1]]) in occur for pair in pairs)
    }
    assert found == expected


def test_independent_columns_are_met_exactly() -> None:
    codes = np.array(list(product(range(3), range(4), range(2))))
    shares = [np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.5])]
    records = np.array(
        [round(6_000 * shares[0][a] * shares[1][b] * shares[2][c]) for a, b, c in codes.tolist()]
    )
    found = loglinear.fit_two_way(codes, records)
    assert found.expected == pytest.approx(records, rel=1e-9)
    assert found.parameters == 1 + 2 + 3 + 1 + 2 * 3 + 2 * 1 + 3 * 1


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loglinear, "MAX_CELLS", 10)
    codes = np.array(list(product(range(4), range(4))))
    with pytest.raises(
        OutOfDomainError,
        match="interactions := 2 must leave at most 10 combinations whose values occur together",
    ):
        loglinear.fit_two_way(codes, np.ones(16, dtype=np.int64))
    with pytest.raises(
        OutOfDomainError, match="two columns must have at most 40000000 pairs of values"
    ):
        loglinear.fit_two_way(
            np.stack([np.arange(7_000)] * 2, axis=1), np.ones(7_000, dtype=np.int64)
        )


def converged(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Fit the whole cross-product in turn until nothing moves; the expected count of each record."""
    shape = tuple(codes.max(axis=0) + 1)
    counted = np.zeros(shape)
    np.add.at(counted, tuple(codes.T), 1)
    fitted = np.ones(shape)
    for _ in range(20_000):
        before = fitted.copy()
        for axis in reversed(range(len(shape))):
            now, wanted = (table.sum(axis=axis, keepdims=True) for table in (fitted, counted))
            fitted = fitted * np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 0)
        if np.abs(fitted - before).max() < 1e-12:
            break
    return np.asarray(fitted[tuple(codes.T)])


@each_cell("seed", range(6))
@each_cell("people", [40, 120, 300])
@pytest.mark.first(cells=5)
def test_it_is_fitted_to_the_end(seed: int, people: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 5, people), rng.integers(0, 7, people)
    table = np.stack([first, second, (first + rng.integers(0, 3, people)) % 5], axis=1)
    codes, place, records = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    found = loglinear.fit_two_way(codes, records)
    exact = converged(table)
    # Plain fitting creeps for ever where the sample leaves no maximum: 20,000 cycles are 2e-4 from its end.
    assert np.abs(found.expected[place.ravel()] - exact).max() < 3e-4
