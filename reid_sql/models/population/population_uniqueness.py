"""Population uniqueness by every method, side by side: what each says of one sample, or why it says nothing.

All but the model of people, the log-linear models and the copula need only the class-size histogram. Where
the sample is the population, it is counted. A method is a file of its own, and a line of the tables here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, Literal

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.population import (
    benedetti_franconi,
    copula_uniqueness,
    dankar,
    ewens,
    loglinear_uniqueness,
    people_uniqueness,
    pitman_interval,
    pitman_yor_uniqueness,
    sample_bound,
    slide_negative_binomial,
    zayatz,
)
from reid_sql.models.population.estimate import Estimate, Sample, sample_of
from reid_sql.models.population.evidence import Estimator, UniquenessEvidence, of_histogram
from reid_sql.parameters import Choice

COUNTED: Final = "the sample is the population: counted"


@dataclass(frozen=True)
class PopulationUniqueness:
    """What one method says: unique people, their share of the population, its interval, and the status."""

    method: str
    unique_records: float | None
    uniqueness: float | None
    uniqueness_low: float | None
    uniqueness_high: float | None
    status: str


def _dankar(evidence: UniquenessEvidence, population: float) -> Estimate:
    of = {name: partial(METHODS[name], evidence, population) for name in ("pitman", "snb", "zayatz")}
    sample = sample_of(evidence.histogram, population)
    return dankar.choose(dankar.sampled(sample.records, sample.population), of)


# In the order of the answer. Methods that look at more than the histogram get it from the reduction, in its
# evidence.
METHODS: Final[Mapping[str, Estimator]] = {
    "people": people_uniqueness.estimate,
    "bound": of_histogram(sample_bound.estimate),
    "ewens": of_histogram(ewens.estimate),
    "zayatz": of_histogram(zayatz.estimate),
    "pitman": of_histogram(pitman_interval.estimate),
    "snb": of_histogram(slide_negative_binomial.estimate),
    "dankar": _dankar,
    "benedetti_franconi": of_histogram(benedetti_franconi.estimate),
    "loglinear": partial(loglinear_uniqueness.estimate, overdispersed=False),
    "loglinear_nb": partial(loglinear_uniqueness.estimate, overdispersed=True),
    "pyc": of_histogram(pitman_yor_uniqueness.estimate),
    "copula": partial(copula_uniqueness.estimate, method="paper"),
}
VARIANTS: Final[Mapping[str, Estimator]] = {  # by name alone, not among 'all'
    "copula_calibrated": partial(copula_uniqueness.estimate, method="calibrated"),
    "pitman_asymptotic": of_histogram(partial(pitman_interval.estimate, form="asymptotic")),
    "pitman_negative": of_histogram(partial(pitman_interval.estimate, form="asymptotic", negative=True)),
}
EVERY: Final = {**METHODS, **VARIANTS}
METHOD: Final = Choice(("all", *EVERY))
Method = Annotated[
    Literal[
        "all",
        "people",
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
    """Give one row a method; refuses an empty sample and a population smaller than the sample.

    Refuses classes that overlap, too.

    >>> import numpy as np
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
