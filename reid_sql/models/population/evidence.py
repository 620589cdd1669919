"""What an estimator of population uniqueness may look at, and what such an estimator is.

A reduction counts the evidence; `Estimator` is all that `population_uniqueness` asks of a method, and a
method that looks at the class sizes alone becomes one by `use_histogram`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from reid_sql.models.classes.disclosure import Histogram, count_people
from reid_sql.models.copula.gaussian_copula import PairCounts
from reid_sql.models.evidence_kinds import CLASS_SIZE, DRAWN_RECORD
from reid_sql.models.people.evidence import EvidenceRow, EvidenceRows, max_combinations, rows_from_tuples
from reid_sql.models.population.classical_estimators import Estimate
from reid_sql.parameters import Floats, Integers


@dataclass(frozen=True)
class UniquenessEvidence:
    """How many classes have each size and each expected count; the latter to a thousandth of its logarithm.

    Lines of class size 0 have the counts that a copula is fitted to, in the columns of its PairCounts, and
    the sampled records that a model of people needs; each only if the method needs them.
    """

    class_size: Integers  # (lines,)
    log_expected: Floats  # (lines,) if the columns were independent; NaN if the method does not need it
    classes: Integers | Floats  # (lines,); parts of classes where people count in their smallest one
    first: Integers | None = None
    second: Integers | None = None
    label: Sequence[str | None] = ()
    first_value: Sequence[str | None] = ()
    second_value: Sequence[str | None] = ()
    records: Integers | None = None
    mass: Sequence[float] = ()
    texts: Sequence[Sequence[str | None] | None] = ()

    @cached_property
    def histogram(self) -> Histogram:
        """Classes and records by class size alone."""
        counted = self.class_size > 0
        size, place = np.unique(self.class_size[counted], return_inverse=True)
        classes = np.bincount(place, self.classes[counted], len(size))
        return count_people(size, np.rint(size * classes).astype(np.int64))

    @property
    def pairs(self) -> PairCounts | None:
        """The counts that a copula is fitted to, None if the method does not need them."""
        if self.first is None or self.second is None or self.records is None:
            return None
        lines = np.flatnonzero((self.class_size == 0) & (self.second != DRAWN_RECORD)).tolist()
        if not lines:
            return None
        return PairCounts(
            np.arange(len(lines)),
            self.first[lines],
            self.second[lines],
            [self.label[line] for line in lines],
            [self.first_value[line] for line in lines],
            [self.second_value[line] for line in lines],
            self.records[lines],
            [float(self.mass[line]) for line in lines],
        )

    @property
    def people(self) -> EvidenceRows | None:
        """The rows that a model of people is fitted to, None if the method does not need them."""
        pairs = self.pairs
        if pairs is None or self.second is None or not (self.second == DRAWN_RECORD).any():
            return None
        return rows_from_tuples([*_select_lines(pairs), *self._sizes(), *self._drawn()])

    def _sizes(self) -> list[EvidenceRow]:
        histogram = self.histogram
        counted = zip(histogram.class_size.tolist(), histogram.classes.tolist(), strict=True)
        return [(0, CLASS_SIZE, None, None, None, size, float(classes), None) for size, classes in counted]

    def _drawn(self) -> list[EvidenceRow]:
        assert self.second is not None  # noqa: S101  # records were drawn
        assert self.records is not None  # noqa: S101  # the same
        return [
            (
                0,
                DRAWN_RECORD,
                None,
                None,
                None,
                int(self.records[line]),
                float(self.mass[line]),
                self.texts[line],
            )
            for line in np.flatnonzero(self.second == DRAWN_RECORD).tolist()
        ]


def _select_lines(pairs: PairCounts) -> list[EvidenceRow]:
    """Lines of values, and of pairs of columns that have not too many; those are counted among the drawn."""
    keys = np.stack([pairs.first, pairs.second], axis=1)
    _, place, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    most = max_combinations(int(np.asarray(pairs.first).max(initial=1)))
    few = (np.asarray(pairs.second) <= 0) | (counts[place.ravel()] <= most)
    return [
        (
            *(int(pairs.first[line]), int(pairs.second[line]), pairs.label[line]),
            *(pairs.first_value[line], pairs.second_value[line]),
            *(int(pairs.records[line]), float(pairs.mass[line]), None),
        )
        for line in np.flatnonzero(few).tolist()
    ]


class Estimator(Protocol):
    """A method: it estimates the unique share of the population from the evidence, or says why not.

    The population is of this size. Refuses an empty sample, and a population smaller than it.
    """

    def __call__(self, evidence: UniquenessEvidence, population: float, /) -> Estimate:
        """Estimate the share."""


class HistogramEstimator(Protocol):
    """A method that needs no more than how many classes have each size."""

    def __call__(self, histogram: Histogram, population: float, /) -> Estimate:
        """Estimate the share."""


def use_histogram(estimate: HistogramEstimator) -> Estimator:
    """Make a method of one that looks at the class sizes alone."""
    return lambda evidence, population: estimate(evidence.histogram, population)
