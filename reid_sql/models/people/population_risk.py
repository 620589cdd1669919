"""The one answer: how many people of a population a sample's columns single out, and how sure that is.

It comes in a sentence, too. The model of people gives the shares; this says when it does not know.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.domains import COUNT, Number, plain
from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.people import curves, interval, main_effects, people_fit, people_population
from reid_sql.models.people.interval import Share
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.people.people_population import Shares

CLASS_SIZE: Final = Number(
    "a whole number of people from 2 to 1e+6",
    "pass the size below which a class is too small, such as 5",
    2,
    1e6,
    whole=True,
)
ClassSize = Annotated[int, CLASS_SIZE]
METHOD: Final = "people"
COUNTED: Final = "counted"
FEW: Final = 100  # records; intervals were measured on samples of at least as many
MUCH_LARGER: Final = 2.0  # times the sample
FOREIGN: Final = 0.02  # by which Ξ may lie above the log-linear model's before the data count as foreign
LEAST_SAID: Final = 0.001  # per cent
DEPENDENT_RECORDS: Final = 10  # records in values that repeat, from which on one column follows from another
IS_COUNTED: Final = "the sample is the population: counted"
OF_FEW: Final = "fewer than 100 records: the interval is what is provable"
OF_FOREIGN: Final = (
    "the data are unlike the tables of people that the interval was measured on (the "
    "log-linear model says far less): the lower end is 0"
)
NOTHING_REPEATS: Final = (
    "no record repeats in the sample: nothing in it keeps the shares below 1, so the upper end is 1"
)
ALL_ALIKE: Final = "all records of the sample are alike"
NOT_LARGER: Final = "the population is less than twice the sample: counting it would be surer"
OF_WEIGHTS: Final = "weights: the intervals were measured on samples without, and no upper end is provable"
DEPENDENT: Final = "{} follows from {}: it adds nothing"


@dataclass(frozen=True)
class PopulationRisk:
    """Shares of one population, each with a 95 % interval; method, remarks, and a sentence to quote."""

    population: float
    uniqueness: float
    uniqueness_low: float
    uniqueness_high: float
    correctness: float
    correctness_low: float
    correctness_high: float
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

    >>> from reid_sql.models.people.people_evidence import counted
    >>> found = answer(counted(np.array([[0], [0], [1]]), ["sex"], [["F", "M"]], [False]), [3])[0]
    >>> round(found.uniqueness, 4), found.method
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
    model = people_fit.fit(evidence, seed) if max(sizes) > evidence.records else None
    return [of_model(evidence, model, people, k) for people in sizes]


def of_model(
    evidence: PeopleEvidence, model: PeopleModel | None, people: float, k: int = 5
) -> PopulationRisk:
    """Answer for one population under a model that is fitted to the evidence; None where all is counted."""
    return _row(evidence, people, k, _shares(evidence, model, people, k))


def _shares(evidence: PeopleEvidence, model: PeopleModel | None, people: float, k: int) -> Shares:
    if model is None or people == evidence.records:
        return people_population.counted(evidence.histogram, k)
    return people_population.shares(model, people, k, random=not evidence.weighted)


def _row(evidence: PeopleEvidence, people: float, k: int, found: Shares) -> PopulationRisk:
    notes = list(_notes(evidence, people, found))
    of = [found.uniqueness, found.correctness, found.below_k]
    if OF_FEW in notes or NOTHING_REPEATS in notes:
        held = curves.held(evidence.histogram, k).values()
        ends = [1.0 if evidence.weighted else interval.clopper_pearson(n, evidence.records) for n in held]
        of = [replace(share, high=end) for share, end in zip(of, ends, strict=True)]
    if OF_FEW in notes or OF_FOREIGN in notes:
        of = [replace(share, low=0.0) for share in of]
    counted = people == evidence.records
    one, right, small = of
    return PopulationRisk(
        *(people, one.estimate, one.low, one.high),
        *(right.estimate, right.low, right.high),
        *(small.estimate, small.low, small.high),
        COUNTED if counted else METHOD,
        "; ".join(notes) or OK,
        sentence(evidence.columns, people, one, counted=counted, foreign=OF_FOREIGN in notes),
    )


def _notes(evidence: PeopleEvidence, people: float, found: Shares) -> Iterator[str]:
    """What a reader of the shares has to know."""
    if people == evidence.records:
        yield IS_COUNTED
    else:
        if evidence.records < FEW:
            yield OF_FEW
        other = main_effects.uniqueness(evidence, people)
        if other is not None and found.uniqueness.estimate - other > FOREIGN:
            yield OF_FOREIGN
        if evidence.histogram.class_size.max() == 1 < evidence.records:
            yield NOTHING_REPEATS
        if people < MUCH_LARGER * evidence.records:
            yield NOT_LARGER
        if evidence.weighted:
            yield OF_WEIGHTS
    if evidence.histogram.classes.sum() == 1 < evidence.records:
        yield ALL_ALIKE
    for follows, other_column in dependencies(evidence):
        yield DEPENDENT.format(follows, other_column)


def dependencies(evidence: PeopleEvidence) -> list[tuple[str, str]]:
    """Columns that follow from another one: each of its values that repeats goes with a single value of them.

    >>> from reid_sql.models.people.people_evidence import counted
    >>> codes = np.repeat([[0, 0], [1, 1], [2, 1]], 20, axis=0)
    >>> dependencies(counted(codes, ["zip", "state"], [["1", "2", "3"], ["A", "B"]], [False, False]))
    [('state', 'zip')]
    """
    found = []
    for (i, j), (first, second, _) in evidence.pairs.items():
        for one, other, codes in ((j, i, first), (i, j, second)):
            counts = evidence.counts[other]
            partners = np.bincount(codes, minlength=len(counts))
            repeated = counts > 1
            varies = len(evidence.counts[one]) > 1
            if varies and counts[repeated].sum() >= DEPENDENT_RECORDS and (partners[repeated] == 1).all():
                found.append((evidence.columns[one], evidence.columns[other]))
    return found


def sentence(
    columns: tuple[str, ...], people: float, unique: Share, *, counted: bool = False, foreign: bool = False
) -> str:
    """Say the share of unique people so that it can be quoted.

    >>> sentence(("age", "zip"), 67e6, Share(0.008, 0.004, 0.015))[:98]
    'Of 67 million people about 0.8 % (0.4 to 1.5 %) would be the only one with their values of age and'
    """
    named = " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))
    whom = f"the only one with their values of {named}"
    if counted:
        return f"Of these {_people(people)} people {_percent(unique.estimate)} % are {whom}."
    ends = f"{_percent(unique.low)} to {_percent(unique.high)} %"
    held = (
        "the data are unlike the tables that the interval was measured on"
        if foreign
        else "in 95 of 100 tables of people like those it was measured on the interval held the truth"
    )
    share = _percent(unique.estimate)
    told = share if " " in share else f"about {share}"
    about = f"Of {_people(people)} people {told} % ({ends}) would be {whom}"
    return f"{about}; the figure assumes a random sample of them, and {held}."


def _people(count: float) -> str:
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if count >= unit:
            return f"{count / unit:.3g} {word}"
    return f"{count:,.0f}"


def _percent(share: float) -> str:
    """Two figures that count, none of them lost near 0 or 100.

    >>> [_percent(share) for share in (0.008, 0.0, 0.1234, 0.99996, 0.00001, 1e-9)]
    ['0.8', '0', '12', '99.996', '0.001', 'less than 0.001']
    """
    points = 100 * share
    if points in {0.0, 100.0}:
        return f"{points:.0f}"
    if points < LEAST_SAID or points > 100 - LEAST_SAID:
        return f"less than {LEAST_SAID}" if points < LEAST_SAID else f"more than {100 - LEAST_SAID}"
    least = min(points, 100 - points)
    digits = int(np.clip(1 - np.floor(np.log10(least)), 0, 4))
    return f"{points:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{points:.0f}"
