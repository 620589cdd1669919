"""What an estimator of population uniqueness may look at, and what such an estimator is.

A reduction counts the evidence; `Estimator` is all that `population_uniqueness` asks of a method, and a
method that looks at the class sizes alone becomes one by `use_histogram`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from reid_sql.models.classes.disclosure import Histogram, count_people
from reid_sql.models.evidence import CLASS_SIZE, EvidenceRows
from reid_sql.models.population.classical_estimators import Estimate
from reid_sql.parameters import Floats, Integers


@dataclass(frozen=True)
class UniquenessEvidence:
    """How many classes have each size and each expected count; the latter to a thousandth of its logarithm.

    `rows` are all that an engine counted: a copula and a model of people are fitted to those of other kinds.
    """

    class_size: Integers  # (lines,)
    log_expected: Floats  # (lines,) if the columns were independent; NaN if the method does not need it
    classes: Integers | Floats  # (lines,); parts of classes where people count in their smallest one
    rows: EvidenceRows | None = None

    @classmethod
    def from_rows(cls, rows: EvidenceRows) -> Self:
        """Take the sizes of classes from what an engine counted."""
        own = rows.select(CLASS_SIZE)
        sizes = rows.class_size[own]
        return cls(sizes, rows.log_expected[own], rows.records[own] / sizes, rows)

    @cached_property
    def histogram(self) -> Histogram:
        """Classes and records by class size alone."""
        size, place = np.unique(self.class_size, return_inverse=True)
        classes = np.bincount(place, self.classes, len(size))
        return count_people(size, np.rint(size * classes).astype(np.int64))

    def rows_with(self, *kinds: str) -> EvidenceRows | None:
        """The rows, if there are some of each of these kinds."""
        rows = self.rows
        return rows if rows and all(len(rows.select(kind)) for kind in kinds) else None


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
