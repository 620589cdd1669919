"""How many people of a population are unique by a sample's columns: shares, bounds, a status and a sentence.

The model of people predicts the shares; `doubts` lists what casts doubt on them, and where only a provable
bound remains.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.people.evidence import (
    PeopleEvidence,
    count_records,
    order_columns,
    reorder_columns,
    row_keys,
    select_columns,
)
from reid_sql.models.people.fit import fit
from reid_sql.models.people.functional_dependencies import (
    Dependency,
    choose_dependencies,
    describe_dependencies,
    find_dependencies,
    list_free_columns,
)
from reid_sql.models.people.keys import MIN_CHANCE, Key, find_key
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.repeated_people import RepeatedPeople
from reid_sql.models.population_risk.crowded_classes import (
    CrowdedClasses,
    drop_classes,
    find_crowded_classes,
)
from reid_sql.models.population_risk.doubts import (
    ASSUMPTION_CROWD,
    MAX_HIGH_WITHOUT_REPEATS,
    ONE_ROW_PER_PERSON,
    ONLY_BOUND,
    STATUS_ALL_EQUAL,
    STATUS_EVEN,
    STATUS_FEWER_REPEATS,
    STATUS_KEY,
    STATUS_NO_REPEATS,
    STATUS_REPEATED_PEOPLE,
    STATUS_WEIGHTED,
    UNLIKE_REFERENCE,
    compare,
    describe_key,
    join_names,
    list_assumptions,
    list_doubts,
    may_all_be_small,
    may_be_even,
)
from reid_sql.models.population_risk.intervals import Share
from reid_sql.models.population_risk.shares import (
    STATUS_COUNTED,
    Bounds,
    Shares,
    count_shares,
    predict_shares,
    prove_bounds,
)
from reid_sql.parameters import COUNT, ColumnNames, Number

CODE_KEY: Final = STATUS_KEY.partition(":")[0]
# classes, such as one of each answer that respondents repeat
MAX_CROWDED_BESIDE_REPEATS: Final = 10
MIN_PERCENT: Final = 0.001  # that a sentence shows
RELIABLE: Final = "For 95 of 100 comparable tables of people, the interval contains the true value."
SENTENCE_UNWEIGHTED: Final = "The interval was tested on samples with weights of 1 to 4."
SENTENCE_FEWER_REPEATS: Final = (
    "Fewer records repeat than the model expects, so more people may be unique."
)
SENTENCE_NO_REPEATS: Final = "No record repeats, so the upper end is what is provable."
SENTENCE_UNLIKE_REFERENCE: Final = "The table is unlike the reference tables: its interval is wider, and may still miss the true value."
IF_SAMPLE: Final = "if the table is a random sample of them with one row per person"


def count_sentence(columns: ColumnNames, people: float, share: float) -> str:
    """State what was counted where the sample is the population.

    >>> count_sentence(("age", "zip"), 50, 0.5)
    'Of these 50 people, 50 % are unique by age and zip.'
    """
    percent = format_percent(share)
    return f"Of these {_format_people(people)} people, {percent} % are {_unique_by(columns)}."


def bound_sentence(columns: ColumnNames, people: float, unique: Share) -> str:
    """State the bound where no estimate is reliable.

    >>> bound_sentence(("age", "zip"), 67e6, Share(0.001, 0.0, 0.8))[:82]
    'This sample cannot tell: between 0 and 80 % of 67 million people are unique by age'
    """
    ends = f"between {format_percent(unique.low)} and {format_percent(unique.high)} %"
    people_of = f"of {_format_people(people)} people are {_unique_by(columns)}"
    return f"This sample cannot tell: {ends} {people_of}, {IF_SAMPLE}."


def estimate_sentence(
    columns: ColumnNames, people: float, unique: Share, reliability: str = RELIABLE
) -> str:
    """State the estimate and its interval, and how often such an interval contains the true value.

    >>> estimate_sentence(("age", "zip"), 67e6, Share(0.008, 0.004, 0.015))[:98]
    'Of 67 million people, about 0.8 % (0.4 to 1.5 %) are unique by age and zip, if the table is a rand'
    """
    ends = f"{format_percent(unique.low)} to {format_percent(unique.high)} %"
    share = format_percent(unique.estimate)
    share = share if " " in share else f"about {share}"
    risk = f"Of {_format_people(people)} people, {share} % ({ends}) are {_unique_by(columns)}"
    return f"{risk}, {IF_SAMPLE}. {reliability}"


def _unique_by(columns: ColumnNames) -> str:
    return "unique by " + join_names(columns)


def _format_people(count: float) -> str:
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if count >= unit:
            return f"{count / unit:.3g} {word}"
    return f"{count:,.0f}"


def format_percent(share: float) -> str:
    """Write a share in percent, with two significant digits of the distance to the nearer of 0 and 100.

    >>> [format_percent(share) for share in (0.008, 0.0, 0.1234, 0.99996, 0.00001, 1e-9)]
    ['0.8', '0', '12', '99.996', '0.001', 'less than 0.001']
    """
    points = 100 * share
    if points in {0.0, 100.0}:
        return f"{points:.0f}"
    if points < MIN_PERCENT or points > 100 - MIN_PERCENT:
        return (
            f"less than {MIN_PERCENT}" if points < MIN_PERCENT else f"more than {100 - MIN_PERCENT}"
        )
    digits = int(np.clip(1 - np.floor(np.log10(min(points, 100 - points))), 0, 4))
    return f"{points:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{points:.0f}"


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


@dataclass(frozen=True)
class PopulationRisk:
    """Shares of one population with intervals, a status, a sentence to quote, and provable bounds.

    A share is None where an estimate would be wrong; its ends are given.
    """

    population: float
    uniqueness: float | None
    uniqueness_low: float
    uniqueness_high: float
    correctness: float | None
    correctness_low: float
    correctness_high: float
    below_k: float | None
    below_k_low: float
    below_k_high: float
    status: str
    sentence: str
    uniqueness_provable_low: float
    uniqueness_provable_high: float
    correctness_provable_low: float
    correctness_provable_high: float
    below_k_provable_low: float
    below_k_provable_high: float
    method: str
    assumptions: str


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
        raise NoRecordsError
    sizes = COUNT.check("populations", populations).tolist()
    for people in sizes:
        if people < evidence.records:
            got = f"{people:,}".removesuffix(".0")
            raise OutOfDomainError(
                f"populations must be at least the {evidence.records:,} records of the sample, got {got}; pass the size of the population that the sample was drawn from"
            )
    return answer_by_fit(fit_sample(evidence, max(sizes), seed), evidence, sizes, k)


def answer_by_fit(
    fitted: "FittedSample", evidence: PeopleEvidence, populations: Sequence[float], k: int = 5
) -> list[PopulationRisk]:
    """Answer for each population by a sample that is fitted; ends fall as populations grow.

    Shares fall as a population grows, so an upper end for one holds for all larger ones. Lower ends follow.
    """
    predictions = {
        people: _predict(fitted, evidence, people, k) for people in sorted(set(populations))
    }
    for smaller, larger in pairwise(predictions):
        shares, doubts = predictions[larger]
        predictions[larger] = shares.at_most(predictions[smaller][0]), doubts
    return [_row(fitted, evidence, (people, k), *predictions[people]) for people in populations]


@dataclass(frozen=True)
class FittedSample:
    """A sample without crowded classes and without columns that others determine, and the model of it."""

    evidence: PeopleEvidence
    model: PeopleModel | None  # None where the sample is the population
    dependencies: Sequence[Dependency]
    is_certain: bool  # whether the columns left out are surely determined
    is_shown: bool = True  # whether enough records show it
    once: PeopleModel | None = None  # of each person once, where more records repeat than by chance
    crowd: CrowdedClasses | None = None
    key: Key | None = None  # its columns by number in the sample


def fit_sample(evidence: PeopleEvidence, largest: float, seed: int = 0) -> FittedSample:
    """Leave out the columns that others determine, and fit the rest if a population exceeds the sample."""
    order = order_columns(evidence)
    evidence = reorder_columns(evidence, order)
    dependencies = find_dependencies(evidence)
    dropped = choose_dependencies(dependencies, evidence.values)
    remaining = list_free_columns(evidence, dropped)
    free = select_columns(evidence, remaining)
    is_certain = all(one.is_certain for one in dropped)
    is_shown = all(one.is_shown for one in dropped)
    dependencies = [
        replace(one, determined=order[one.determined], by=order[one.by]) for one in dependencies
    ]
    if largest <= evidence.records:
        return FittedSample(free, None, dependencies, is_certain)
    key = find_key(free)
    if key is not None:
        key = replace(key, columns=tuple(sorted(order[remaining[j]] for j in key.columns)))
    model, outside, crowd = _set_crowd_apart(fit(free, seed), free, largest)
    repeated = model.repeated_people
    once = fit(count_repeats_once(outside, repeated), seed) if repeated.beyond_chance else None
    return FittedSample(outside, model, dependencies, is_certain, is_shown, once, crowd, key)


def _set_crowd_apart(
    model: PeopleModel, evidence: PeopleEvidence, largest: float
) -> tuple[PeopleModel, PeopleEvidence, CrowdedClasses | None]:
    """The model and the evidence of the records outside of crowded classes, if there are such classes.

    Rows of people who are in the table several times crowd classes, too, and so do groups that are drawn
    together. They are no crowd.
    """
    crowd = find_crowded_classes(model, evidence)
    repeats = model.repeated_people.beyond_chance
    if crowd is None or model.groups.is_group_sample(largest):
        return model, evidence, None
    if repeats and len(crowd.size) > MAX_CROWDED_BESIDE_REPEATS:
        return model, evidence, None
    outside = drop_classes(evidence, crowd)
    outside = reorder_columns(outside, order_columns(outside))
    # only the crowd may have differed
    dropped = choose_dependencies(find_dependencies(outside), outside.values)
    outside = select_columns(outside, list_free_columns(outside, dropped))
    model_outside = fit(outside, model.seed)
    if model_outside.repeated_people.beyond_chance:
        return model, evidence, None
    return model_outside, outside, crowd


def count_repeats_once(evidence: PeopleEvidence, repeated: RepeatedPeople) -> PeopleEvidence:
    """Count records that one person repeats once, as if the population contained each person once.

    Which classes are one person's is drawn by the chances at the upper end of the repeats beyond chance.
    """
    rng = np.random.default_rng(len(evidence.drawn))
    _, first, place = np.unique(row_keys(evidence.drawn), return_index=True, return_inverse=True)
    one_person = rng.random(len(first)) < repeated.class_chances
    is_first = np.zeros(len(evidence.drawn), dtype=np.bool_)
    is_first[first] = True
    drawn = evidence.drawn[is_first | ~one_person[place.ravel()]]
    codes, values = [], []
    for column_codes, names in zip(drawn.T, evidence.values, strict=True):
        seen, code = np.unique(column_codes, return_inverse=True)
        codes.append(code)
        values.append([names[place] for place in seen.tolist()])
    return count_records(np.stack(codes, axis=1), evidence.columns, values, evidence.ordered)


def _predict(
    fitted: FittedSample, evidence: PeopleEvidence, people: float, k: int
) -> tuple[Shares, list[str]]:
    """Predict the shares of a population, and list what casts doubt on them."""
    model, free = fitted.model, fitted.evidence
    if model is None or people == evidence.records:
        return count_shares(evidence.histogram, k), [STATUS_COUNTED]
    crowd, everybody = fitted.crowd, people
    people = people if crowd is None else crowd.count_others(people)
    comparison = compare(model, free, people, k)
    doubts = list(list_doubts(free, model, people, comparison))
    shares = predict_shares(model, people, k, random=not evidence.weighted, comparison=comparison)
    if fitted.once is not None:
        once = predict_shares(fitted.once, people, k, random=False).parts()
        shares = shares.with_ends(lambda name, one: (one.low, max(one.high, once[name].high)))
    high_by_model = shares.uniqueness.high
    if fitted.key is not None:
        shares = _include_key(shares, model, fitted.key, people, k)
    shares = (shares if crowd is None else crowd.include(shares, everybody, k)).in_order()
    bounds = _bounds(evidence, everybody, k, doubts)
    key = fitted.key if fitted.key is not None and fitted.key.is_possible else None
    if key is not None:
        doubts.append(describe_key(key, evidence.columns))
    is_mixed = crowd is not None and crowd.is_mixed_with(model)
    if STATUS_FEWER_REPEATS in doubts or key is not None or is_mixed or not fitted.is_shown:
        shares = bounds.raise_ends(shares)
    if key is not None and key.is_likely:
        shares = shares.at_upper_ends()
    if not ONLY_BOUND.isdisjoint(doubts):
        return bounds.replace_ends(shares), doubts
    if evidence.histogram.class_size.max() > 1 and may_all_be_small(
        evidence.histogram, everybody, k
    ):
        shares = _allow_small_classes(shares, fitted, model, bounds, doubts)
    elif evidence.histogram.class_size.max() == 1:  # no sample without repeats rules a key out
        doubts += [STATUS_NO_REPEATS] * (high_by_model < MAX_HIGH_WITHOUT_REPEATS)
        shares = bounds.raise_ends(shares)
    return bounds.tighten(shares), doubts


def _allow_small_classes(
    shares: Shares, fitted: FittedSample, model: PeopleModel, bounds: Bounds, doubts: list[str]
) -> Shares:
    """Shares where all people may be in classes below k, which the upper end of `below_k` then allows.

    It does where cells are even by the model, and where the model is in doubt.
    """
    high = max(shares.below_k.high, bounds.high["below_k"])
    raised = replace(shares, below_k=replace(shares.below_k, high=high))
    if may_be_even(model):
        doubts.append(STATUS_EVEN)
        return bounds.lower_ends(replace(raised, below_k=replace(raised.below_k, estimate=high)))
    is_doubtful = fitted.dependencies or fitted.key or not UNLIKE_REFERENCE.isdisjoint(doubts)
    return raised if is_doubtful else shares


def _include_key(shares: Shares, model: PeopleModel, key: Key, people: float, k: int) -> Shares:
    """Shares where some columns may be a key: by λ q where no column is NULL, else by the model alone.

    An upper end is at least the share at the lower end of λ; the estimate goes as far as a key is likely.
    """
    at_mean, at_least = (
        predict_shares(model.thin(each), people, k, random=False).parts()
        for each in (key.agreement, key.least_agreement)
    )

    def include(name: str, one: Share) -> Share:
        rise, most = (
            key.share * max(other[name].estimate - one.estimate, 0.0)
            for other in (at_mean, at_least)
        )
        estimate = one.estimate + (key.chance * rise if key.chance > MIN_CHANCE else 0.0)
        return Share(estimate, one.low, max(one.high, estimate, one.estimate + most))

    return shares.map(include)


def _bounds(evidence: PeopleEvidence, people: float, k: int, doubts: Sequence[str]) -> Bounds:
    random_sample = not evidence.weighted and STATUS_REPEATED_PEOPLE not in doubts
    return prove_bounds(evidence.histogram, people, k, random_sample=random_sample)


def is_estimate_wrong(doubts: Sequence[str]) -> bool:
    """Whether records repeat beyond chance in a table that is unlike the reference tables, as events do.

    The interval then holds, but the estimate errs by 17 points on average: the answer has none.
    """
    return STATUS_REPEATED_PEOPLE in doubts and not UNLIKE_REFERENCE.isdisjoint(doubts)


def _reliability(doubts: Sequence[str]) -> str:
    """Choose the sentence about the interval: only intervals like those of the tests claim their coverage."""
    if not UNLIKE_REFERENCE.isdisjoint(doubts):
        return SENTENCE_UNLIKE_REFERENCE
    if STATUS_FEWER_REPEATS in doubts:
        return SENTENCE_FEWER_REPEATS
    if STATUS_NO_REPEATS in doubts or any(doubt.startswith(CODE_KEY) for doubt in doubts):
        return SENTENCE_NO_REPEATS
    return SENTENCE_UNWEIGHTED if STATUS_WEIGHTED in doubts else RELIABLE


def _row(
    fitted: FittedSample,
    evidence: PeopleEvidence,
    sizes: tuple[float, int],
    shares: Shares,
    doubts: list[str],
) -> PopulationRisk:
    """One row of the answer; `sizes` are the people and k."""
    columns, people, counted = evidence.columns, sizes[0], STATUS_COUNTED in doubts
    is_wrong = is_estimate_wrong(doubts)
    bounds = _bounds(evidence, *sizes, doubts)
    assumptions = [*list_assumptions(evidence, people, certain_dependencies=fitted.is_certain)]
    assumptions += [ASSUMPTION_CROWD] * (fitted.crowd is not None)
    if counted:
        assumptions = [ONE_ROW_PER_PERSON]
        words = count_sentence(columns, people, shares.uniqueness.estimate)
    elif not ONLY_BOUND.isdisjoint(doubts) or is_wrong:
        words = bound_sentence(columns, people, shares.uniqueness)
    else:
        words = estimate_sentence(columns, people, shares.uniqueness, _reliability(doubts))
    notes = [STATUS_ALL_EQUAL] * int(evidence.histogram.classes.sum() == 1 < evidence.records)
    notes = [*doubts, *notes, *describe_dependencies(fitted.dependencies, columns)]
    xi, kappa, below = shares.uniqueness, shares.correctness, shares.below_k
    # Of people who are not unique at most half are matched rightly: 1/size is at most 1/2 in their classes.
    most_correct = max(min(kappa.high, (1 + xi.high) / 2), kappa.estimate)
    estimates = [None if is_wrong else one.estimate for one in (xi, kappa, below)]
    return PopulationRisk(
        *(people, estimates[0], xi.low, xi.high),
        *(estimates[1], kappa.low, most_correct),
        *(estimates[2], below.low, below.high),
        "; ".join(notes) or OK,
        words,
        *bounds.of("uniqueness", counted=counted),
        *bounds.of("correctness", counted=counted),
        *bounds.of("below_k", counted=counted),
        method=METHOD_COUNTED if counted else METHOD,
        assumptions="; ".join(assumptions),
    )
