"""All minimal keys of distinct records, where the sets of columns below them are too many to count.

Two records agree on a set of columns unless it contains one of those in which they differ. So a key is a set
that hits the difference set of every pair of records, and the minimal keys are the minimal hitting sets of
these (Mannila & Räihä 1987). Few of the pairs decide: the minimal hitting sets of some difference sets are
tested on the records, and where one is no key, the pairs that it leaves alike bring new difference sets
("dualize and advance", Gunopulos, Khardon, Mannila & Toivonen 1997; on samples of pairs, Birnick et al.
2020). A difference set more changes the hitting sets by Berge's multiplication. What is tested is a key, and
what hits all known difference sets minimally has no smaller key within it: so the answer is exact.
"""

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.partitions import Integers, Partition, Refiner

Masks = npt.NDArray[np.uint64]
MAX_PAIRS: Final = 2_000  # pairs of alike records from which difference sets are taken at once
MAX_NEW_SETS: Final = 64  # of the smallest, that are made into hitting sets before the next test


class TooManySetsError(Exception):
    """More sets of columns hit the difference sets than are allowed."""


def find_minimal_keys(table: Refiner, max_size: int, max_sets: int) -> list[int]:
    """Find the minimal keys of at most `max_size` columns of records that all differ, as masks of columns.

    Raises TooManySetsError where more than `max_sets` sets would have to be tested or kept.

    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> find_minimal_keys(Refiner.of(three), 2, 100)
    [3]
    """
    similar = _Similar(table)
    open_sets, keys = {0}, set[int]()
    tested = 0
    while open_sets:
        tested += 1
        if tested > max_sets:
            raise TooManySetsError
        checkpoint()
        mask = min(open_sets, key=lambda each: (each.bit_count(), each))
        partition = similar.refine(mask, reduce(and_, open_sets))
        if not len(partition.rows):
            open_sets.remove(mask)
            keys.add(mask)
            continue
        for difference in similar.differences(partition):
            checkpoint()
            open_sets, keys = _hit(open_sets, keys, difference, max_size)
            if len(open_sets) > max_sets:
                raise TooManySetsError
    return sorted(keys, key=lambda each: (each.bit_count(), each))


def _hit(open_sets: set[int], keys: set[int], difference: int, max_size: int) -> tuple[set[int], set[int]]:
    """Extend the sets that miss a difference set by each of its columns, and keep those that are minimal."""
    missing = [each for each in open_sets if not each & difference]
    if not missing:
        return open_sets, keys
    hitting = {each for each in open_sets if each & difference}
    known: Masks = np.fromiter((*hitting, *keys), dtype=np.uint64)
    hits = set()
    for column in _bits(difference):
        # A hitting set within the extension has the column, as what is extended has none within it.
        within = known[known & np.uint64(column) != 0] & ~np.uint64(column)
        for each in missing:
            if each.bit_count() < max_size and not (within & ~np.uint64(each) == 0).any():
                hits.add(each | column)
    return hitting | hits, keys


def _bits(mask: int) -> list[int]:
    return [1 << place for place in range(mask.bit_length()) if mask >> place & 1]


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
        """The partition on a set, from the one on the columns that it shares with all open sets.

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
