"""Which records a subject's values match: equal ones by partitions, broader ones by inclusion."""

from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.attacker.scenario import Hierarchy, broader_values
from reid_sql.models.classes.disclosure import Histogram, count_sizes
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Flags, Integers

# Who is alike on what is known: classes of records that are refined attribute by attribute.
# A record that is alone stays alone whatever else becomes known, so it leaves; only classes of two or more
# records remain.

MAX_DENSE_KEYS_PER_RECORD: Final = 8  # up to here a table of all keys is faster than sorting


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
        """Whether all records are still alike."""


@dataclass(frozen=True)
class Partition:
    """The classes of two or more of the distinct records, of `records` each.

    `unique` more records are alone and have left the classes. If a population table has them too, a class is
    as large as it is there, or here if that is more, and one without a record here is let go of.
    """

    records: Integers  # (distinct,)
    rows: Integers  # (live,) distinct records in classes of two or more
    classes: Integers  # (live,) their classes, numbered from 0
    sizes: Integers  # (classes,) records of each class
    unique: int
    single: bool  # whether every distinct record is one record
    people: Integers | None = None  # (distinct,) how many of a population table have each

    @classmethod
    def whole(
        cls, records: Integers, people: Integers | None = None
    ) -> "tuple[Partition, Integers]":
        """Everybody alike, as nothing is known; and the record alone even so, if it is the only one."""
        rows = np.arange(len(records))
        single = bool((records == 1).all())
        start = cls(
            records, rows, np.zeros_like(rows), records.sum(keepdims=True), 0, single, people
        )
        return start.refine(np.zeros_like(rows))

    def refine(self, codes: Integers) -> "tuple[Partition, Integers]":
        """Tell records of each class apart by codes (distinct,): the finer classes, who is newly alone."""
        width = int(codes.max(initial=0)) + 1
        keys = self.classes * width + codes[self.rows]
        if len(self.sizes) * width > MAX_DENSE_KEYS_PER_RECORD * len(keys) + 1024:
            keys = np.unique(keys, return_inverse=True)[1]
        totals = self._totals(keys)
        shared = totals > 1
        live = shared[keys]
        numbered = np.cumsum(shared) - 1
        alone = self.rows[~live]
        unique = self.unique + len(alone)
        remaining = self.rows[live], numbered[keys[live]], totals[shared], unique
        return Partition(self.records, *remaining, self.single, self.people), alone

    def _totals(self, keys: Integers) -> Integers:
        """Records of each class, or people of it, whichever are more; 0 where there is no record."""
        totals = np.bincount(keys, weights=None if self.single else self.records[self.rows]).astype(
            np.int64
        )
        if self.people is None:
            return totals
        people = np.bincount(keys, weights=self.people[self.rows]).astype(np.int64)
        return np.where(totals > 0, np.maximum(totals, people), 0)

    def same_as(self, coarser: "Partition") -> bool:
        """Whether all records are still alike."""
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


# Who matches by inclusion: records whose values are the subject's, or broader ones that include them.
# Such matching is no grouping: a record may match a subject that does not match it. So besides the classes
# of equal records, the pairs of a subject's class and a class that matches it are listed, and refined column
# by column.

CANDIDATES_PER_BLOCK: Final = 4_000_000  # candidates looked up at once
MAX_PAIRS: Final = 60_000_000  # pairs in memory, at 16 bytes each


@dataclass(frozen=True)
class Relation:
    """A column's codes, and for each code those that match it: `matching[starts[c] : starts[c + 1]]`."""

    codes: Integers  # (distinct,)
    starts: Integers  # (values + 1,)
    matching: Integers  # (pairs,)


def relate_values(
    codes: Integers,
    hierarchy: Hierarchy | None,
    texts: npt.NDArray[np.object_] | None,
    missing: Flags | None,
    spans: Integers | None = None,
) -> Relation:
    """Relate the values of a column: each matches itself and broader ones, both ways where NULL is any.

    `spans`, (2, distinct), are the first code that the value of each record matches within a tolerance, and
    the one after the last.
    """
    values, first = np.unique(codes, return_index=True)
    matching: list[Any] = [[value] for value in values]
    if spans is not None:
        matching = [list(range(*ends)) for ends in spans[:, first].T.tolist()]
    if hierarchy is not None and texts is not None:
        spelled = {texts[row]: code for code, row in enumerate(first) if texts[row] is not None}
        for text, code in spelled.items():
            matching[code] += [
                spelled[each] for each in broader_values(hierarchy, text) if each in spelled
            ]
    if missing is not None and missing.any():
        null = int(codes[missing][0])
        for code in range(len(values)):
            matching[code] = np.unique([*matching[code], null])
        matching[null] = values
    return Relation(
        codes, np.cumsum([0, *map(len, matching)]), np.concatenate([*matching, []]).astype(np.int64)
    )


@dataclass(frozen=True)
class Inclusion:
    """Classes of equal records, and the pairs (subject, other) in which the other includes the subject.

    Of each pair of classes the other's values include the subject's. If a population table has the
    records too, as many match as do there, or here if that is more; only records here are subjects.
    """

    records: Integers  # (distinct,)
    classes: Integers  # (distinct,) numbered from 0
    sizes: Integers  # (classes,) records of each class
    subjects: Integers  # (pairs,) ascending; only classes that more than one record matches
    broader: Integers  # (pairs,)
    people: Integers | None = None  # (distinct,) how many of a population table have each

    @classmethod
    def whole(
        cls,
        records: Integers,
        blank: Flags | None = None,
        people: Integers | None = None,
    ) -> "tuple[Inclusion, Integers]":
        """Everybody alike, as nothing is known; and the record that is alone even so, if it is the only one.

        `blank` records, of which every value is missing, match only each other; anybody matches them.
        """
        if blank is None or not blank.any() or blank.all():
            blank = np.zeros(len(records), dtype=bool)
            pairs = [(0, 0)]
        else:
            pairs = [(0, 0), (1, 0), (1, 1)]
        sizes = np.bincount(blank, weights=records).astype(np.int64)
        subjects, broader = np.array(pairs, dtype=np.int64).T
        return cls(records, blank.astype(np.int64), sizes, subjects, broader, people).drop_alone()

    def refine(self, columns: list[Relation]) -> "tuple[Inclusion, Integers]":
        """Tell apart by the columns: the finer classes and pairs, and who is newly alone."""
        refined, alone = self, [np.zeros(0, dtype=np.int64)]
        for column in columns:
            refined, rows = refined._refine_by_column(column)
            alone.append(rows)
        return refined, np.concatenate(alone)

    def same_as(self, coarser: "Inclusion") -> bool:
        """Whether all records are still alike."""
        return len(self.sizes) == len(coarser.sizes) and len(self.subjects) == len(coarser.subjects)

    @property
    def rows(self) -> Integers:
        """Distinct records that more than one record matches."""
        live = np.zeros(len(self.sizes), dtype=bool)
        live[self.subjects] = True
        return np.flatnonzero(live[self.classes])

    @property
    def matches(self) -> Integers:
        """Records that match each of the rows, itself included."""
        return self._totals[self.classes[self.rows]]

    @property
    def histogram(self) -> Histogram:
        """Classes of equal records by size: those of which a population would be made."""
        return count_sizes(self.sizes)

    @property
    def _totals(self) -> Integers:
        totals = self._sum_matches(self.sizes)
        if self.people is None:
            return totals
        people = np.bincount(self.classes, weights=self.people).astype(np.int64)
        return np.where(self.sizes > 0, np.maximum(totals, self._sum_matches(people)), 0)

    def _sum_matches(self, sizes: Integers) -> Integers:
        weights = sizes[self.broader]
        return np.bincount(self.subjects, weights=weights, minlength=len(self.sizes)).astype(
            np.int64
        )

    def drop_alone(self) -> "tuple[Inclusion, Integers]":
        """Let go of the subjects that only their own record matches; gives their rows."""
        totals = self._totals
        remaining = totals[self.subjects] > 1
        left = replace(self, subjects=self.subjects[remaining], broader=self.broader[remaining])
        return left, np.flatnonzero(totals[self.classes] == 1)

    def _refine_by_column(self, column: Relation) -> "tuple[Inclusion, Integers]":
        width = len(column.starts) - 1
        keys, classes = np.unique(self.classes * width + column.codes, return_inverse=True)
        sizes = np.bincount(classes, weights=self.records).astype(np.int64)
        parents, codes = keys // width, keys % width
        starts = np.searchsorted(self.subjects, np.arange(len(self.sizes) + 1))
        # pairs of each finer class's parent
        matched = np.where(sizes > 0, np.diff(starts)[parents], 0)
        related = np.diff(column.starts)[codes]
        children = np.flatnonzero(matched)
        blocks = np.searchsorted(
            np.cumsum((matched * related)[children]),
            np.arange(CANDIDATES_PER_BLOCK, (matched * related).sum(), CANDIDATES_PER_BLOCK),
        )
        pairs, total = [], 0
        for block in np.split(children, blocks):
            checkpoint()
            # Repeat each item so many times, and number its repetitions from 0.
            counts = (matched * related)[block]
            ends = np.cumsum(counts)
            subject = np.repeat(block, counts)
            place = np.arange(len(subject)) - np.repeat(ends - counts, counts)
            other = self.broader[starts[parents[subject]] + place // related[subject]]
            value = column.matching[column.starts[codes[subject]] + place % related[subject]]
            wanted = other * width + value
            positions = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = keys[positions] == wanted
            pairs.append((subject[hit], positions[hit]))
            total += int(hit.sum())
            if total > MAX_PAIRS:
                raise OutOfDomainError(
                    f"matching by inclusion must contain at most {MAX_PAIRS} pairs "
                    "of distinct records that match, got more; "
                    "pass fewer records, or narrow what matches many values, such as NULL or includes_all"
                )
        subjects, broader = (np.concatenate(side) for side in zip(*pairs, strict=True))
        finer = Inclusion(
            self.records, classes.astype(np.int64), sizes, subjects, broader, self.people
        )
        return finer.drop_alone()
