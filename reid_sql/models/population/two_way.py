"""Expected counts of a log-linear model with all two-way interactions, by iterative proportional fitting.

A combination of values has an expected count above 0 only if each two of its values occur together somewhere,
so only such combinations are listed, column by column, and the full cross-product is never built; the fit is
the same. Source: Deming & Stephan 1940; Skinner & Shlomo 2008.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.domains import Floats, plain
from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import Integers

Places = npt.NDArray[np.int32]
MOST_CELLS: Final = 4_000_000
MOST_PAIRS: Final = 40_000_000  # of values of two columns, as a table
CYCLES: Final = 100
CLOSE: Final = 1e-2  # records by which a fitted pair of values may differ from the counted one


@dataclass(frozen=True)
class TwoWayFit:
    """Expected count of each distinct record, by how many records the worst pair is missed, and the model's parameters."""

    expected: Floats  # (distinct,)
    deviation: float
    parameters: int


def fit(codes: Integers, records: Integers) -> TwoWayFit:
    """Fit to distinct records, as codes by column, with how many hold each; refuses what has too many combinations.

    >>> sexes_and_towns = np.array([[1, 1], [1, 2], [2, 1]])
    >>> fit(sexes_and_towns, np.array([3, 1, 4])).expected.tolist()  # two columns have one pair, which is met exactly
    [3.0, 1.0, 4.0]
    """
    dense = np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1).astype(
        np.int32
    )
    if dense.shape[1] == 1:
        return TwoWayFit(records.astype(np.float64), 0.0, len(records))
    pairs = {pair: occurring_pairs(dense, pair) for pair in combinations(range(dense.shape[1]), 2)}
    cells = possible_cells(dense, pairs)
    weight = records.astype(np.float64)
    rows = {pair: table[cells[:, pair[0]], cells[:, pair[1]]] for pair, table in pairs.items()}
    observed = {pair: _counted(table, dense, pair, weight) for pair, table in pairs.items()}
    expected, deviation = _balance(np.ones(len(cells)), rows, observed)
    return TwoWayFit(expected[_find(cells, dense)], deviation, _parameters(dense, observed))


def possible_cells(codes: Places, pairs: dict[tuple[int, int], Places]) -> Places:
    """List the combinations of which each two values occur together: (cells, columns), in the order of their codes.

    `pairs` numbers the pairs of values that occur of each two columns, −1 where one does not.
    """
    cells = np.unique(codes[:, :1], axis=0)
    for column in range(1, codes.shape[1]):
        narrow = min(range(column), key=lambda other: _growth(cells[:, other], pairs[other, column]))
        table = pairs[narrow, column] >= 0  # (values of the narrowest, values of this column)
        many = table.sum(axis=1)[cells[:, narrow]]
        _refuse_more(int(many.sum()))
        left, right = np.repeat(np.arange(len(cells)), many), np.nonzero(table[cells[:, narrow]])[1]
        kept = np.ones(len(left), dtype=bool)
        for other in range(column):
            kept &= pairs[other, column][cells[left, other], right] >= 0
        cells = np.column_stack([cells[left[kept]], right[kept].astype(np.int32)])
    return cells


def occurring_pairs(codes: Places, pair: tuple[int, int]) -> Places:
    """Number the pairs of values that occur in two columns, −1 elsewhere."""
    first, second = codes[:, pair[0]], codes[:, pair[1]]
    height, width = int(first.max()) + 1, int(second.max()) + 1
    if height * width > MOST_PAIRS:
        rule = f"two columns must have at most {MOST_PAIRS} pairs of values for interactions := 2, got {height * width}"
        raise OutOfDomainError(f"{rule}; coarsen the columns, or use interactions := 0")
    found = np.full(height * width, -1, dtype=np.int32)
    occurring = np.unique(first.astype(np.int64) * width + second)
    found[occurring] = np.arange(len(occurring))
    return found.reshape(height, width)


def _growth(values: Places, table: Places) -> int:
    return int((table >= 0).sum(axis=1)[values].sum())


def _refuse_more(cells: int) -> None:
    if cells > MOST_CELLS:
        rule = f"interactions := 2 must leave at most {MOST_CELLS} combinations whose values occur together, got {plain(cells)}"
        raise OutOfDomainError(f"{rule}; pass fewer or coarser columns, or use interactions := 0")


def _counted(table: Places, codes: Places, pair: tuple[int, int], weight: Floats) -> Floats:
    return np.asarray(np.bincount(table[codes[:, pair[0]], codes[:, pair[1]]], weight), dtype=np.float64)


def _parameters(codes: Places, observed: dict[tuple[int, int], Floats]) -> int:
    """Count what the model can choose: main effects, and for each two columns the occurring pairs beyond them."""
    values = [int(column.max()) + 1 for column in codes.T]
    beyond = sum(len(counts) - values[one] - values[other] + 1 for (one, other), counts in observed.items())
    return beyond + sum(values) - len(values) + 1


def _balance(
    expected: Floats, rows: dict[tuple[int, int], Places], observed: dict[tuple[int, int], Floats]
) -> tuple[Floats, float]:
    """Scale the counts to each pair of columns in turn, until a whole cycle moves hardly anything."""
    for _ in range(CYCLES):
        deviation = 0.0
        for pair, row in rows.items():
            fitted = np.bincount(row, expected, len(observed[pair]))
            deviation = max(deviation, float(np.abs(fitted - observed[pair]).max()))
            expected *= (observed[pair] / np.maximum(fitted, np.finfo(float).tiny))[row]
        if deviation < CLOSE:
            break
    return expected, deviation


def _find(cells: Places, codes: Places) -> npt.NDArray[np.intp]:
    """Give the place of each record among the cells."""
    both = np.concatenate([cells, codes])
    same = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    place = np.empty(int(same.max()) + 1, dtype=np.intp)
    place[same[: len(cells)]] = np.arange(len(cells))
    return place[same[len(cells) :]]
