"""Who matches by inclusion: records whose values are the subject's, or broader ones that include them.

Such matching is no grouping: a record may match a subject that does not match it. So beside the classes of
equal records, the pairs of a subject's class and a class that matches it are kept, and refined column by
column.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.models.attacker.scenario import Hierarchy, broader_values
from reid_sql.models.classes.disclosure import Histogram, Integers

BLOCK: Final = 4_000_000  # candidates looked up at once
MOST_PAIRS: Final = 60_000_000  # pairs held, at 16 bytes each


@dataclass(frozen=True)
class Relation:
    """A column's codes, and for each code those that match it: `matching[starts[c] : starts[c + 1]]`."""

    codes: Integers  # (distinct,)
    starts: Integers  # (values + 1,)
    matching: Integers  # (pairs,)


def relation(
    codes: Integers,
    hierarchy: Hierarchy | None,
    texts: npt.NDArray[np.object_] | None,
    missing: npt.NDArray[np.bool_] | None,
) -> Relation:
    """Relate the values of a column: each matches itself and broader ones, both ways where NULL is any."""
    values, first = np.unique(codes, return_index=True)
    matching: list[Any] = [[value] for value in values]
    if hierarchy is not None and texts is not None:
        spelled = {texts[row]: code for code, row in enumerate(first) if texts[row] is not None}
        for text, code in spelled.items():
            matching[code] += [spelled[each] for each in broader_values(hierarchy, text) if each in spelled]
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

    Of each pair of classes the other's values include the subject's. Where a population holds the
    records too, as many match as do there, or here if that is more; only records here are subjects.
    """

    records: Integers  # (distinct,)
    classes: Integers  # (distinct,) numbered from 0
    sizes: Integers  # (classes,) records of each class
    subjects: Integers  # (pairs,) ascending; only classes that more than one record matches
    others: Integers  # (pairs,)
    people: Integers | None = None  # (distinct,) how many of a population hold each

    @classmethod
    def whole(
        cls,
        records: Integers,
        blank: npt.NDArray[np.bool_] | None = None,
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
        subjects, others = np.array(pairs, dtype=np.int64).T
        return cls(records, blank.astype(np.int64), sizes, subjects, others, people).without_alone()

    def refine(self, columns: list[Relation]) -> "tuple[Inclusion, Integers]":
        """Tell apart by the columns: the finer classes and pairs, and who is newly alone."""
        found, alone = self, [np.zeros(0, dtype=np.int64)]
        for column in columns:
            found, rows = found._by_column(column)
            alone.append(rows)
        return found, np.concatenate(alone)

    def same_as(self, coarser: "Inclusion") -> bool:
        """Whether nothing was told apart."""
        return len(self.sizes) == len(coarser.sizes) and len(self.subjects) == len(coarser.subjects)

    @property
    def rows(self) -> Integers:
        """Distinct records that more than one record matches."""
        return np.flatnonzero(self._live[self.classes])

    @property
    def matches(self) -> Integers:
        """Records that match each of the rows, itself included."""
        return self._totals[self.classes[self.rows]]

    @property
    def histogram(self) -> Histogram:
        """Classes of equal records by size: those of which a population would be made."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        return Histogram(sizes, classes, sizes * classes)

    @property
    def _totals(self) -> Integers:
        own = self._matched(self.sizes)
        if self.people is None:
            return own
        people = np.bincount(self.classes, weights=self.people).astype(np.int64)
        return np.where(self.sizes > 0, np.maximum(own, self._matched(people)), 0)

    def _matched(self, sizes: Integers) -> Integers:
        weights = sizes[self.others]
        return np.bincount(self.subjects, weights=weights, minlength=len(self.sizes)).astype(np.int64)

    @property
    def _live(self) -> npt.NDArray[np.bool_]:
        live = np.zeros(len(self.sizes), dtype=bool)
        live[self.subjects] = True
        return live

    def without_alone(self) -> "tuple[Inclusion, Integers]":
        """Let go of the subjects that only their own record matches; gives their rows."""
        totals = self._totals
        kept = totals[self.subjects] > 1
        left = replace(self, subjects=self.subjects[kept], others=self.others[kept])
        return left, np.flatnonzero(totals[self.classes] == 1)

    def _by_column(self, column: Relation) -> "tuple[Inclusion, Integers]":
        width = len(column.starts) - 1
        keys, classes = np.unique(self.classes * width + column.codes, return_inverse=True)
        sizes = np.bincount(classes, weights=self.records).astype(np.int64)
        parents, codes = keys // width, keys % width
        starts = np.searchsorted(self.subjects, np.arange(len(self.sizes) + 1))
        matched = np.where(sizes > 0, np.diff(starts)[parents], 0)  # pairs of each finer class's parent
        related = np.diff(column.starts)[codes]
        children = np.flatnonzero(matched)
        blocks = np.searchsorted(
            np.cumsum((matched * related)[children]), np.arange(BLOCK, (matched * related).sum(), BLOCK)
        )
        pairs, held = [], 0
        for block in np.split(children, blocks):
            checkpoint()
            subject, place = _expand(block, (matched * related)[block])
            other = self.others[starts[parents[subject]] + place // related[subject]]
            value = column.matching[column.starts[codes[subject]] + place % related[subject]]
            wanted = other * width + value
            found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hit = keys[found] == wanted
            pairs.append((subject[hit], found[hit]))
            held += int(hit.sum())
            _refuse_many(held)
        subjects, others = (np.concatenate(side) for side in zip(*pairs, strict=True))
        finer = Inclusion(self.records, classes.astype(np.int64), sizes, subjects, others, self.people)
        return finer.without_alone()


def _expand(items: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Repeat each item so many times, and number its repetitions from 0."""
    ends = np.cumsum(counts)
    return np.repeat(items, counts), np.arange(ends[-1] if len(ends) else 0) - np.repeat(
        ends - counts, counts
    )


def _refuse_many(held: int) -> None:
    if held > MOST_PAIRS:
        rule = (
            f"matching by inclusion must hold at most {MOST_PAIRS} pairs "
            "of distinct records that match, got more"
        )
        raise OutOfDomainError(
            f"{rule}; pass fewer records, or narrow what matches many values, such as NULL or includes_all"
        )
