"""How many people of a population are unique by a sample's columns: shares, a status, and a sentence.

The model of people predicts the shares; this module says when they are not reliable, and which end of an
interval then remains.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.people import functional_dependencies, overdispersion
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.models.people.fit import fit
from reid_sql.models.people.functional_dependencies import Dependency, describe_dependencies
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population import loglinear
from reid_sql.models.population import loglinear as classical_overdispersion
from reid_sql.models.population.classical_estimators import PopulationShares
from reid_sql.models.population_risk.shares import Share, Shares, count_kinds, count_shares, predict_shares
from reid_sql.parameters import COUNT, Floats, Number, plain

CLASS_SIZE: Final = Number(
    "a whole number of people from 2 to 1e+6",
    "pass the size below which a class is too small, such as 5",
    2,
    1e6,
    whole=True,
)
ClassSize = Annotated[int, CLASS_SIZE]
METHOD: Final = "people"
METHOD_COUNTED: Final = "counted"
MIN_RECORDS: Final = 100  # intervals were measured on samples of at least as many
MIN_POPULATION_RATIO: Final = 2.0  # of the population to the sample
MIN_EXPECTED_REPEATS: Final = 3.0  # fewer are not seen in 5 % of samples
MIN_LOG_SHAPE: Final = -1.0  # at 8 nats; nearly all tables of people have a greater mean of ln a
MIN_LOG_SHAPE_SLOPE: Final = -0.15  # for each nat
MAX_ABOVE_LOGLINEAR: Final = 0.02  # of Ξ, above which the data are unlike tables of people
MIN_PERCENT: Final = 0.001  # that a sentence shows

STATUS_COUNTED: Final = "the sample is the population: counted"
STATUS_FEW_RECORDS: Final = "fewer than 100 records: the interval is a distribution-free bound"
STATUS_UNLIKE_PEOPLE: Final = (
    "this table is unlike the reference tables, as the log-linear model estimates far less: only a "
    "provable upper bound is given"
)
STATUS_OVERDISPERSED: Final = (
    "this table is unlike the reference tables, as its cells are more overdispersed: only a provable "
    "upper bound is given"
)
STATUS_UNCERTAIN_DEPENDENCIES: Final = (
    "too few records to confirm that columns determine others: the upper end is a distribution-free bound"
)
STATUS_SMALL_SAMPLE: Final = "sample too small to rule out duplicated people: the lower end is 0"
STATUS_GROUP_SAMPLE: Final = (
    "records were drawn in groups, such as households: only the upper bound of a random sample is given"
)
STATUS_REPEATED_PEOPLE: Final = (
    "more records repeat than by chance, so the lower ends allow for duplicated people: count people by "
    "entity"
)
STATUS_NO_REPEATS: Final = "no record repeats in the sample: the upper end is 1"
STATUS_ALL_EQUAL: Final = "all records of the sample are equal"
STATUS_NOT_LARGER: Final = "the population is less than twice the sample: counting it would be more reliable"
STATUS_WEIGHTED: Final = (
    "weights: the interval was measured on unweighted samples, and no upper end is provable"
)
UNLIKE_REFERENCE: Final = frozenset({STATUS_UNLIKE_PEOPLE, STATUS_OVERDISPERSED, STATUS_GROUP_SAMPLE})
WITHOUT_LOWER: Final = UNLIKE_REFERENCE | {STATUS_FEW_RECORDS, STATUS_SMALL_SAMPLE}
WITHOUT_UPPER: Final = UNLIKE_REFERENCE | {
    STATUS_FEW_RECORDS,
    STATUS_NO_REPEATS,
    STATUS_UNCERTAIN_DEPENDENCIES,
}


@dataclass(frozen=True)
class PopulationRisk(PopulationShares):
    """Shares of one population, each with a 95 % interval; method, status, and a sentence to quote."""

    below_k: float
    below_k_low: float
    below_k_high: float
    method: str
    status: str
    sentence: str


def answer(
    evidence: PeopleEvidence, populations: npt.ArrayLike, k: int = 5, seed: int = 0
) -> list[PopulationRisk]:
    """Answer for each population; refuses one smaller than the sample.

    >>> from reid_sql.models.people.evidence import count_records
    >>> table = count_records(np.array([[0], [0], [1]]), ["sex"], [["F", "M"]], [False])
    >>> row = answer(table, [3])[0]
    >>> round(row.uniqueness, 4), row.method
    (0.3333, 'counted')
    """
    if not evidence.records:
        raise NoRecordsError(NO_RECORDS)
    sizes = COUNT.check("populations", populations).tolist()
    for people in sizes:
        if people < evidence.records:
            rule = (
                f"populations must be at least the {evidence.records} records "
                f"of the sample, got {plain(people)}"
            )
            raise OutOfDomainError(f"{rule}; pass the size of the population that the sample was drawn from")
    return answer_by_fit(fit_sample(evidence, max(sizes), seed), evidence, sizes, k)


def answer_by_fit(
    fitted: "FittedSample", evidence: PeopleEvidence, populations: Sequence[float], k: int = 5
) -> list[PopulationRisk]:
    """Answer for each population by a sample that is fitted."""
    rows = ((people, _shares(fitted, people, k)) for people in populations)
    return [_row(evidence, people, k, shares, fitted) for people, shares in rows]


@dataclass(frozen=True)
class FittedSample:
    """A sample without the columns that others determine, and the model of it."""

    evidence: PeopleEvidence
    model: PeopleModel | None  # None where the sample is the population
    dependencies: Sequence[Dependency]
    is_certain: bool  # whether the columns left out are surely determined


def fit_sample(evidence: PeopleEvidence, largest: float, seed: int = 0) -> FittedSample:
    """Leave out the columns that others determine, and fit the rest if a population exceeds the sample."""
    dependencies = functional_dependencies.find_dependencies(evidence)
    sizes = [len(own) for own in evidence.values]
    dropped = functional_dependencies.choose_dependencies(dependencies, sizes)
    free = functional_dependencies.drop_columns(evidence, [one.determined for one in dropped])
    model = fit(free, seed) if largest > evidence.records else None
    return FittedSample(free, model, dependencies, is_certain=all(one.is_certain for one in dropped))


def _shares(fitted: FittedSample, people: float, k: int) -> Shares:
    if fitted.model is None or people == fitted.evidence.records:
        return count_shares(fitted.evidence.histogram, k)
    return predict_shares(fitted.model, people, k, random=not fitted.evidence.weighted)


def _row(
    evidence: PeopleEvidence, people: float, k: int, shares: Shares, fitted: FittedSample
) -> PopulationRisk:
    notes = list(_notes(evidence, people, shares, fitted))
    parts = [shares.uniqueness, shares.correctness, shares.below_k]
    if WITHOUT_UPPER.intersection(notes):
        counts = count_kinds(evidence.histogram, k).values()
        ends = [1.0 if evidence.weighted else clopper_pearson_upper(n, evidence.records) for n in counts]
        parts = [replace(one, high=max(end, one.estimate)) for one, end in zip(parts, ends, strict=True)]
    if WITHOUT_LOWER.intersection(notes):
        parts = [replace(share, low=0.0) for share in parts]
    counted, unlike = people == evidence.records, not UNLIKE_REFERENCE.isdisjoint(notes)
    xi, kappa, below = parts
    return PopulationRisk(
        *(people, xi.estimate, xi.low, xi.high),
        *(kappa.estimate, kappa.low, kappa.high),
        *(below.estimate, below.low, below.high),
        METHOD_COUNTED if counted else METHOD,
        "; ".join(notes) or OK,
        sentence(evidence.columns, people, xi, counted=counted, unlike_reference=unlike),
    )


def _notes(evidence: PeopleEvidence, people: float, shares: Shares, fitted: FittedSample) -> Iterator[str]:
    """What a reader of the shares has to know."""
    if people == evidence.records:
        yield STATUS_COUNTED
    else:
        if evidence.records < MIN_RECORDS:
            yield STATUS_FEW_RECORDS
        if may_hide_duplicates(evidence.records, people):
            yield STATUS_SMALL_SAMPLE
        yield from _doubts(people, shares, fitted)
        if evidence.histogram.class_size.max() == 1 < evidence.records:
            yield STATUS_NO_REPEATS
        if people < MIN_POPULATION_RATIO * evidence.records:
            yield STATUS_NOT_LARGER
        if evidence.weighted:
            yield STATUS_WEIGHTED
    if evidence.histogram.classes.sum() == 1 < evidence.records:
        yield STATUS_ALL_EQUAL
    yield from describe_dependencies(fitted.dependencies, evidence.columns)


def _doubts(people: float, shares: Shares, fitted: FittedSample) -> Iterator[str]:
    """Why the sample may be unlike those that the interval was measured on."""
    by_loglinear = loglinear_uniqueness(fitted.evidence, people)
    if by_loglinear is not None and shares.uniqueness.estimate - by_loglinear > MAX_ABOVE_LOGLINEAR:
        yield STATUS_UNLIKE_PEOPLE
    model = fitted.model
    if model is not None and is_overdispersed(model.shapes, model.likelihoods[0].entropy):
        yield STATUS_OVERDISPERSED
    if model is not None and model.groups.is_group_sample(people):
        yield STATUS_GROUP_SAMPLE
    if not fitted.is_certain:
        yield STATUS_UNCERTAIN_DEPENDENCIES
    if model is not None and model.repeated_people.beyond_chance:
        yield STATUS_REPEATED_PEOPLE


def may_hide_duplicates(records: int, people: float) -> bool:
    """Whether a sample may well hide that every person is in the population twice.

    Each then repeats with chance n/N; of fewer than 3 repeats expected, a sample contains none with
    probability e^−3 = 5 %, and nobody would be unique.

    >>> may_hide_duplicates(300, 1e5), may_hide_duplicates(1000, 1e5)
    (True, False)
    """
    return records * records / people < MIN_EXPECTED_REPEATS


def is_overdispersed(weights: Floats, entropy: float) -> bool:
    """Whether cells are more overdispersed than those of nearly all tables of people.

    The mean of ln a, which falls as the entropy H grows, is below −1 − 0.15 (H − 8).

    >>> is_overdispersed(np.ones(56) / 56, 8.0), is_overdispersed(np.eye(56)[10], 8.0)
    (False, True)
    """
    limit = MIN_LOG_SHAPE + MIN_LOG_SHAPE_SLOPE * (entropy - overdispersion.CENTRE)
    return float(weights @ overdispersion.LOG_SHAPES) < limit


def loglinear_uniqueness(evidence: PeopleEvidence, people: float) -> float | None:
    """Ξ by the log-linear model of main effects with negative binomial counts, from the drawn records.

    A class of f records is drawn f times as often as one of 1, so it counts by 1/f of its records. None where
    all classes have one size, or main effects repeat the sample. Source: Skinner & Shlomo 2008.
    """
    n, size = evidence.records, evidence.drawn_size
    log_shares = [
        np.log(np.maximum(counts, 1e-12) / counts.sum())[codes]
        for counts, codes in zip(evidence.counts, evidence.drawn.T, strict=True)
    ]
    log_expected = np.log(n) + np.sum(log_shares, axis=0)
    if (size == size[0]).all() or loglinear.is_saturated(size, log_expected):
        return None
    expected = np.exp(log_expected)
    shape = classical_overdispersion.fit_shape(size, expected, 1 / size)
    single = size == 1
    unique = loglinear.loglinear_uniqueness(expected[single], min(n / people, 1.0), shape).sum()
    return float(unique / len(size))


def sentence(
    columns: tuple[str, ...],
    people: float,
    unique: Share,
    *,
    counted: bool = False,
    unlike_reference: bool = False,
) -> str:
    """The share of unique people as a sentence to quote.

    >>> sentence(("age", "zip"), 67e6, Share(0.008, 0.004, 0.015))[:98]
    'Of 67 million people, about 0.8 % (0.4 to 1.5 %) are unique by age and zip, if the table is a rand'
    """
    unique_by = "unique by " + " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))
    if counted:
        share = _format_percent(unique.estimate)
        return f"Of these {_format_people(people)} people, {share} % are {unique_by}."
    ends = f"{_format_percent(unique.low)} to {_format_percent(unique.high)} %"
    reliability = (
        "This table is unlike the reference tables of the interval."
        if unlike_reference
        else "For 95 of 100 comparable tables of people, the interval contains the true value."
    )
    share = _format_percent(unique.estimate)
    share = share if " " in share else f"about {share}"
    risk = f"Of {_format_people(people)} people, {share} % ({ends}) are {unique_by}"
    return f"{risk}, if the table is a random sample of them. {reliability}"


def _format_people(count: float) -> str:
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if count >= unit:
            return f"{count / unit:.3g} {word}"
    return f"{count:,.0f}"


def _format_percent(share: float) -> str:
    """Two significant digits of the distance to the nearer of 0 and 100.

    >>> [_format_percent(share) for share in (0.008, 0.0, 0.1234, 0.99996, 0.00001, 1e-9)]
    ['0.8', '0', '12', '99.996', '0.001', 'less than 0.001']
    """
    points = 100 * share
    if points in {0.0, 100.0}:
        return f"{points:.0f}"
    if points < MIN_PERCENT or points > 100 - MIN_PERCENT:
        return f"less than {MIN_PERCENT}" if points < MIN_PERCENT else f"more than {100 - MIN_PERCENT}"
    digits = int(np.clip(1 - np.floor(np.log10(min(points, 100 - points))), 0, 4))
    return f"{points:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{points:.0f}"
