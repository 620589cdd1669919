"""The extreme risk without some records: without each one, along an order, and by backward elimination."""

import threading
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.class_keys import Key, map_keys, require_memory
from reid_sql.models.classes.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.extreme.extreme_risk import Fits, Level, fit_tail
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.quantiles import ROUNDING_TOLERANCE
from reid_sql.parameters import Floats

# What the removal of records does to the extreme risk, without counting anew.
# θ(j:i) = (H(j) − U(i,j))/(L − 1), U(i,j) = 1 where record i is unique for quasi-identifier j. Only the
# quasi-identifiers that decide before the removal can decide after it, as each H falls by at most one.

Bytes = npt.NDArray[np.uint8]

VALUES_PER_FIT: Final = 1_000_000  # values fitted at once; eight records make a byte


@dataclass(frozen=True)
class Uniqueness:
    """Per quasi-identifier its distinct values; per record for how many it is unique, and their sum.

    The sum is that of their distinct values.
    """

    distinct: Integers  # (quasi-identifiers,)
    unique: Integers  # (records,)
    weighted: Integers  # (records,)


def count_uniqueness(chosen: QuasiIdentifiers) -> Uniqueness:
    """Count distinct values and unique records of every quasi-identifier, in one pass; exact integers.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 3])], np.arange(3))
    >>> count_uniqueness(choose_quasi_identifiers(table, 1)).unique.tolist()
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

    return Uniqueness(np.array(map_keys(chosen, count), dtype=np.int64), unique, weighted)


def select_deciding(distinct: Integers, level: Level) -> Integers:
    """The quasi-identifiers that decide the extreme risk: those at the threshold, and all of more values.

    >>> select_deciding(np.array([5, 9, 7, 7, 1]), Level(0.1, 0.5)).tolist()
    [1, 2, 3]
    """
    least = np.partition(distinct, len(distinct) - level.top(len(distinct)))[
        -level.top(len(distinct))
    ]
    return np.flatnonzero(distinct >= least)


def unique_record_bits(chosen: QuasiIdentifiers, only: Integers) -> Bytes:
    """Give U for some quasi-identifiers as bits: one row each, eight records a byte."""

    def bits(_: int, key: Key) -> Bytes:
        ids, sizes = key.classes()
        return np.packbits((sizes == 1)[ids])

    return np.stack(map_keys(chosen, bits, only))


def risk_without(chosen: QuasiIdentifiers, distinct: Integers, level: Level) -> Floats:
    """Give T without each of the records, exactly; NaN where that has no fit.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a"], [True], [np.array([1, 1, 2, 3])], np.arange(4))
    >>> risk_without(choose_quasi_identifiers(table, 1), np.array([3]), Level()).tolist()
    [1.0, 1.0, nan, nan]
    """
    only = select_deciding(distinct, level)
    bits = unique_record_bits(chosen, only)
    answers = np.empty(chosen.records)
    step = max(1, VALUES_PER_FIT // len(only) // 8)
    for start in range(0, bits.shape[1], step):
        alone = np.unpackbits(bits[:, start : start + step], axis=1).T[: chosen.records - 8 * start]
        answers[8 * start : 8 * start + len(alone)] = fit_without_each(
            distinct[only], alone, chosen.records, len(distinct), level
        )
    return answers


def fit_without_each(
    distinct: Integers, alone: Integers, records: int, count: int, level: Level
) -> Floats:
    """Give T without each of some records; `alone` is U (records, deciding quasi-identifiers)."""
    size = level.top(count)
    left = np.sort(distinct.astype(np.int32) - alone, axis=1)[:, -size:]
    return fit_tail(left, records - 1, count, level).risk


# The extreme risk along a removal of records in an order known beforehand, for any size of table.
# A class is gone once its last member is: at each quasi-identifier one pass over the records finds when that
# is.

COUNT_BYTES: Final = 8
VALUES_PER_PATH_FIT: Final = 2_000_000  # values fitted at once


def count_distinct_along(chosen: QuasiIdentifiers, order: Integers) -> Integers:
    """Count the distinct values of every quasi-identifier after 0, 1, … all removals; one row a removal.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a"], [True], [np.array([1, 1, 2])], np.arange(3))
    >>> count_distinct_along(choose_quasi_identifiers(table, 1), np.array([0, 2])).ravel().tolist()
    [2, 2, 1]
    """
    steps, count = len(order), len(chosen)
    require_memory(
        steps * count * COUNT_BYTES,
        chosen.table.memory_limit,
        f"{steps} removals in {count} quasi-identifiers",
    )

    def along(_: int, key: Key) -> Integers:
        ids, sizes = key.numbered()
        left = ids[order]
        last = np.zeros(len(sizes), dtype=np.int64)
        last[left] = np.arange(1, steps + 1)  # when the last record of a class is removed
        gone = last[np.bincount(left, minlength=len(sizes)) == sizes]
        distinct: Integers = (
            len(sizes) - np.cumsum(np.bincount(gone, minlength=steps + 1))
        ).astype(np.int32)
        return distinct

    return np.stack(map_keys(chosen, along), axis=1)


def fit_along(chosen: QuasiIdentifiers, level: Level, order: Integers) -> list[Fits]:
    """Fit the extreme risk after 0, 1, … all of these removals, some of them at a time."""
    distinct = count_distinct_along(chosen, order)
    count = len(chosen)
    top, rows = level.top(count), max(1, VALUES_PER_PATH_FIT // count)
    fits = []
    for start in range(0, len(distinct), rows):
        part = distinct[start : start + rows]
        highest = np.sort(np.partition(part, count - top, axis=1)[:, count - top :], axis=1)
        fits.append(fit_tail(highest, chosen.records - start - np.arange(len(part)), count, level))
    return fits


# Proper backward elimination: remove the record that contributes most, look again, and so on, exactly.
# Each class of each quasi-identifier has the number of its members and the XOR of their numbers.
# Where a removal leaves one member, the XOR is that member: it is unique from then on. So a removal costs
# one step a quasi-identifier.

CELL_BYTES: Final = 5  # of a record's class and uniqueness in one quasi-identifier


class Remaining:
    """The records that remain, and for each quasi-identifier their classes."""

    def __init__(self, chosen: QuasiIdentifiers) -> None:
        count, records = len(chosen), chosen.records
        need = count * records * CELL_BYTES
        require_memory(
            need,
            chosen.table.memory_limit,
            f"the exact elimination among {records} records in {count} quasi-identifiers",
        )
        self.records = np.arange(records)
        self.classes = np.empty((records, count), dtype=np.int32)
        sizes = map_keys(chosen, self._number_classes)
        starts = np.cumsum([0, *(len(remaining_sizes) for remaining_sizes in sizes)])
        self.distinct = np.diff(starts)
        self.classes += starts[:-1].astype(np.int32)
        self.sizes = np.concatenate(sizes).astype(np.int32)
        self.members = np.zeros(len(self.sizes), dtype=np.int32)
        for column in self.classes.T:
            np.bitwise_xor.at(self.members, column, self.records.astype(np.int32))
        self.alone = np.ascontiguousarray((self.sizes == 1)[self.classes].T).view(
            np.uint8
        )  # (quasi-identifiers, records)

    def _number_classes(self, number: int, key: Key) -> Integers:
        ids, sizes = key.numbered()
        self.classes[:, number] = ids
        return sizes

    def remove(self, record: int) -> None:
        """Take a record out: its classes shrink, and where one member is left it is unique."""
        touched = self.classes[record]
        self.sizes[touched] -= 1
        self.members[touched] ^= record
        left = self.sizes[touched]
        self.distinct -= left == 0
        single = np.flatnonzero(left == 1)
        self.alone[single, self.members[touched[single]]] = 1
        self.records = self.records[self.records != record]

    def risk_without(self, level: Level) -> Floats:
        """Give the extreme risk without each of the remaining records."""
        only = select_deciding(self.distinct, level)
        alone = self.alone[only].T[self.records]
        singled = alone.any(axis=1)
        answers = np.empty(len(self.records))
        fits = fit_without_each(
            self.distinct[only],
            np.r_[np.zeros_like(alone[:1]), alone[singled]],
            len(alone),
            len(self.distinct),
            level,
        )
        answers[~singled], answers[singled] = fits[0], fits[1:]
        return answers


def eliminate_records(
    chosen: QuasiIdentifiers, level: Level, remove: int
) -> tuple[list[int], list[float]]:
    """Give the records removed, in order, and the risk after each; fewer where no more can be removed.

    A record is removed only where it leaves a fit below 1.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> eliminate_records(choose_quasi_identifiers(table, 3), Level(0.1, 0.5), 3)[0]
    [56, 40, 9]
    """
    left = Remaining(chosen)
    records: list[int] = []
    risks: list[float] = []
    while len(records) < remove:
        checkpoint(len(records) / remove)
        without = left.risk_without(level)
        remaining = without[~np.isnan(without)]
        if not len(remaining) or remaining.min() >= 1:
            break
        # The first of a tie
        place = int(np.flatnonzero(without <= remaining.min() * (1 + ROUNDING_TOLERANCE))[0])
        records.append(int(left.records[place]))
        risks.append(float(without[place]))
        left.remove(records[-1])
    return records, risks
