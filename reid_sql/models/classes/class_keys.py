"""Classes of many quasi-identifiers over one coded table: packed keys, counted within bounded memory.

All processors count. The key of a quasi-identifier numbers its values without a collision, code by code:

    key = key · levels + code

Neighbours in lexical order share the key of their first columns. Where keys are few, a table over all of them
counts; else they are sorted. The sets have few columns, so that few records are alone: classes without these
(partitions.py) take two to four times as long on large tables.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.partitions import number_keys
from reid_sql.models.classes.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.interruption import carried, checkpoint

Answer = TypeVar("Answer")

# keys a record up to which a table over all keys beats sorting
MAX_DENSE_KEYS_PER_RECORD: Final = 2
BYTES_PER_MB: Final = 1_000_000
BYTES_PER_MIB: Final = 1 << 20  # DuckDB's unit of memory
KEY_BYTES: Final = 8  # bytes of a key
CODE_BYTES: Final = 4
# arrays of one key a record that a count needs besides those of the first columns
SPARE_ARRAYS: Final = 6
# records below which threads wait for each other more than they count
MIN_THREADED_RECORDS: Final = 50_000
SUM_DECIMALS: Final = 9  # of a sum over people, where equal ones are to stay equal
PARTS_PER_THREAD: Final = 4  # of the work for each thread, so that none ends early

REMEDY_MEMORY: Final = "raise it (SET memory_limit, --memory-limit or REID_SQL_MEMORY_LIMIT), or pass fewer or coarser columns"


@dataclass(frozen=True)
class Key:
    """The value of each record in a quasi-identifier, as a number below `space`."""

    values: Integers  # (records,)
    space: int

    @property
    def dense(self) -> bool:
        """Whether a table over all possible keys is the fastest count."""
        return self.space <= MAX_DENSE_KEYS_PER_RECORD * len(self.values)

    def distinct(self) -> int:
        """Count the values that occur.

        >>> Key(np.array([3, 0, 3]), 4).distinct(), Key(np.array([10**9, 0, 10**9]), 2**40).distinct()
        (2, 2)
        """
        if self.dense:
            seen = np.zeros(self.space, dtype=np.bool_)
            seen[self.values] = True
            return int(np.count_nonzero(seen))
        ordered = np.sort(self.values)
        return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))

    def classes(self) -> tuple[Integers, Integers]:
        """Give a class to each record, and the size of each class (0 where no record has that number).

        >>> ids, sizes = Key(np.array([10**9, 0, 10**9]), 2**40).classes()
        >>> sizes[ids].tolist()
        [2, 1, 2]
        """
        if self.dense:
            return self.values, np.bincount(self.values, minlength=self.space)
        ids, classes = number_keys(self.values, self.space)
        return ids, np.bincount(ids, minlength=classes)

    def numbered(self) -> tuple[Integers, Integers]:
        """Give a class to each record without gaps, and the size of each class.

        >>> Key(np.array([3, 0, 3]), 4).numbered()[0].tolist()
        [1, 0, 1]
        """
        ids, sizes = self.classes()
        occurs = sizes > 0
        return (np.cumsum(occurs) - 1)[ids], sizes[occurs]

    def of_people(self, people: Integers) -> tuple[int, Integers]:
        """Count the values that occur, and size the smallest class of each person, in people.

        >>> classes, sizes = Key(np.array([0, 0, 1, 1]), 2).of_people(np.array([5, 6, 6, 6]))
        >>> classes, sizes.tolist()
        (2, [2, 1])
        """
        ids, sizes = self.numbered()
        return len(sizes), size_smallest(people, ids, len(sizes))[1]

    def with_column(self, codes: Integers, levels: int) -> "Key":
        """Give the key of one column more."""
        start = self
        if self.space > len(self.values):  # the values that occur are at most as many as records
            ids, sizes = self.numbered()
            start = Key(ids, len(sizes))
        values: Integers = start.values * levels
        values += codes
        return Key(values, start.space * levels)


def combine_columns(columns: Sequence[Integers] | Integers, records: int) -> Key:
    """Give the key of each of so many records on these columns; on none, all have the same.

    >>> combine_columns([np.array([7, 7, 8]), np.array([1, 2, 2])], 3).numbered()[0].tolist()
    [0, 1, 2]
    """
    key = Key(np.zeros(records, dtype=np.int64), 1)
    for codes in columns:
        key = key.with_column(codes, int(codes.max(initial=0)) + 1)
    return key


def size_smallest(people: Integers, ids: Integers, classes: int) -> tuple[Integers, Integers]:
    """Give the people of rows of classes, ascending, and the size in people of the smallest class of each.

    >>> people, sizes = size_smallest(np.array([5, 6, 6, 6]), np.array([0, 0, 1, 1]), 2)
    >>> people.tolist(), sizes.tolist()
    ([5, 6], [2, 1])
    """
    pairs = np.sort(people * classes + ids)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    person, value = np.divmod(pairs, classes)
    size, starts = np.bincount(value)[value], np.flatnonzero(np.diff(person, prepend=-1))
    return person[starts], np.minimum.reduceat(size, starts) if len(pairs) else size


def number_columns(codes: Integers) -> npt.NDArray[np.int64]:
    """Number the distinct columns of a matrix of codes from 0 up, in lexical order: the number of each."""
    return combine_columns(codes, codes.shape[1]).numbered()[0].astype(np.int64)


def sum_reidentifications(sizes: Integers) -> float:
    """Sum 1/size over people, by sizes.

    >>> sum_reidentifications(np.array([2, 1]))
    1.5
    """
    counts = np.bincount(sizes)[1:]
    return float((counts / np.arange(1, len(counts) + 1)).sum())


def map_keys(
    chosen: QuasiIdentifiers,
    answer_of: Callable[[int, Key], Answer],
    only: Sequence[int] | Integers | None = None,
) -> list[Answer]:
    """Call `answer_of` with the number and the key of every quasi-identifier; give its answers in order.

    With `only`, of these quasi-identifiers alone. Several threads call it at once. Refuses a limit of memory
    below what one thread needs.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 2])], np.arange(3))
    >>> map_keys(choose_quasi_identifiers(table, 1), lambda _, key: key.distinct())
    [2, 2]
    """
    numbers = np.arange(len(chosen)) if only is None else np.asarray(only)
    # as many threads as the limit of memory allows, at most one a processor
    code_bytes = sum(codes.nbytes for codes in chosen.table.codes)
    records = len(chosen.table.position)
    each = records * KEY_BYTES * (chosen.places.shape[1] + SPARE_ARRAYS)
    limit, width = chosen.table.memory_limit, len(chosen.table.names)
    require_memory(code_bytes + each, limit, f"{records} records of {width} columns")
    processors = 1 if records < MIN_THREADED_RECORDS else os.cpu_count() or 1
    allowed: int = (limit - code_bytes) // each
    threads = max(1, min(processors, allowed, len(chosen)))
    levels = [int(codes.max()) + 1 for codes in chosen.table.codes]

    def count(part: Integers) -> list[Answer]:
        return [answer_of(int(number), key) for number, key in _iterate_keys(chosen, levels, part)]

    if threads == 1:
        return count(numbers)
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(carried(count), np.array_split(numbers, PARTS_PER_THREAD * threads))
        return [answer for part in parts for answer in part]


def run_for_each(
    work: Callable[[int], Answer], numbers: Iterable[int], records: int
) -> list[Answer]:
    """Do the work for every number, on all processors if there are enough records to occupy them."""
    with ThreadPoolExecutor(1 if records < MIN_THREADED_RECORDS else os.cpu_count() or 1) as pool:
        return list(pool.map(carried(work), numbers))


def _iterate_keys(
    chosen: QuasiIdentifiers, levels: list[int], numbers: Integers
) -> Iterator[tuple[int, Key]]:
    """Give each number with its key; what two neighbours share of their columns is made once."""
    path: list[int] = []
    keys: list[Key] = []
    for number in numbers:
        checkpoint()
        places = chosen.places[number].tolist()
        shared = 0
        while shared < len(path) and path[shared] == places[shared]:
            shared += 1
        del keys[shared:]
        for place in places[shared:]:
            codes = chosen.table.codes[place]
            keys.append(
                keys[-1].with_column(codes, levels[place])
                if keys
                else Key(codes.astype(np.int64), levels[place])
            )
        path = places
        yield number, keys[-1]


def require_memory(size: int, limit: int, what: str) -> None:
    """Refuse a limit of memory, in bytes, below what is needed."""
    if size > limit:
        least, got = -(-size // BYTES_PER_MB), f"{limit / BYTES_PER_MIB:.1f} MiB"
        raise OutOfDomainError(
            f"memory_limit must be at least {least} MB for {what}, got {got}; {REMEDY_MEMORY}"
        )
