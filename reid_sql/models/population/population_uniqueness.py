"""Population uniqueness by every method: its estimate from one sample, or the reason why there is none.

All but the model of people, the log-linear models and the copula need only the class-size histogram. If the
sample is the population, its unique records are counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import hypot, sqrt
from typing import Annotated, Final, Literal, Protocol, Self

import numpy as np

from reid_sql.models.classes.disclosure import OK, Histogram, count_people
from reid_sql.models.copula import copula_fit, gaussian_copula
from reid_sql.models.copula.gaussian_copula import CopulaForecast
from reid_sql.models.evidence import CLASS_SIZE, DRAWN_RECORD, VALUE, EvidenceRows
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.people.evidence import evidence_from_rows
from reid_sql.models.population import classical_estimators, loglinear, pitman
from reid_sql.models.population.classical_estimators import (
    NO_INTERVAL,
    STATUS_LOW_COVERAGE,
    Estimate,
    Sample,
    count_sample,
)
from reid_sql.models.population_risk.answer import PopulationRisk, answer
from reid_sql.models.population_risk.shares import STATUS_COUNTED
from reid_sql.models.pyc import pitman_yor_forecast
from reid_sql.models.pyc.pitman_yor_forecast import PycForecast
from reid_sql.parameters import Choice, Floats, Integers

# What an estimator of population uniqueness may look at, and what such an estimator is.
# A reduction counts the evidence; `Estimator` is all that `population_uniqueness` asks of a method, and a
# method that looks at the class sizes alone becomes one by `use_histogram`.


@dataclass(frozen=True)
class UniquenessEvidence:
    """How many classes have each size and each expected count; the latter to a thousandth of its logarithm.

    `rows` are all that an engine counted: a copula and a model of people are fitted to those of other kinds.
    """

    class_size: Integers  # (lines,)
    # (lines,) if the columns were independent; NaN if the method does not need it
    log_expected: Floats
    # (lines,); parts of classes where people count in their smallest one
    classes: Integers | Floats
    rows: EvidenceRows | None = None

    @classmethod
    def from_rows(cls, rows: EvidenceRows) -> Self:
        """Take the sizes of classes from what an engine counted."""
        lines = rows.select(CLASS_SIZE)
        sizes = rows.class_size[lines]
        return cls(sizes, rows.log_expected[lines], rows.records[lines] / sizes, rows)

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


def use_histogram(estimate: Callable[[Histogram, float], Estimate]) -> Estimator:
    """Make a method of one that looks at the class sizes alone."""
    return lambda evidence, population: estimate(evidence.histogram, population)


# Population uniqueness by a Gaussian copula that is fitted to the sample on the way.
# Source: Rocher, Hendrickx & de Montjoye 2019, eq. 15.

STATUS_NO_PAIRS: Final = (
    "no_pairs: a copula needs counts of pairs of plain values, such as numbers or texts"
)
STATUS_ONE_RECORD: Final = "one_record: a copula needs at least two records"


def estimate_copula(evidence: UniquenessEvidence, population: float) -> Estimate:
    """Estimate Ξ as the mean of ξ over records of the model; refuses what `count_sample` refuses."""
    sample = count_sample(evidence.histogram, population)
    rows = evidence.rows_with(VALUE)
    if rows is None:
        return Estimate(None, None, None, STATUS_NO_PAIRS)
    if sample.records == 1:
        return Estimate(None, None, None, STATUS_ONE_RECORD)
    model = copula_fit.fit_copula(rows, method="paper")
    return _take_uniqueness(gaussian_copula.forecast_copula(model, [sample.population])[0])


def _take_uniqueness(row: CopulaForecast | PopulationRisk | PycForecast) -> Estimate:
    """Take Ξ with its ends and status from the answer of another function."""
    return Estimate(row.uniqueness, row.uniqueness_low, row.uniqueness_high, row.status)


# Population uniqueness by the model of people: the share, ends and status that population_risk gives.

STATUS_NO_RECORDS_DRAWN: Final = (
    "class_sizes_only: a model of people needs values, pairs and records, not class sizes alone"
)


def estimate_people(evidence: UniquenessEvidence, population: float) -> Estimate:
    """Give Ξ as population_risk does, from the same counts and the same draw.

    Refuses what `count_sample` refuses. A histogram alone has no answer: class sizes do not determine how
    values go together.
    """
    sample = count_sample(evidence.histogram, population)
    rows = evidence.rows_with(VALUE, DRAWN_RECORD)
    if rows is None:
        return Estimate(None, None, None, STATUS_NO_RECORDS_DRAWN)
    return _take_uniqueness(answer(evidence_from_rows(rows), [sample.population])[0])


# Population uniqueness by the Pitman–Yor forecast of pyc_forecast.


def estimate_pyc(histogram: Histogram, population: float) -> Estimate:
    """Forecast Ξ, with its interval and status.

    >>> import numpy as np
    >>> sample = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> 0 < estimate_pyc(sample, 3200).uniqueness < 8 / 32
    True
    """
    return _take_uniqueness(pitman_yor_forecast.forecast_pitman_yor(histogram, [population])[0])


# Population uniqueness by a log-linear model with main effects: Poisson counts, or negative binomial ones.
# Source: Skinner & Shlomo 2008; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equation 14.

STATUS_MAIN_EFFECTS: Final = f"{NO_INTERVAL}the log-linear model counts main effects alone"
STATUS_LOGLINEAR_NOT_FITTED: Final = (
    "not_fitted: all classes have one size, or the main effects repeat the sample"
)
STATUS_PARAMETRIC: Final = STATUS_LOW_COVERAGE.format(52, 119)
STATUS_POISSON: Final = "poisson: counts vary no more than Poisson counts do"


def estimate_loglinear(
    evidence: UniquenessEvidence, population: float, *, overdispersed: bool
) -> Estimate:
    """Ξ = τ₁/n_s: a person who is unique in the population is in the sample with the sampled fraction."""
    sample = count_sample(evidence.histogram, population)
    sizes, classes, log_expected = evidence.class_size, evidence.classes, evidence.log_expected
    if (sizes == sizes[0]).all() or loglinear.is_saturated(sizes, log_expected):
        return Estimate(None, None, None, STATUS_LOGLINEAR_NOT_FITTED)
    expected, alone = np.exp(log_expected), sizes == 1

    def chances(shape: float) -> Floats:
        return np.asarray(loglinear.loglinear_uniqueness(expected[alone], sample.fraction, shape))

    def unique_share(shape: float) -> float:
        return float(classes[alone] @ chances(shape)) / sample.records

    if not overdispersed:
        return Estimate(unique_share(np.inf), None, None, STATUS_MAIN_EFFECTS)
    shape = loglinear.fit_shape(sizes, expected, classes)
    share = unique_share(shape)
    likely = loglinear.list_likely_shapes(sizes, expected, classes)
    shares = [share, *map(unique_share, likely)]
    # The unique people who happen to be in the sample, and those of the population.
    chance = NORMAL_95 * sqrt(
        classes[alone] @ chances(shape) ** 2 / sample.records**2 + share / sample.population
    )
    low = share - hypot(share - min(shares), chance)
    high = share + hypot(max(shares) - share, chance)
    status = f"{STATUS_PARAMETRIC}; {STATUS_POISSON}" if np.isinf(shape) else STATUS_PARAMETRIC
    return Estimate(share, max(0.0, low), min(1.0, high), status)


# All but the model of people, the log-linear models and the copula need only the class-size histogram.
# Where the sample is the population, it is counted. A method is a file of its own, and a line of the tables
# here.


@dataclass(frozen=True)
class PopulationUniqueness:
    """The estimate of one method: unique people, their share, its interval, and the status."""

    method: str
    unique_records: float | None
    uniqueness: float | None
    uniqueness_low: float | None
    uniqueness_high: float | None
    status: str


def _estimate_dankar(evidence: UniquenessEvidence, population: float) -> Estimate:
    names = ("pitman", "snb", "zayatz")
    estimators = {name: partial(METHODS[name], evidence, population) for name in names}
    sample = count_sample(evidence.histogram, population)
    fraction = classical_estimators.sampling_fraction(sample.records, sample.population)
    return classical_estimators.choose_by_dankar(fraction, estimators)


# In the order of the answer. Methods that look at more than the histogram get it from the reduction, in its
# evidence.
METHODS: Final[Mapping[str, Estimator]] = {
    "people": estimate_people,
    "bound": use_histogram(classical_estimators.estimate_bound),
    "zayatz": use_histogram(classical_estimators.estimate_zayatz),
    "pitman": use_histogram(pitman.estimate_pitman),
    "snb": use_histogram(classical_estimators.estimate_slide_negative_binomial),
    "dankar": _estimate_dankar,
    "loglinear": partial(estimate_loglinear, overdispersed=False),
    "loglinear_nb": partial(estimate_loglinear, overdispersed=True),
    "pyc": use_histogram(estimate_pyc),
    "copula": estimate_copula,
}
METHOD: Final = Choice(("all", *METHODS))
Method = Annotated[
    Literal[
        "all",
        "people",
        "bound",
        "zayatz",
        "pitman",
        "snb",
        "dankar",
        "loglinear",
        "loglinear_nb",
        "pyc",
        "copula",
    ],
    METHOD,
]


def estimate_by_methods(
    evidence: UniquenessEvidence, population: float, method: Method = "all"
) -> list[PopulationUniqueness]:
    """Give one row a method; refuses an empty sample and a population smaller than the sample.

    Refuses classes that overlap, too.

    >>> import numpy as np
    >>> four = UniquenessEvidence(np.array([1, 3]), np.log([1.5, 2.5]), np.array([1, 1]))
    >>> [(row.method, round(row.unique_records, 4)) for row in estimate_by_methods(four, 8, "loglinear")]
    [('loglinear', 0.4463)]
    """
    METHOD.check("method", method)
    sample = count_sample(evidence.histogram, population)
    names = METHODS if method == "all" else [method]
    if sample.records == sample.population:
        counted = Estimate(sample.uniqueness, sample.uniqueness, sample.uniqueness, STATUS_COUNTED)
        return [_method_row(name, counted, sample) for name in names]
    return [_method_row(name, METHODS[name](evidence, sample.population), sample) for name in names]


def _method_row(name: str, estimate: Estimate, sample: Sample) -> PopulationUniqueness:
    share = estimate.uniqueness
    notes = [] if estimate.status == OK else [estimate.status]
    if share is not None and share > sample.uniqueness * (1 + 1e-9):
        notes.append(classical_estimators.STATUS_EXCEEDS_BOUND)
    people = None if share is None else share * sample.population
    return PopulationUniqueness(
        name, people, share, estimate.low, estimate.high, "; ".join(notes) or OK
    )
