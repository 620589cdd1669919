"""All minimal keys of distinct records, where the sets of columns below them are too many to count.

Two records agree on a set of columns unless it contains one of those in which they differ. So a key is a set
that hits the difference set of every pair of records, and the minimal keys are the minimal hitting sets of
these (Mannila & Räihä 1987). Few of the pairs decide: the minimal hitting sets of some difference sets are
tested on the records, and where one is no key, the pairs that it leaves alike bring new difference sets
("dualize and advance", Gunopulos, Khardon, Mannila & Toivonen 1997; on samples of pairs, Birnick et al.
2020). The hitting sets are searched depth first, and only sets each of whose columns is the only one to hit
some difference set are extended (MMCS, Murakami & Uno 2014). What is tested is a key, and what hits all known
difference sets minimally has no smaller key within it: so the answer is exact. A difference set that comes to
be known during a search may be what a set needed that was left out before, so the search is repeated until it
brings none.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.partitions import Integers, Partition, Refiner

Masks = npt.NDArray[np.uint64]
MAX_PAIRS: Final = 2_000  # pairs of alike records from which difference sets are taken at once
MAX_NEW_SETS: Final = 64  # of the smallest, that a set that is no key brings


class TooManySetsError(Exception):
    """More sets of columns would have to be visited than are allowed."""


def find_minimal_keys(table: Refiner, max_size: int, max_sets: int) -> list[int]:
    """Find the minimal keys of at most `max_size` columns of records that all differ, as masks of columns.

    Raises TooManySetsError where more than `max_sets` sets would have to be visited.

    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> find_minimal_keys(Refiner.of(three), 2, 100)
    [3]
    """
    search = _Search(_Similar(table), len(table.codes), max_size, max_sets)
    while not search.is_complete:
        search.is_complete, search.has_left_out = True, False
        search.extend([], (1 << len(table.codes)) - 1)
    return sorted(search.keys, key=lambda each: (each.bit_count(), each))


class _Search:
    """A search for the minimal hitting sets of difference sets, which are known as far as it needed them."""

    def __init__(self, similar: "_Similar", width: int, max_size: int, max_sets: int) -> None:
        self.similar, self.max_size, self.max_sets = similar, max_size, max_sets
        self.keys: set[int] = set()
        self.differences: list[int] = []
        self.having = [0] * width  # difference sets with each column, as bits
        self.visited = 0
        self.has_left_out = False  # a set of columns, for want of a difference set
        self.is_complete = False

    def extend(self, columns: list[int], candidates: int) -> None:
        """Visit a set of columns, and extend it by candidates until it hits every difference set.

        Of a difference set that is missed, the last column to be added is tried with all before it, so that
        no set is visited twice.
        """
        self.visited += 1
        if self.visited > self.max_sets:
            raise TooManySetsError
        checkpoint()
        missed = self._find_missed(columns) or self._test(columns)
        if not missed or len(columns) == self.max_size:
            return
        choices = self.differences[(missed & -missed).bit_length() - 1] & candidates
        candidates &= ~choices
        for column in _bits(choices):
            if self._needs_all([*columns, column]):
                self.extend([*columns, column], candidates)
            else:
                self.has_left_out = True
            candidates |= 1 << column

    def _find_missed(self, columns: Sequence[int]) -> int:
        hit = reduce(or_, (self.having[column] for column in columns), 0)
        return (1 << len(self.differences)) - 1 & ~hit

    def _needs_all(self, columns: Sequence[int]) -> bool:
        """Whether each of the columns is the only one of them in some known difference set."""
        once = twice = 0
        for column in columns:
            twice |= once & self.having[column]
            once |= self.having[column]
        return all(self.having[column] & ~twice for column in columns)

    def _test(self, columns: Sequence[int]) -> int:
        """Note a key, or find difference sets that the columns miss."""
        mask = sum(1 << column for column in columns)
        if mask in self.keys:
            return 0
        shared = reduce(or_, (each for each in self.differences if each.bit_count() == 1), 0)
        partition = self.similar.refine(mask, shared)
        if not len(partition.rows):
            self.keys.add(mask)
            return 0
        self.is_complete = self.is_complete and not self.has_left_out
        for difference in self.similar.differences(partition):
            for column in _bits(difference):
                self.having[column] |= 1 << len(self.differences)
            self.differences.append(difference)
        return self._find_missed(columns)


def _bits(mask: int) -> list[int]:
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


class _Similar:
    """Records in an order in which neighbours are similar, for pairs that differ in few columns."""

    def __init__(self, table: Refiner) -> None:
        self.table = table
        self.codes = table.codes
        self.by_levels = sorted(range(len(table.codes)), key=lambda place: -table.levels[place])
        order = np.lexsort([table.codes[place] for place in self.by_levels])
        self.rank = np.empty(len(order), dtype=np.int64)
        self.rank[order] = np.arange(len(order))
        self.shared, self.start = 0, table.whole()

    def refine(self, mask: int, shared: int) -> Partition:
        """The partition on a set, from the one on the columns that every key has.

        Columns of many values come first: most records are soon alone.
        """
        if shared != self.shared:
            begun = (self.shared, self.start) if not self.shared & ~shared else (0, self.table.whole())
            self.shared, self.start = shared, self._refine(shared, *begun)
        return self._refine(mask, self.shared, self.start)

    def _refine(self, mask: int, known: int, partition: Partition) -> Partition:
        for place in self.by_levels:
            if (mask & ~known) >> place & 1:
                partition = self.table.refine(partition, place)
        return partition

    def differences(self, partition: Partition) -> list[int]:
        """The smallest difference sets of neighbours in the classes of the partition, none within another."""
        order = np.lexsort((self.rank[partition.rows], partition.ids))
        rows, ids = partition.rows[order], partition.ids[order]
        pairs = np.flatnonzero(ids[1:] == ids[:-1])
        pairs = pairs[:: -(-len(pairs) // MAX_PAIRS)]
        minimal_masks = _minimal(np.unique(self._masks(rows[pairs], rows[pairs + 1])).tolist())
        return minimal_masks[:MAX_NEW_SETS]

    def _masks(self, left: Integers, right: Integers) -> Masks:
        masks = np.zeros(len(left), dtype=np.uint64)
        for place, codes in enumerate(self.codes):
            masks |= (codes[left] != codes[right]).astype(np.uint64) << np.uint64(place)
        return masks


def _minimal(masks: Sequence[int]) -> list[int]:
    """Those that contain no other, the smallest first."""
    minimal: list[int] = []
    for mask in sorted(masks, key=int.bit_count):
        if not any(each & mask == each for each in minimal):
            minimal.append(mask)
    return minimal
