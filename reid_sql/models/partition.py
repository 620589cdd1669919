"""Who is alike on what is known: classes of records that are refined attribute by attribute.

A record that is alone stays alone whatever else becomes known, so it leaves; only classes of two or more records are kept.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.disclosure import Histogram, Integers

DENSE: Final = 8  # keys a live record up to which a table of all keys is faster than sorting


@dataclass(frozen=True)
class Partition:
    """The classes of two or more records, over distinct records that stand for `records` each; `unique` more are alone."""

    records: Integers  # (distinct,)
    rows: Integers  # (live,) distinct records in classes of two or more
    classes: Integers  # (live,) their classes, numbered from 0
    sizes: Integers  # (classes,) records of each class
    unique: int

    @classmethod
    def whole(cls, records: Integers) -> "tuple[Partition, Integers]":
        """Everybody alike, as nothing is known; and the record that is alone even so, if it is the only one."""
        rows = np.arange(len(records))
        return cls(records, rows, np.zeros_like(rows), records.sum(keepdims=True), 0).refine(np.zeros_like(rows))

    def refine(self, codes: Integers) -> "tuple[Partition, Integers]":
        """Tell the records of each class apart by their codes (distinct,): the finer classes, and who is newly alone."""
        width = int(codes.max(initial=0)) + 1
        keys = self.classes * width + codes[self.rows]
        if len(self.sizes) * width > DENSE * len(keys) + 1024:
            keys = np.unique(keys, return_inverse=True)[1]
        totals = np.bincount(keys, weights=self.records[self.rows]).astype(np.int64)
        shared = totals > 1
        live = shared[keys]
        numbered = np.cumsum(shared) - 1
        alone = self.rows[~live]
        finer = Partition(self.records, self.rows[live], numbered[keys[live]], totals[shared], self.unique + len(alone))
        return finer, alone

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
