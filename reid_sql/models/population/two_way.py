"""Expected counts of a log-linear model with all two-way interactions, by iterative proportional fitting.

A combination of values has an expected count above 0 only if each two of its values occur together somewhere,
so only such combinations are listed, column by column, and the full cross-product is never built; the fit is
the same. Proportional fitting converges slowly if few records determine the pairs, so two cycles are
extrapolated: logarithms of counts stay within the model there. Source: Deming & Stephan 1940; Skinner &
Shlomo 2008; Varadhan & Roland 2008 (SQUAREM, scheme S3).
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.parameters import Floats, plain

Places = npt.NDArray[np.int32]
MAX_CELLS: Final = 4_000_000
MAX_PAIRS: Final = 40_000_000  # of values of two columns, as a table
MAX_CYCLES: Final = 900
MAX_CELL_UPDATES: Final = 4e9  # cells times pairs of columns that are gone through; about a minute
MAX_MISS: Final = 1e-6  # records by which a fitted pair of values may miss its count at the end
MAX_FITTED_MISS: Final = 1e-4  # and where it may be called one
MIN_LOG_COUNT: Final = -690.0  # logarithm of a count that is as good as none
MAX_LOG_LEAP: Final = 60.0  # by which a logarithm may be extrapolated at once


@dataclass(frozen=True)
class TwoWayFit:
    """Expected count of each distinct record, the worst pair's miss in records, and the parameters.

    The parameters are the number that the model has.
    """

    expected: Floats  # (distinct,)
    deviation: float
    parameters: int


def fit_two_way(codes: Integers, records: Integers) -> TwoWayFit:
    """Fit to distinct records: codes by column, and their numbers; refuses too many combinations.

    >>> sexes_and_towns = np.array([[1, 1], [1, 2], [2, 1]])
    >>> fit_two_way(sexes_and_towns, np.array([3, 1, 4])).expected.tolist()  # an exact fit
    [3.0, 1.0, 4.0]
    """
    dense = np.stack([np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1).astype(
        np.int32
    )
    if dense.shape[1] == 1:
        return TwoWayFit(records.astype(np.float64), 0.0, len(records))
    pairs = {pair: number_occurring_pairs(dense, pair) for pair in combinations(range(dense.shape[1]), 2)}
    cells = list_possible_cells(dense, pairs)
    weight = records.astype(np.float64)
    observed = {pair: _count_pairs(table, dense, pair, weight) for pair, table in pairs.items()}
    if len(pairs) == 1:
        return TwoWayFit(weight, 0.0, _count_parameters(dense, observed))
    margins = [(table[cells[:, pair[0]], cells[:, pair[1]]], observed[pair]) for pair, table in pairs.items()]
    observed_records = np.zeros(len(cells))
    place = _find_cells(cells, dense)
    observed_records[place] = weight
    expected, deviation = ProportionalFit(margins, observed_records).run()
    return TwoWayFit(expected[place], deviation, _count_parameters(dense, observed))


def list_possible_cells(codes: Places, pairs: dict[tuple[int, int], Places]) -> Places:
    """List the combinations of which each two values occur together, by their codes: (cells, columns).

    The cells are in the order of their codes. `pairs` numbers the pairs of values that occur of each two
    columns, −1 where one does not.
    """
    cells = np.unique(codes[:, :1], axis=0)
    for column in range(1, codes.shape[1]):
        checkpoint()
        narrow = min(
            range(column), key=lambda other: _count_extended_cells(cells[:, other], pairs[other, column])
        )
        table = pairs[narrow, column] >= 0  # (values of the narrowest, values of this column)
        many = table.sum(axis=1)[cells[:, narrow]]
        _refuse_many_cells(int(many.sum()))
        left, right = np.repeat(np.arange(len(cells)), many), np.nonzero(table[cells[:, narrow]])[1]
        occurring = np.ones(len(left), dtype=bool)
        for other in range(column):
            checkpoint()
            occurring &= pairs[other, column][cells[left, other], right] >= 0
        cells = np.column_stack([cells[left[occurring]], right[occurring].astype(np.int32)])
    return cells


def number_occurring_pairs(codes: Places, pair: tuple[int, int]) -> Places:
    """Number the pairs of values that occur in two columns, −1 elsewhere."""
    first, second = codes[:, pair[0]], codes[:, pair[1]]
    height, width = int(first.max()) + 1, int(second.max()) + 1
    if height * width > MAX_PAIRS:
        rule = (
            f"two columns must have at most {MAX_PAIRS} pairs of values for "
            f"interactions := 2, got {height * width}"
        )
        raise OutOfDomainError(f"{rule}; coarsen the columns, or use interactions := 0")
    numbers = np.full(height * width, -1, dtype=np.int32)
    occurring = np.unique(first.astype(np.int64) * width + second)
    numbers[occurring] = np.arange(len(occurring))
    return numbers.reshape(height, width)


def _count_extended_cells(values: Places, table: Places) -> int:
    return int((table >= 0).sum(axis=1)[values].sum())


def _refuse_many_cells(cells: int) -> None:
    if cells > MAX_CELLS:
        rule = (
            f"interactions := 2 must leave at most {MAX_CELLS} combinations "
            f"whose values occur together, got {plain(cells)}"
        )
        raise OutOfDomainError(f"{rule}; pass fewer or coarser columns, or use interactions := 0")


def _count_pairs(table: Places, codes: Places, pair: tuple[int, int], weight: Floats) -> Floats:
    return np.asarray(np.bincount(table[codes[:, pair[0]], codes[:, pair[1]]], weight), dtype=np.float64)


def _count_parameters(codes: Places, observed: dict[tuple[int, int], Floats]) -> int:
    """Count what the model can choose: main effects, and the occurring pairs of two columns beyond them."""
    values = [int(column.max()) + 1 for column in codes.T]
    beyond = sum(len(counts) - values[one] - values[other] + 1 for (one, other), counts in observed.items())
    return beyond + sum(values) - len(values) + 1


def _find_cells(cells: Places, codes: Places) -> npt.NDArray[np.intp]:
    """Give the place of each record among the cells."""
    both = np.concatenate([cells, codes])
    same = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    place = np.empty(int(same.max()) + 1, dtype=np.intp)
    place[same[: len(cells)]] = np.arange(len(cells))
    return place[same[len(cells) :]]


@dataclass(frozen=True)
class ProportionalFit:
    """Proportional fitting: for each two columns, the pair of each cell, and the count of each pair.

    What was counted is of the table.
    """

    margins: list[tuple[Places, Floats]]
    records: Floats  # (cells,) in the sample

    def run(self) -> tuple[Floats, float]:
        """Give the expected counts, and the worst pair's miss in records as the last cycle began."""
        most = min(MAX_CYCLES, max(3, int(MAX_CELL_UPDATES / (len(self.records) * len(self.margins)))))
        logs, deviation = self.cycle(np.zeros(len(self.records)))
        for _ in range(most // 3):
            if deviation < MAX_MISS:
                break
            once, _ = self.cycle(logs)
            twice, deviation = self.cycle(once)
            if deviation >= MAX_MISS:
                ahead, missed = self.cycle(self._carried_on(logs, once, twice))
                better = self.likelihood(ahead) >= self.likelihood(twice)
                twice, deviation = (ahead, missed) if better else (twice, deviation)
            logs = twice
        return np.exp(logs), deviation

    def cycle(self, logs: Floats) -> tuple[Floats, float]:
        """Scale the counts to each pair of columns in turn; by how many records the worst pair was missed."""
        expected, deviation = np.exp(logs), 0.0
        for pair, counted in self.margins:
            checkpoint()
            fitted = np.bincount(pair, expected, len(counted))
            deviation = max(deviation, float(np.abs(fitted - counted).max()))
            expected *= (counted / np.maximum(fitted, np.finfo(float).tiny))[pair]
        return np.log(np.maximum(expected, np.exp(MIN_LOG_COUNT))), deviation

    def likelihood(self, logs: Floats) -> float:
        """Log-likelihood after a cycle, when the counts add up to the sample, without its constant."""
        return float(self.records @ logs)

    @staticmethod
    def _carried_on(start: Floats, once: Floats, twice: Floats) -> Floats:
        """Where two steps lead if each of the next ones is shorter in the same proportion."""
        step, bend, weight = once - start, (twice - once) - (once - start), np.exp(twice)
        turned = float(weight @ bend**2)
        stretch = max(1.0, float(np.sqrt(weight @ step**2 / turned))) if turned > 0 else 1.0
        leap = np.clip(2 * stretch * step + stretch**2 * bend, -MAX_LOG_LEAP, MAX_LOG_LEAP)
        return np.maximum(start + leap, MIN_LOG_COUNT)
