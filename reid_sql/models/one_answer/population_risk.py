"""The one answer: how many people of a population a sample's columns single out, and how sure that is.

It comes in a sentence, too. The model of people gives the shares; this says when it does not know.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.one_answer import people_population
from reid_sql.models.one_answer.interval import Share
from reid_sql.models.one_answer.people_population import Shares
from reid_sql.models.people import curves, following, main_effects, people_fit, shape
from reid_sql.models.people.following import Dependence
from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.models.people.people_model import PeopleModel
from reid_sql.models.population.estimate import PopulationShares
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
COUNTED: Final = "counted"
FEW: Final = 100  # records; intervals were measured on samples of at least as many
MUCH_LARGER: Final = 2.0  # times the sample
REPEATS_TO_SHOW: Final = 3.0  # that a sample shows none of in 5 % of cases
FAR_SCATTER: Final = (
    -1.0
)  # ln a at 8 nats below which cells scatter farther than those of most tables of people
FAR_SLOPE: Final = -0.15  # of that, for each nat
FOREIGN: Final = 0.02  # by which Ξ may lie above the log-linear model's before the data count as foreign
LEAST_SAID: Final = 0.001  # per cent
IS_COUNTED: Final = "the sample is the population: counted"
OF_FEW: Final = "fewer than 100 records: the interval is what is provable"
OF_FOREIGN: Final = (
    "the data are unlike the tables of people that the interval was measured on (the "
    "log-linear model says far less): the lower end is 0, and the upper end what is provable"
)
OF_SCATTER: Final = (
    "cells scatter farther around the model's than in nearly all tables that the interval was measured on: "
    "the lower end is 0, and the upper end what is provable"
)
NOT_SURE: Final = (
    "too few records agree to be sure that columns follow from others: the upper end is what is provable"
)
TOO_SMALL: Final = "too few records to show people who stand in the table twice: the lower end is 0"
OF_GROUPS: Final = (
    "records share values in groups, as where households were sampled whole: no random sample of people; the "
    "lower end is 0, and the upper end what would be provable of one"
)
OF_TWINS: Final = (
    "more records repeat than chance explains, as where people stand in the table several times or share "
    "every column with their household: the lower ends allow for it; count people by entity"
)
NOTHING_REPEATS: Final = (
    "no record repeats in the sample: nothing in it keeps the shares below 1, so the upper end is 1"
)
ALL_ALIKE: Final = "all records of the sample are alike"
NOT_LARGER: Final = "the population is less than twice the sample: counting it would be surer"
OF_WEIGHTS: Final = "weights: the intervals were measured on samples without, and no upper end is provable"
FOREIGN_NOTES: Final = frozenset({OF_FOREIGN, OF_SCATTER, OF_GROUPS})
WITHOUT_LOWER: Final = FOREIGN_NOTES | {OF_FEW, TOO_SMALL}
WITHOUT_UPPER: Final = FOREIGN_NOTES | {OF_FEW, NOTHING_REPEATS, NOT_SURE}


@dataclass(frozen=True)
class PopulationRisk(PopulationShares):
    """Shares of one population, each with a 95 % interval; method, remarks, and a sentence to quote."""

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
    return answer_of(told_by(evidence, max(sizes), seed), evidence, sizes, k)


def answer_of(
    of: "Told", evidence: PeopleEvidence, populations: Sequence[float], k: int = 5
) -> list[PopulationRisk]:
    """Answer for each population by a model that is fitted."""
    rows = ((people, _shares(of, people, k)) for people in populations)
    return [_row(evidence, people, k, shares, of) for people, shares in rows]


def told_by(evidence: PeopleEvidence, most: float, seed: int = 0) -> "Told":
    """Leave out the columns that follow from others, and fit the rest where the sample is not all people."""
    found = following.dependences(evidence)
    left = following.followers(found, [len(own) for own in evidence.values])
    kept = following.without(evidence, [one.follows for one in left])
    model = people_fit.fit(kept, seed) if most > evidence.records else None
    return Told(kept, model, found, is_sure=all(one.is_sure for one in left))


@dataclass(frozen=True)
class Told:
    """What the sample tells without the columns that follow from others, and which do."""

    evidence: PeopleEvidence
    model: PeopleModel | None
    dependences: Sequence[Dependence]
    is_sure: bool  # that the columns left out follow from others


def _shares(of: Told, people: float, k: int) -> Shares:
    if of.model is None or people == of.evidence.records:
        return people_population.counted(of.evidence.histogram, k)
    return people_population.shares(of.model, people, k, random=not of.evidence.weighted)


def _row(
    evidence: PeopleEvidence, people: float, k: int, found: Shares, told: Told | None = None
) -> PopulationRisk:
    notes = list(_notes(evidence, people, found, told or Told(evidence, None, (), is_sure=True)))
    of = [found.uniqueness, found.correctness, found.below_k]
    if WITHOUT_UPPER.intersection(notes):
        held = curves.held(evidence.histogram, k).values()
        ends = [1.0 if evidence.weighted else clopper_pearson_upper(n, evidence.records) for n in held]
        of = [replace(one, high=max(end, one.estimate)) for one, end in zip(of, ends, strict=True)]
    if WITHOUT_LOWER.intersection(notes):
        of = [replace(share, low=0.0) for share in of]
    counted = people == evidence.records
    one, right, small = of
    return PopulationRisk(
        *(people, one.estimate, one.low, one.high),
        *(right.estimate, right.low, right.high),
        *(small.estimate, small.low, small.high),
        COUNTED if counted else METHOD,
        "; ".join(notes) or OK,
        sentence(evidence.columns, people, one, counted=counted, foreign=not FOREIGN_NOTES.isdisjoint(notes)),
    )


def _notes(evidence: PeopleEvidence, people: float, found: Shares, told: Told) -> Iterator[str]:
    """What a reader of the shares has to know."""
    if people == evidence.records:
        yield IS_COUNTED
    else:
        if evidence.records < FEW:
            yield OF_FEW
        if too_small(evidence.records, people):
            yield TOO_SMALL
        yield from _doubts(people, found, told)
        if evidence.histogram.class_size.max() == 1 < evidence.records:
            yield NOTHING_REPEATS
        if people < MUCH_LARGER * evidence.records:
            yield NOT_LARGER
        if evidence.weighted:
            yield OF_WEIGHTS
    if evidence.histogram.classes.sum() == 1 < evidence.records:
        yield ALL_ALIKE
    yield from following.told(told.dependences, evidence.columns)


def _doubts(people: float, found: Shares, told: Told) -> Iterator[str]:
    """Why the sample may be none of those that the interval was measured on."""
    other = main_effects.uniqueness(told.evidence, people)
    if other is not None and found.uniqueness.estimate - other > FOREIGN:
        yield OF_FOREIGN
    if told.model is not None and scattered(told.model.shapes, told.model.told[0].entropy):
        yield OF_SCATTER
    if told.model is not None and told.model.groups.whole(people):
        yield OF_GROUPS
    if not told.is_sure:
        yield NOT_SURE
    if told.model is not None and told.model.twins.beyond_chance:
        yield OF_TWINS


def too_small(records: int, people: float) -> bool:
    """Whether a sample may well hide that every person stands in the population twice.

    Each then repeats with chance n/N; of fewer than 3 repeats expected, a sample shows none in e^−3 = 5 % of
    cases, and what it hides would make nobody unique.

    >>> too_small(300, 1e5), too_small(1000, 1e5)
    (True, False)
    """
    return records * records / people < REPEATS_TO_SHOW


def scattered(weights: Floats, entropy: float) -> bool:
    """Whether cells scatter farther around the model's than those of nearly all tables of people.

    The mean of ln a, which falls as the entropy H grows, is below −1 − 0.15 (H − 8).

    >>> scattered(np.ones(56) / 56, 8.0), scattered(np.eye(56)[10], 8.0)
    (False, True)
    """
    return float(weights @ shape.LOG_SHAPES) < FAR_SCATTER + FAR_SLOPE * (entropy - shape.CENTRE)


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
