"""How far any removal of S records can lower the extreme risk, whichever they are: a bound that no choice gets below.

A removal destroys a class only if it takes all its members. Give each record 1/size of each of its classes: the classes
that a removal destroys in some quasi-identifiers J are then at most the credits of the records it takes, and so at most
C(S), the sum of the S largest. Let K quasi-identifiers reach the threshold u. Of the M riskiest, at least M − K + 1 end at
or below u, so that u ≥ (sum of H over the ranks K to M − C(S))/((M − K + 1)(L − S)), for every M; also each H falls by at
most S. The extreme risk lies above u.
"""

import threading
from typing import Final

import numpy as np

from reid_sql.domains import Floats
from reid_sql.models.class_keys import Key, each_key
from reid_sql.models.extreme_risk import Level
from reid_sql.models.quasi_identifiers import Integers, QuasiIdentifiers

WIDTHS: Final = 24  # choices of M
UNIT: Final = 2**32  # whole numbers of this part of a class, rounded up, add up alike on any number of threads


def lowest(chosen: QuasiIdentifiers, distinct: Integers, level: Level, steps: int, memory_mb: int = 1024) -> Floats:
    """Give a number that the extreme risk stays above after the removal of any 0, 1, … `steps` records.

    >>> from reid_sql.models.quasi_identifiers import Codes, choose
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2, 2]), np.array([1, 1, 2, 3])], np.arange(4))
    >>> lowest(choose(table, 1), np.array([2, 3]), Level(0.1, 0.5), 2).round(3).tolist()
    [0.5, 0.333, 0.5]
    """
    taken = np.arange(steps + 1)
    order = np.argsort(-distinct, kind="stable")
    ranked = distinct[order]
    top = level.top(len(distinct))
    widths = np.unique(np.geomspace(top, len(distinct), WIDTHS).round().astype(np.int64))
    best = np.maximum(ranked[top - 1] - taken, 1).astype(np.float64)
    credit = np.zeros(chosen.records, dtype=np.int64)
    start = 0
    for width in widths.tolist():
        credit += _credits(chosen, order[start:width], memory_mb)
        start = width
        largest = np.sort(credit)[::-1][:steps]
        destroyed = np.r_[0, np.cumsum(largest)] / UNIT
        best = np.maximum(best, (ranked[top - 1 : width].sum() - destroyed) / (width - top + 1))
    bound: Floats = best / (chosen.records - taken)
    return bound


def _credits(chosen: QuasiIdentifiers, numbers: Integers, memory_mb: int) -> Integers:
    """For each record, the sum of 1/size of its classes in these quasi-identifiers, in whole units."""
    total = np.zeros(chosen.records, dtype=np.int64)
    lock = threading.Lock()

    def add(_: int, key: Key) -> None:
        ids, sizes = key.classes()
        part = -(-UNIT // np.maximum(sizes, 1))[ids]
        with lock:
            np.add(total, part, out=total)

    each_key(chosen, add, memory_mb, numbers)
    return total
