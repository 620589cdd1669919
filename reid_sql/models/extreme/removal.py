"""What the removal of records does to the extreme risk, without counting anew.

θ(j:i) = (H(j) − U(i,j))/(L − 1), U(i,j) = 1 where record i is unique for quasi-identifier j. Only the
quasi-identifiers that decide before the removal can decide after it, as each H falls by at most one.
"""

import threading
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.class_keys import Key, each_key
from reid_sql.models.extreme.extreme_risk import Level, fit
from reid_sql.models.extreme.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.parameters import Floats

Bytes = npt.NDArray[np.uint8]

BLOCK: Final = 1_000_000  # values fitted at once; eight records make a byte


@dataclass(frozen=True)
class Uniqueness:
    """Per quasi-identifier its distinct values; per record for how many it is unique, and their sum.

    The sum is that of their distinct values.
    """

    distinct: Integers  # (quasi-identifiers,)
    unique: Integers  # (records,)
    weighted: Integers  # (records,)


def uniqueness(chosen: QuasiIdentifiers, memory_mb: int = 1024) -> Uniqueness:
    """Count distinct values and unique records of every quasi-identifier, in one pass; exact integers.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 3])], np.arange(3))
    >>> uniqueness(choose(table, 1)).unique.tolist()
    [1, 1, 2]
    """
    unique, weighted = (np.zeros(chosen.records, dtype=np.int64) for _ in range(2))
    lock = threading.Lock()

    def count(_: int, key: Key) -> int:
        ids, sizes = key.classes()
        distinct = int(np.count_nonzero(sizes))
        alone = np.flatnonzero((sizes == 1)[ids])
        with lock:
            unique[alone] += 1
            weighted[alone] += distinct
        return distinct

    return Uniqueness(np.array(each_key(chosen, count, memory_mb), dtype=np.int64), unique, weighted)


def deciding(distinct: Integers, level: Level) -> Integers:
    """The quasi-identifiers that decide the extreme risk: those at the threshold, and all of more values.

    >>> deciding(np.array([5, 9, 7, 7, 1]), Level(0.1, 0.5)).tolist()
    [1, 2, 3]
    """
    least = np.partition(distinct, len(distinct) - level.top(len(distinct)))[-level.top(len(distinct))]
    return np.flatnonzero(distinct >= least)


def unique_records(chosen: QuasiIdentifiers, only: Integers, memory_mb: int = 1024) -> Bytes:
    """Give U for some quasi-identifiers as bits: one row each, eight records a byte."""

    def bits(_: int, key: Key) -> Bytes:
        ids, sizes = key.classes()
        return np.packbits((sizes == 1)[ids])

    return np.stack(each_key(chosen, bits, memory_mb, only))


def risk_without(chosen: QuasiIdentifiers, distinct: Integers, level: Level, memory_mb: int = 1024) -> Floats:
    """Give T without each of the records, exactly; NaN where that has no fit.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["a"], [True], [np.array([1, 1, 2, 3])], np.arange(4))
    >>> risk_without(choose(table, 1), np.array([3]), Level()).tolist()
    [1.0, 1.0, nan, nan]
    """
    only = deciding(distinct, level)
    bits = unique_records(chosen, only, memory_mb)
    answers = np.empty(chosen.records)
    step = max(1, BLOCK // len(only) // 8)
    for start in range(0, bits.shape[1], step):
        alone = np.unpackbits(bits[:, start : start + step], axis=1).T[: chosen.records - 8 * start]
        answers[8 * start : 8 * start + len(alone)] = risk_of_each(
            distinct[only], alone, chosen.records, len(distinct), level
        )
    return answers


def risk_of_each(distinct: Integers, alone: Integers, records: int, count: int, level: Level) -> Floats:
    """Give T without each of some records; `alone` is U (records, deciding quasi-identifiers)."""
    size = level.top(count)
    left = np.sort(distinct.astype(np.int32) - alone, axis=1)[:, -size:]
    return fit(left, records - 1, count, level).risk
