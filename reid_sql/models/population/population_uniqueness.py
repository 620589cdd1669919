"""Population uniqueness by every method, side by side: what each says of one sample, or why it says nothing.

All but the log-linear models need only the class-size histogram. Where the sample is the population, it is
counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import hypot, sqrt
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.domains import Choice, Floats
from reid_sql.models.classes.disclosure import OK, Histogram, Integers
from reid_sql.models.copula import copula_fit, copula_population
from reid_sql.models.copula.gaussian_copula import PairCounts
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.population import (
    dankar,
    ewens,
    loglinear,
    overdispersion,
    pitman_interval,
    sample_bound,
    slide_negative_binomial,
    zayatz,
)
from reid_sql.models.population.estimate import NO_INTERVAL, Estimate, Sample, sample_of
from reid_sql.models.pyc import pitman_yor_forecast

COUNTED: Final = "the sample is the population: counted"
BY_FRACTION: Final = (
    f"{NO_INTERVAL}without weights, each unique record of the sample counts with the sampled fraction"
)
MAIN_EFFECTS: Final = f"{NO_INTERVAL}the log-linear model counts main effects alone"
NO_PAIRS: Final = (
    "not available: a copula needs the counts of pairs of values, of numbers, texts or other plain values"
)
NOT_FITTED: Final = "not available: all classes have one size, or the main effects repeat the sample, as those of one column do"
PARAMETRIC: Final = "the interval holds the shape and chance, not what main effects miss: it held the truth in 25 of 56 tables of people"
POISSON: Final = "counts vary no more than Poisson counts do"


@dataclass(frozen=True)
class UniquenessEvidence:
    """How many classes have each size and each expected count; the latter to a thousandth of its logarithm.

    Lines of class size 0 hold what a copula is fitted to, where that was asked for, in the columns of its
    PairCounts.
    """

    class_size: Integers  # (lines,)
    log_expected: Floats  # (lines,) if the columns were independent; NaN where that was not asked for
    classes: Integers  # (lines,)
    first: Integers | None = None
    second: Integers | None = None
    label: Sequence[str | None] = ()
    first_value: Sequence[str | None] = ()
    second_value: Sequence[str | None] = ()
    records: Integers | None = None
    mass: Sequence[float] = ()

    @cached_property
    def histogram(self) -> Histogram:
        """Classes and records by class size alone."""
        counted = self.class_size > 0
        size, place = np.unique(self.class_size[counted], return_inverse=True)
        classes = np.zeros(len(size), dtype=np.int64)
        np.add.at(classes, place, self.classes[counted])
        return Histogram(size, classes, size * classes)

    @property
    def pairs(self) -> PairCounts | None:
        """What a copula is fitted to, None where it was not asked for."""
        lines = np.flatnonzero(self.class_size == 0).tolist()
        if self.first is None or self.second is None or self.records is None or not lines:
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


@dataclass(frozen=True)
class PopulationUniqueness:
    """What one method says: unique people, their share of the population, its interval, and the status."""

    method: str
    unique_records: float | None
    uniqueness: float | None
    uniqueness_low: float | None
    uniqueness_high: float | None
    status: str


Estimator = Callable[[UniquenessEvidence, float], Estimate]


def _benedetti_franconi(evidence: UniquenessEvidence, population: float) -> Estimate:
    """Without weights P(F = 1 | f = 1) is the sampled fraction, so that Ξ = f s₁/n_s."""
    sample = sample_of(evidence.histogram, population)
    return Estimate(sample.fraction * sample.uniqueness, None, None, BY_FRACTION)


def _loglinear(evidence: UniquenessEvidence, population: float, *, overdispersed: bool) -> Estimate:
    """Ξ = τ₁/n_s: a person who is unique in the population is in the sample with the sampled fraction."""
    sample = sample_of(evidence.histogram, population)
    counted = evidence.class_size > 0
    sizes, classes, log_expected = (
        evidence.class_size[counted],
        evidence.classes[counted],
        evidence.log_expected[counted],
    )
    if (sizes == sizes[0]).all() or loglinear.saturated(sizes, log_expected):
        return Estimate(None, None, None, NOT_FITTED)
    expected, alone = np.exp(log_expected), sizes == 1

    def chances(shape: float) -> Floats:
        return np.asarray(loglinear.uniqueness(expected[alone], sample.fraction, shape))

    if not overdispersed:
        share = float(classes[alone] @ chances(np.inf)) / sample.records
        return Estimate(share, None, None, MAIN_EFFECTS)
    shape = overdispersion.shape(sizes, expected, classes)
    xi = chances(shape)
    share = float(classes[alone] @ xi) / sample.records
    spread = overdispersion.likely_shapes(sizes, expected, classes)
    shares = [share, *(float(classes[alone] @ chances(likely)) / sample.records for likely in spread)]
    # The unique people who happen to be in the sample, and those of the population.
    chance = NORMAL_95 * sqrt(classes[alone] @ xi**2 / sample.records**2 + share / sample.population)
    low, high = share - hypot(share - min(shares), chance), share + hypot(max(shares) - share, chance)
    status = f"{PARAMETRIC}; {POISSON}" if np.isinf(shape) else PARAMETRIC
    return Estimate(share, max(0.0, low), min(1.0, high), status)


def _pyc(evidence: UniquenessEvidence, population: float) -> Estimate:
    found = pitman_yor_forecast.forecast(evidence.histogram, [population])[0]
    return Estimate(found.uniqueness, found.uniqueness_low, found.uniqueness_high, found.status)


def _copula(evidence: UniquenessEvidence, population: float, *, method: str) -> Estimate:
    pairs = evidence.pairs
    if pairs is None:
        return Estimate(None, None, None, NO_PAIRS)
    found = copula_population.forecast(copula_fit.fit(pairs, method=method), [population])[0]
    return Estimate(found.uniqueness, found.uniqueness_low, found.uniqueness_high, found.status)


def _dankar(evidence: UniquenessEvidence, population: float) -> Estimate:
    of = {name: partial(METHODS[name], evidence, population) for name in ("pitman", "snb", "zayatz")}
    sample = sample_of(evidence.histogram, population)
    return dankar.choose(dankar.sampled(sample.records, sample.population), of)


def _counting(estimate: Callable[..., Estimate], **options: str | bool) -> Estimator:
    """Make a method of an estimator that looks at the histogram alone."""
    return lambda evidence, population: estimate(evidence.histogram, population, **options)


# In the order of the answer. Methods that look at more than the histogram get it from the reduction, in its
# evidence.
METHODS: Final[Mapping[str, Estimator]] = {
    "bound": _counting(sample_bound.estimate),
    "ewens": _counting(ewens.estimate),
    "zayatz": _counting(zayatz.estimate),
    "pitman": _counting(pitman_interval.estimate),
    "snb": _counting(slide_negative_binomial.estimate),
    "dankar": _dankar,
    "benedetti_franconi": _benedetti_franconi,
    "loglinear": partial(_loglinear, overdispersed=False),
    "loglinear_nb": partial(_loglinear, overdispersed=True),
    "pyc": _pyc,
    "copula": partial(_copula, method="paper"),
}
VARIANTS: Final[Mapping[str, Estimator]] = {  # by name alone, not among 'all'
    "copula_calibrated": partial(_copula, method="calibrated"),
    "pitman_asymptotic": _counting(pitman_interval.estimate, form="asymptotic"),
    "pitman_negative": _counting(pitman_interval.estimate, form="asymptotic", negative=True),
}
EVERY: Final = {**METHODS, **VARIANTS}
METHOD: Final = Choice(("all", *EVERY))
Method = Annotated[
    Literal[
        "all",
        "bound",
        "ewens",
        "zayatz",
        "pitman",
        "snb",
        "dankar",
        "benedetti_franconi",
        "loglinear",
        "loglinear_nb",
        "pyc",
        "copula",
        "copula_calibrated",
        "pitman_asymptotic",
        "pitman_negative",
    ],
    METHOD,
]


def estimates(
    evidence: UniquenessEvidence, population: float, method: Method = "all"
) -> list[PopulationUniqueness]:
    """Give one row a method. Refuses an empty sample, classes that overlap, and a population smaller than the sample.

    >>> four = UniquenessEvidence(np.array([1, 3]), np.log([1.5, 2.5]), np.array([1, 1]))
    >>> [(row.method, round(row.unique_records, 4)) for row in estimates(four, 8, "loglinear")]
    [('loglinear', 0.4463)]
    """
    METHOD.check("method", method)
    sample = sample_of(evidence.histogram, population)
    names = METHODS if method == "all" else [method]
    if sample.records == sample.population:
        counted = Estimate(sample.uniqueness, sample.uniqueness, sample.uniqueness, COUNTED)
        return [_row(name, counted, sample) for name in names]
    return [_row(name, EVERY[name](evidence, sample.population), sample) for name in names]


def _row(name: str, found: Estimate, sample: Sample) -> PopulationUniqueness:
    share = found.uniqueness
    notes = [] if found.status == OK else [found.status]
    if share is not None and share > sample.uniqueness * (1 + 1e-9):
        notes.append(sample_bound.EXCEEDED)
    people = None if share is None else share * sample.population
    return PopulationUniqueness(name, people, share, found.low, found.high, "; ".join(notes) or OK)
