"""The simplest attackers: each person is linked to the records with the same values in some columns."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.comparison.attack_result import AttackResult, Tally
from reid_sql.models.comparison.paired_records import (
    EqualRecords,
    Flags,
    PairedColumn,
    common_codes,
    number_columns,
    sum_records,
)
from reid_sql.parameters import Integers

ALL_COLUMNS: Final = "exact match on all columns"
SOME_COLUMNS: Final = "exact match on "
MAX_SUBSET_COLUMNS: Final = 6  # of which all sets are tried: those that agree most often
MAX_GROUPED: Final = 30_000_000  # classes that are grouped by all of these sets together


class ExactMatches:
    """Values of both tables as codes that are equal where the values are."""

    def __init__(
        self, columns: Sequence[PairedColumn], own: EqualRecords, released: EqualRecords, pair: Integers
    ) -> None:
        self.names = [column.name for column in columns]
        codes = [common_codes(column) for column in columns]
        self.own = np.stack([mine[own.codes[at]] for at, (mine, _) in enumerate(codes)])
        self.released = np.stack([theirs[released.codes[at]] for at, (_, theirs) in enumerate(codes)])
        self.sizes, self.pair = released.sizes, pair
        self.agree: Flags = self.own[:, pair[0]] == self.released[:, pair[1]]

    def attack(self, records: Integers) -> Iterator[AttackResult]:
        """Match on all columns, then on the set of columns that is right most often."""
        everything = tuple(range(len(self.names)))
        on_all = self._match(ALL_COLUMNS, everything, records)
        yield on_all
        best = on_all
        for subset in self._subsets(records):
            # No more people can be right than agree.
            if records @ self.agree[list(subset)].all(axis=0) > best.correct * records.sum():
                name = SOME_COLUMNS + ", ".join(self.names[at] for at in subset)
                best = max(best, self._match(name, subset, records), key=lambda each: each.correct)
        if best is not on_all:
            yield best

    def _subsets(self, records: Integers) -> Iterator[tuple[int, ...]]:
        """Sets from which the least agreeing column is left out in turn, then all sets of a few columns."""
        agreeing = self.agree @ records
        order = [int(at) for at in np.argsort(-agreeing, kind="stable") if agreeing[at]]
        for count in range(len(order), 0, -1):
            yield tuple(sorted(order[:count]))
        classes = len(self.sizes) + self.own.shape[1]
        few = min(len(order), MAX_SUBSET_COLUMNS, int(np.log2(max(2, MAX_GROUPED // classes))))
        for count in range(few - 1, 0, -1):
            yield from (tuple(sorted(each)) for each in combinations(order[:few], count))

    def _match(self, name: str, subset: tuple[int, ...], records: Integers) -> AttackResult:
        checkpoint()
        at = list(subset)
        ids = number_columns(np.concatenate([self.own[at], self.released[at]], axis=1))
        classes = self.own.shape[1]
        sums = sum_records(ids, np.concatenate([np.zeros(classes, dtype=np.int64), self.sizes]))
        alike = sums[ids[:classes]][self.pair[0]]
        tally = Tally(name)
        hit = np.asarray(self.agree[at].all(axis=0), dtype=np.float64)
        tally.add(records, alike, hit, alike)
        return tally.result(drawn=False)
