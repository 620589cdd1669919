"""Proper backward elimination: remove the record that contributes most, look again, and so on, exactly.

For each class of each quasi-identifier stand the number of its members and the XOR of their numbers. Where a
removal leaves one member, the XOR is that member: it is unique from then on. So a removal costs one step a
quasi-identifier.
"""

from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.class_keys import Key, each_key, require
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.extreme.removal import deciding, risk_of_each
from reid_sql.models.numerics.rounding import ROUNDING
from reid_sql.parameters import Floats

CELL_BYTES: Final = 5  # of a record's class and uniqueness in one quasi-identifier


class Remaining:
    """The records that remain, and for each quasi-identifier their classes."""

    def __init__(self, chosen: QuasiIdentifiers, memory_mb: int = 1024) -> None:
        count, records = len(chosen), chosen.records
        need = count * records * CELL_BYTES
        require(
            need, memory_mb, f"the exact elimination among {records} records in {count} quasi-identifiers"
        )
        self.records = np.arange(records)
        self.classes = np.empty((records, count), dtype=np.int32)
        sizes = each_key(chosen, self._numbered, memory_mb)
        starts = np.cumsum([0, *(len(found) for found in sizes)])
        self.distinct = np.diff(starts)
        self.classes += starts[:-1].astype(np.int32)
        self.sizes = np.concatenate(sizes).astype(np.int32)
        self.members = np.zeros(len(self.sizes), dtype=np.int32)
        for column in self.classes.T:
            np.bitwise_xor.at(self.members, column, self.records.astype(np.int32))
        self.alone = np.ascontiguousarray((self.sizes == 1)[self.classes].T).view(
            np.uint8
        )  # (quasi-identifiers, records)

    def _numbered(self, number: int, key: Key) -> Integers:
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
        only = deciding(self.distinct, level)
        alone = self.alone[only].T[self.records]
        singled = alone.any(axis=1)
        answers = np.empty(len(self.records))
        fits = risk_of_each(
            self.distinct[only],
            np.r_[np.zeros_like(alone[:1]), alone[singled]],
            len(alone),
            len(self.distinct),
            level,
        )
        answers[~singled], answers[singled] = fits[0], fits[1:]
        return answers


def eliminate(
    chosen: QuasiIdentifiers, level: Level, remove: int, memory_mb: int = 1024
) -> tuple[list[int], list[float]]:
    """Give the records removed, in order, and the risk after each; fewer where no more can be removed.

    A record is removed only where it leaves a fit below 1.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> eliminate(choose(table, 3), Level(0.1, 0.5), 3)[0]
    [56, 40, 9]
    """
    left = Remaining(chosen, memory_mb)
    records: list[int] = []
    risks: list[float] = []
    while len(records) < remove:
        checkpoint(len(records) / remove)
        without = left.risk_without(level)
        known = without[~np.isnan(without)]
        if not len(known) or known.min() >= 1:
            break
        place = int(np.flatnonzero(without <= known.min() * (1 + ROUNDING))[0])  # of a tie the first
        records.append(int(left.records[place]))
        risks.append(float(without[place]))
        left.remove(records[-1])
    return records, risks
