"""A set of columns that identifies people, by a greedy search: for a search of all sets that has to stop."""

from collections.abc import Callable
from typing import Final

from reid_sql.models.classes.partitions import Partition, Refiner
from reid_sql.models.interruption import checkpoint

RECORDS_READ_IN_A_STEP: Final = 4_000_000  # to compare columns; each column reads every record at most once
MIN_COMPARED_COLUMNS: Final = 4

Rank = Callable[[Partition], tuple[int, int]]


def find_greedy_set(table: Refiner, least: int, max_size: int) -> tuple[int, ...]:
    """Find a set of at most `max_size` columns by which `least` records, or people, are unique.

    The columns that make most unique, or leave the fewest pairs alike, are added one by one, and those that
    were not needed leave again. So no smaller set within the answer reaches `least`, but others may be
    smaller. Where the search does not reach `least`, the answer is the best set that it found.

    >>> import numpy as np
    >>> from reid_sql.models.classes.partitions import DistinctRecords
    >>> three = DistinctRecords([np.array([1, 1, 2]), np.array([1, 2, 2])], np.array([1, 1, 1]))
    >>> find_greedy_set(Refiner.of(three), 3, 2)
    (0, 1)
    """
    found = {_drop_columns(table, _add_columns(table, least, max_size, rank), least) for rank in RANKS}
    unique = {each: table.refine_all(each).unique for each in found}
    reaching = [each for each in found if unique[each] >= least]
    if not reaching:
        return min(found, key=lambda each: (-unique[each], len(each), each))
    return min(reaching, key=lambda each: (len(each), -unique[each], each))


def _count_pairs(partition: Partition) -> int:
    return int(partition.sizes @ partition.sizes)


RANKS: Final[tuple[Rank, ...]] = (
    lambda partition: (partition.unique, -_count_pairs(partition)),
    lambda partition: (-_count_pairs(partition), partition.unique),
)


def _add_columns(table: Refiner, least: int, max_size: int, rank: Rank) -> list[int]:
    """Add the best of the columns until the share is reached; those of many values are compared first."""
    compared = max(MIN_COMPARED_COLUMNS, RECORDS_READ_IN_A_STEP // max(1, len(table.order)))
    remaining = sorted(range(len(table.codes)), key=lambda place: (-table.levels[place], place))
    chosen: list[int] = []
    partition = table.whole()
    while remaining and len(chosen) < max_size and (partition.unique < least or not chosen):
        ranks = {}
        for place in remaining[:compared]:
            checkpoint()
            ranks[place] = rank(table.refine(partition, place))
        best = max(ranks, key=ranks.__getitem__)
        partition = table.refine(partition, best)
        chosen.append(best)
        remaining.remove(best)
    return chosen


def _drop_columns(table: Refiner, chosen: list[int], least: int) -> tuple[int, ...]:
    """Leave out each column without which the others still reach what all of them reach, up to `least`."""
    reached = min(least, table.refine_all(chosen).unique)
    needed = sorted(chosen, key=lambda place: (table.levels[place], place))
    for place in list(needed):
        others = [each for each in needed if each != place]
        checkpoint()
        if others and table.refine_all(others).unique >= reached:
            needed = others
    return tuple(sorted(needed))
