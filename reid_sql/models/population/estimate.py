"""What every estimator of population uniqueness answers, and what each of them first asks of the sample."""

from dataclasses import dataclass
from typing import Final

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import check_population, count_records

NO_INTERVAL: Final = "no interval: "
HELD: Final = "it held the truth in"  # of an interval that held it too seldom to decide anything
ALL_UNIQUE: Final = (
    "all records are unique: the sample does not bound how many of the population are, "
    "and all are taken to be, the upper end"
)


@dataclass(frozen=True)
class Estimate:
    """Share of the population that is unique, with the ends of a 95 % interval, if any, and the status.

    The share is None where there is no answer.
    """

    uniqueness: float | None
    low: float | None
    high: float | None
    status: str


@dataclass(frozen=True)
class PopulationShares:
    """Shares of one population that are unique and that are rightly matched, each with a 95 % interval."""

    population: float
    uniqueness: float
    uniqueness_low: float
    uniqueness_high: float
    correctness: float
    correctness_low: float
    correctness_high: float


@dataclass(frozen=True)
class Sample:
    """A sample's records and unique records, and the size of the population that it was drawn from."""

    records: int
    unique: int
    population: float

    @property
    def fraction(self) -> float:
        """Share of the population that is in the sample."""
        return self.records / self.population

    @property
    def uniqueness(self) -> float:
        """Share of the sample's records that are unique in it."""
        return self.unique / self.records


def sample_of(histogram: Histogram, population: float) -> Sample:
    """Count the sample; refuses an empty one, classes that overlap, and a population smaller than the sample.

    >>> import numpy as np
    >>> sample_of(Histogram(np.array([1, 3]), np.array([2, 1]), np.array([2, 3])), 50)
    Sample(records=5, unique=2, population=50.0)
    """
    records = count_records(histogram)
    people = check_population(population, records)
    return Sample(records, int(histogram.records[histogram.class_size == 1].sum()), people)
