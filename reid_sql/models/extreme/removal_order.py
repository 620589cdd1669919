"""The extreme risk along a removal of records in an order known beforehand, for any size of table.

A class is gone once its last member is: at each quasi-identifier one pass over the records says when that is.
"""

from typing import Final

import numpy as np

from reid_sql.models.classes.class_keys import Key, each_key, require
from reid_sql.models.extreme.extreme_risk import Fits, Level, fit
from reid_sql.models.extreme.quasi_identifiers import Integers, QuasiIdentifiers

COUNT_BYTES: Final = 8
BLOCK: Final = 2_000_000  # values fitted at once


def distinct_along(chosen: QuasiIdentifiers, order: Integers, memory_mb: int = 1024) -> Integers:
    """Count the distinct values of every quasi-identifier after 0, 1, … all removals; one row a removal.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["a"], [True], [np.array([1, 1, 2])], np.arange(3))
    >>> distinct_along(choose(table, 1), np.array([0, 2])).ravel().tolist()
    [2, 2, 1]
    """
    steps, count = len(order), len(chosen)
    require(steps * count * COUNT_BYTES, memory_mb, f"{steps} removals in {count} quasi-identifiers")

    def along(_: int, key: Key) -> Integers:
        ids, sizes = key.numbered()
        left = ids[order]
        last = np.zeros(len(sizes), dtype=np.int64)
        last[left] = np.arange(1, steps + 1)  # the last of a class to go says when
        gone = last[np.bincount(left, minlength=len(sizes)) == sizes]
        distinct: Integers = (len(sizes) - np.cumsum(np.bincount(gone, minlength=steps + 1))).astype(np.int32)
        return distinct

    return np.stack(each_key(chosen, along, memory_mb), axis=1)


def risk_along(chosen: QuasiIdentifiers, level: Level, order: Integers, memory_mb: int = 1024) -> list[Fits]:
    """Fit the extreme risk after 0, 1, … all of these removals, some of them at a time."""
    distinct = distinct_along(chosen, order, memory_mb)
    count = len(chosen)
    top, rows = level.top(count), max(1, BLOCK // count)
    fits = []
    for start in range(0, len(distinct), rows):
        part = distinct[start : start + rows]
        highest = np.sort(np.partition(part, count - top, axis=1)[:, count - top :], axis=1)
        fits.append(fit(highest, chosen.records - start - np.arange(len(part)), count, level))
    return fits
