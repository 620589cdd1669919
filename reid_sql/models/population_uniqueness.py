"""Population uniqueness by every method, side by side: what each says of one sample, or why it says nothing.

All but the log-linear model need only the class-size histogram. Where the sample is the population, it is counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, Literal

from reid_sql.domains import Choice, Floats
from reid_sql.models import dankar, ewens, pitman_interval, pitman_yor_forecast, sample_bound, slide_negative_binomial, zayatz
from reid_sql.models.disclosure import OK, Histogram
from reid_sql.models.estimate import NO_INTERVAL, Estimate, Sample, sample_of

COUNTED: Final = "the sample is the population: counted"
BY_FRACTION: Final = f"{NO_INTERVAL}without weights, each unique record of the sample counts with the sampled fraction"
MAIN_EFFECTS: Final = f"{NO_INTERVAL}main effects alone; loglinear_risk tells more"


@dataclass(frozen=True)
class UniquenessEvidence(Histogram):
    """The histogram, and the unique records that the log-linear model expects to be unique in the population (on each line)."""

    confirmed: Floats  # (sizes,), NaN where it was not asked for


@dataclass(frozen=True)
class PopulationUniqueness:
    """What one method says: unique people, their share of the population, its interval, and the status."""

    method: str
    unique_records: float | None
    uniqueness: float | None
    uniqueness_low: float | None
    uniqueness_high: float | None
    status: str


def _benedetti_franconi(evidence: UniquenessEvidence, population: float) -> Estimate:
    """Without weights P(F = 1 | f = 1) is the sampled fraction, so that Ξ = f s₁/n_s."""
    sample = sample_of(evidence, population)
    return Estimate(sample.fraction * sample.uniqueness, None, None, BY_FRACTION)


def _loglinear(evidence: UniquenessEvidence, population: float) -> Estimate:
    """Ξ = τ₁/n_s: a person who is unique in the population is in the sample with the sampled fraction."""
    return Estimate(float(evidence.confirmed[0]) / sample_of(evidence, population).records, None, None, MAIN_EFFECTS)


def _pyc(evidence: UniquenessEvidence, population: float) -> Estimate:
    found = pitman_yor_forecast.forecast(evidence, [population])[0]
    return Estimate(found.uniqueness, found.uniqueness_low, found.uniqueness_high, found.status)


def _dankar(evidence: UniquenessEvidence, population: float) -> Estimate:
    of = {name: partial(METHODS[name], evidence, population) for name in ("pitman", "snb", "zayatz")}
    return dankar.choose(sample_of(evidence, population).fraction, of)


# In the order of the answer. Methods that look at more than the histogram get it from the reduction, in its evidence.
METHODS: Final[Mapping[str, Callable[[UniquenessEvidence, float], Estimate]]] = {
    "bound": sample_bound.estimate,
    "ewens": ewens.estimate,
    "zayatz": zayatz.estimate,
    "pitman": pitman_interval.estimate,
    "snb": slide_negative_binomial.estimate,
    "dankar": _dankar,
    "benedetti_franconi": _benedetti_franconi,
    "loglinear": _loglinear,
    "pyc": _pyc,
}
VARIANTS: Final[Mapping[str, Callable[[UniquenessEvidence, float], Estimate]]] = {  # by name alone, not among 'all'
    "pitman_asymptotic": partial(pitman_interval.estimate, form="asymptotic"),
    "pitman_negative": partial(pitman_interval.estimate, form="asymptotic", negative=True),
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
        "pyc",
        "pitman_asymptotic",
        "pitman_negative",
    ],
    METHOD,
]


def estimates(evidence: UniquenessEvidence, population: float, method: Method = "all") -> list[PopulationUniqueness]:
    """Give one row a method. Refuses an empty sample, classes that overlap, and a population smaller than the sample.

    >>> four = UniquenessEvidence(np.array([1, 3]), np.array([1, 1]), np.array([1, 3]), np.array([0.5, 0.5]))
    >>> [(row.method, row.unique_records) for row in estimates(four, 8, "loglinear")]
    [('loglinear', 1.0)]
    """
    METHOD.check("method", method)
    sample = sample_of(evidence, population)
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
