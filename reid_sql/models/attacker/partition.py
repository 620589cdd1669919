"""Who is alike on what is known: classes of records that are refined attribute by attribute.

A record that is alone stays alone whatever else becomes known, so it leaves; only classes of two or more
records are kept.
"""

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from reid_sql.models.classes.disclosure import Histogram, Integers

DENSE: Final = 8  # keys a live record up to which a table of all keys is faster than sorting


class Alike(Protocol):
    """Which records match which on what is known so far, without those that match only themselves."""

    @property
    def rows(self) -> Integers:
        """Distinct records that are still there, (live,)."""

    @property
    def matches(self) -> Integers:
        """Records that match each of them, itself included, (live,)."""

    @property
    def histogram(self) -> Histogram:
        """The classes of equal records, of all there are, by size."""

    def refine(self, codes: Any, /) -> "tuple[Alike, Integers]":  # noqa: ANN401 - by kind
        """Learn one group more: who still matches, and the rows that are newly alone."""

    def same_as(self, coarser: Any, /) -> bool:  # noqa: ANN401 - of its own kind
        """Whether nothing was told apart."""


@dataclass(frozen=True)
class Partition:
    """The classes of two or more of the distinct records, which stand for `records` each.

    `unique` more records are alone and have left the classes. Where a population holds them too, a class is
    as large as it is there, or here if that is more, and one without a record here is let go of.
    """

    records: Integers  # (distinct,)
    rows: Integers  # (live,) distinct records in classes of two or more
    classes: Integers  # (live,) their classes, numbered from 0
    sizes: Integers  # (classes,) records of each class
    unique: int
    single: bool  # whether every distinct record is one record
    people: Integers | None = None  # (distinct,) how many of a population hold each

    @classmethod
    def whole(cls, records: Integers, people: Integers | None = None) -> "tuple[Partition, Integers]":
        """Everybody alike, as nothing is known; and the record alone even so, if it is the only one."""
        rows = np.arange(len(records))
        single = bool((records == 1).all())
        start = cls(records, rows, np.zeros_like(rows), records.sum(keepdims=True), 0, single, people)
        return start.refine(np.zeros_like(rows))

    def refine(self, codes: Integers) -> "tuple[Partition, Integers]":
        """Tell records of each class apart by codes (distinct,): the finer classes, who is newly alone."""
        width = int(codes.max(initial=0)) + 1
        keys = self.classes * width + codes[self.rows]
        if len(self.sizes) * width > DENSE * len(keys) + 1024:
            keys = np.unique(keys, return_inverse=True)[1]
        totals = self._totals(keys)
        shared = totals > 1
        live = shared[keys]
        numbered = np.cumsum(shared) - 1
        alone = self.rows[~live]
        unique = self.unique + len(alone)
        kept = self.rows[live], numbered[keys[live]], totals[shared], unique
        return Partition(self.records, *kept, self.single, self.people), alone

    def _totals(self, keys: Integers) -> Integers:
        """Records of each class, or people of it, whichever are more; 0 where there is no record."""
        own = np.bincount(keys, weights=None if self.single else self.records[self.rows]).astype(np.int64)
        if self.people is None:
            return own
        people = np.bincount(keys, weights=self.people[self.rows]).astype(np.int64)
        return np.where(own > 0, np.maximum(own, people), 0)

    def same_as(self, coarser: "Partition") -> bool:
        """Whether nothing was told apart."""
        return len(self.sizes) + self.unique == len(coarser.sizes) + coarser.unique

    @property
    def matches(self) -> Integers:
        """Records alike to each live row, itself included."""
        return self.sizes[self.classes]

    @property
    def histogram(self) -> Histogram:
        """How many classes, and how many records, have each size."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        if self.unique:
            sizes, classes = np.r_[1, sizes], np.r_[self.unique, classes]
        return Histogram(sizes, classes, sizes * classes)
