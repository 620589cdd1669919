"""What casts doubt on an interval or on scores, as a code and a sentence each, and what the interval assumes.

A status begins with its code, so that programs can test for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from reid_sql.models.classes import repeats
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.fitted_model import Doubt
from reid_sql.models.numerics.special_functions import gammainc
from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import PeopleEvidence, select_columns
from reid_sql.models.people.keys import Key, find_key
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.overdispersion import STATUS_OVERDISPERSED
from reid_sql.models.population import loglinear
from reid_sql.models.population_risk.intervals import MAX_ABOVE_MAIN_EFFECTS, Comparison
from reid_sql.models.population_risk.shares import predict_by_shape

MIN_RECORDS: Final = 100  # intervals were measured on samples of at least as many
MIN_POPULATION_RATIO: Final = 2.0  # of the population to the sample
MIN_EXPECTED_REPEATS: Final = 3.0  # fewer are not seen in 5 % of samples
MIN_CHANCE_OF_SMALL: Final = 0.02  # of as many pairs or triples, where all classes are small
MAX_SPREAD_OF_EVEN: Final = 0.65  # standard deviation of ln q, where classes are made even
MAX_HIGH_WITHOUT_REPEATS: Final = (
    0.95  # upper end of Ξ by the model; below it, what is provable says much less
)

STATUS_FEW_RECORDS: Final = "few_records: fewer than 100 records, so only a provable bound is given"
STATUS_NEAR_IDENTIFIER: Final = (
    "near_identifier: no value of a column repeats, so only a provable bound is given"
)
STATUS_GROUP_SAMPLE: Final = "group_sample: records were drawn in groups, such as households, so only an upper bound is given"
STATUS_UNLIKE_PEOPLE: Final = (
    "unlike_reference_tables: a second model estimates far less, so the interval is wider"
)
STATUS_FEWER_REPEATS: Final = "fewer_repeats: fewer records repeat than the model expects, so the upper end is what is provable"
STATUS_KEY: Final = "possible_key: no two records agree in {} together, so all may be unique"
STATUS_NEAR_KEY: Final = (
    "possible_key: fewer records agree in {} together than by chance, so most may be unique"
)
STATUS_EVEN: Final = (
    "even_classes: classes may all be of one size, so all people may be in small ones"
)
STATUS_NO_REPEATS: Final = "no_repeats: no record repeats, so the upper end is what is provable"
STATUS_REPEATED_PEOPLE: Final = (
    "repeated_people: more records repeat than by chance, so the interval is wider"
)
STATUS_NOT_LARGER: Final = (
    "not_larger: the population is less than twice the sample, so count it if you can"
)
STATUS_WEIGHTED: Final = (
    "weighted: the interval was tested on weights of 1 to 4, without a provable bound"
)
STATUS_ALL_EQUAL: Final = "all_equal: all records of the sample are equal"

ONE_ROW_PER_PERSON: Final = "one row per person"
ASSUMPTIONS: Final = ("random sample", ONE_ROW_PER_PERSON, "no whole households")
ASSUMPTION_NOBODY_TWICE: Final = "no person twice (the records are too few to test this)"
ASSUMPTION_MODEL: Final = "the model of people, since no record repeats"
ASSUMPTION_DEPENDENCIES: Final = "columns that determine others do so in the population"

ASSUMPTION_CROWD: Final = "identical records, such as blank ones, are as frequent in the population"

ONLY_BOUND: Final = frozenset({STATUS_FEW_RECORDS, STATUS_NEAR_IDENTIFIER, STATUS_GROUP_SAMPLE})
UNLIKE_REFERENCE: Final = frozenset({STATUS_UNLIKE_PEOPLE, STATUS_OVERDISPERSED})


def list_doubts(
    evidence: PeopleEvidence, model: PeopleModel, people: float, comparison: Comparison
) -> Iterator[str]:
    """What a reader of the shares has to know; `evidence` without the columns that others determine."""
    if evidence.records < MIN_RECORDS:
        yield STATUS_FEW_RECORDS
    if is_near_identifier(evidence):
        yield STATUS_NEAR_IDENTIFIER
    if model.groups.is_group_sample(people):
        yield STATUS_GROUP_SAMPLE
    if comparison.above_main_effects > MAX_ABOVE_MAIN_EFFECTS:
        yield STATUS_UNLIKE_PEOPLE
    if comparison.overdispersion > 0:
        yield STATUS_OVERDISPERSED
    if model.has_fewer_repeats:
        yield STATUS_FEWER_REPEATS
    if model.repeated_people.beyond_chance:
        yield STATUS_REPEATED_PEOPLE
    if people < MIN_POPULATION_RATIO * evidence.records:
        yield STATUS_NOT_LARGER
    if evidence.weighted:
        yield STATUS_WEIGHTED


def list_assumptions(
    evidence: PeopleEvidence, people: float, *, certain_dependencies: bool
) -> Iterator[str]:
    """What the interval assumes, of which the sample shows nothing."""
    yield from ASSUMPTIONS
    if may_hide_duplicates(evidence.records, people):
        yield ASSUMPTION_NOBODY_TWICE
    if evidence.histogram.class_size.max() == 1:
        yield ASSUMPTION_MODEL
    if not certain_dependencies:
        yield ASSUMPTION_DEPENDENCIES


def is_near_identifier(evidence: PeopleEvidence) -> bool:
    """Whether a column has another value in every record drawn, so that nothing shows how often it repeats.

    >>> from reid_sql.models.people.evidence import count_records
    >>> codes, names = np.arange(200)[:, None], [str(n) for n in range(200)]
    >>> is_near_identifier(count_records(codes, ["id"], [names], [False]))
    True
    """
    drawn = evidence.drawn
    return (
        any(len(np.unique(column)) == len(column) for column in drawn.T)
        if len(drawn) > 1
        else False
    )


def may_all_be_small(histogram: Histogram, people: float, k: int) -> bool:
    """Whether the sample does not rule out that all people are in classes of fewer than k, of about one size.

    Then each has at most k − 2 others, and the n²/2N pairs of a person and another who both are in the sample
    are at most n² (k − 2)/2N on average. If all have as many, or a Poisson number, the C₂ pairs of records
    that agree go with 2 C₂²/3n triples at most: C₃ = n μ²/6 where C₂ = n μ/2. Cells of different sizes have
    more. Poisson chances test both.

    >>> sizes = np.array([1, 2, 3])
    >>> even = Histogram(sizes, np.array([700, 20, 0]), np.array([700, 40, 0]))
    >>> uneven = Histogram(sizes, np.array([700, 20, 5]), np.array([700, 40, 15]))
    >>> [may_all_be_small(each, 24_000, 5) for each in (even, uneven)], may_all_be_small(even, 240_000, 5)
    ([True, False], False)
    """
    size, classes, records = histogram.class_size, histogram.classes, float(histogram.records.sum())
    if size[classes > 0].max() >= k:
        return False
    pairs = float(classes @ (size * (size - 1) / 2))
    triples = float(classes @ (size * (size - 1) * (size - 2) / 6))
    most = np.array([(k - 2) * records**2 / (2 * people), 2 * pairs**2 / (3 * records)])
    counts = np.array([pairs, triples])
    chances = np.where(counts > 0, gammainc(np.maximum(counts, 1), np.maximum(most, 1e-9)), 1.0)
    return bool((chances > MIN_CHANCE_OF_SMALL).all())


def may_be_even(model: PeopleModel) -> bool:
    """Whether cells hardly differ by the model, or it knows a single column, of which every class is a value.

    Cells of tables of people differ by 0.6 nats or more, in most by 1 to 3.
    """
    single = len(model.mixture.tree.columns) == 1
    return single or float(model.drawn_log_q.std()) < MAX_SPREAD_OF_EVEN


def may_hide_duplicates(records: int, people: float) -> bool:
    """Whether a sample may well hide that every person is in the population twice.

    Each then repeats with chance n/N; of fewer than 3 repeats expected, a sample contains none with
    probability e^−3 = 5 %, and nobody would be unique.

    >>> may_hide_duplicates(300, 1e5), may_hide_duplicates(1000, 1e5)
    (True, False)
    """
    return records * records / people < MIN_EXPECTED_REPEATS


# How a table compares with tables of people: shares by a log-linear model of main effects, overdispersion.
#
# Columns are independent, with negative binomial counts: a class is expected to have μ = n Π_j p_j records.
# The share p_j of a value leaves out the record itself, else a value that occurs once would have 1/n. A
# class of f records is drawn f times as often as one of 1, so it counts by 1/f of its records. Source:
# Skinner & Shlomo 2008.

MAX_SHAPE: Final = 1e6  # as good as Poisson


def compare(model: PeopleModel, evidence: PeopleEvidence, people: float, k: int) -> Comparison:
    """Compare a table with tables of people; main effects have no weights."""
    excess = model.excess_overdispersion
    by_main_effects = None if evidence.weighted else main_effects(model, evidence, people, k)
    if by_main_effects is None:
        return Comparison(overdispersion=excess)
    uniqueness = float(model.shapes @ predict_by_shape(model, "uniqueness", people, k).values)
    return Comparison(by_main_effects, uniqueness - by_main_effects["uniqueness"], excess)


def main_effects(
    model: PeopleModel, evidence: PeopleEvidence, people: float, k: int
) -> dict[str, float] | None:
    """The three shares; None where all classes have one size, or main effects repeat the sample."""
    n, size = evidence.records, evidence.drawn_size
    log_shares = [
        column.log_left_out[codes]
        for column, codes in zip(model.marginals, evidence.drawn.T, strict=True)
    ]
    log_expected = np.log(n) + np.sum(log_shares, axis=0)
    if (size == size[0]).all() or loglinear.is_saturated(size, log_expected):
        return None
    expected = np.exp(log_expected)
    q, shape = expected / n, min(loglinear.fit_shape(size, expected, 1 / size), MAX_SHAPE)
    unique = np.where(size == 1, overdispersion.uniqueness_known(q, shape, n, people), 0.0)
    return {
        "uniqueness": float(unique.mean()),
        "correctness": float(overdispersion.correctness_known(size, q, shape, n, people).mean()),
        "below_k": float(overdispersion.below_k_known(size, q, shape, (n, people), k).mean()),
    }


def describe_key(key: Key, columns: Sequence[str]) -> str:
    """Name the columns that may be a key together."""
    status = STATUS_NEAR_KEY if key.agreeing else STATUS_KEY
    return status.format(join_names([columns[j] for j in key.columns]))


def join_names(columns: Sequence[str]) -> str:
    """Join names of columns.

    >>> join_names(["age", "sex", "zip"]), join_names(["age"])
    ('age, sex and zip', 'age')
    """
    return " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))


# What casts doubt on the scores of a model of people, by the size of the population. A model is fitted once
# and asked for any population. Its doubts are those of an interval, tried at a few sizes, so that scores,
# forecasts and saved models have them without the evidence. Where a table is both overdispersed and above
# main effects, a part of its people fills a few cells and the rest is alone. One shape serves both, and the
# mean score was a tenth to a third of the true share in 17 of 17 samples of made-up residents of
# institutions; of 88 samples of real tables, none was both. Scores are also far too low where columns are a
# key.

# Of shapes below those of nearly all tables of people. Where the sample shows nothing of the shape, as in a
# table of a few full cells, it is that of the prior, a half to two thirds.
MIN_CHANCE_OF_OVERDISPERSION: Final = 0.95
# of populations to the sample, that are tried; a doubt holds up to the next one that is without it
RATIOS: Final = (2.0, 5.0, 20.0, 100.0, 1e3, 1e4, 1e5)
STATUS_OF_SCORES: Final = {
    STATUS_FEWER_REPEATS: repeats.STATUS_FEWER_REPEATS,
    STATUS_NEAR_IDENTIFIER: "near_identifier: no value of a column repeats, so scores depend on the model alone",
    STATUS_GROUP_SAMPLE: "group_sample: records were drawn in groups, such as households, so scores may be wrong",
    STATUS_UNLIKE_PEOPLE: "unlike_reference_tables: a second model estimates far less, so scores may be wrong",
    STATUS_EVEN: "even_classes: classes may all be of one size, so scores may be too high",
    STATUS_REPEATED_PEOPLE: "repeated_people: more records repeat than by chance, so scores may be wrong",
}
K: Final = 5  # of even classes, as population_risk has it by default
NOT_OF_SCORES: Final = {STATUS_FEW_RECORDS, STATUS_WEIGHTED}  # which scores have by themselves


def find_doubts(model: PeopleModel, evidence: PeopleEvidence) -> tuple[Doubt, ...]:
    """Find the doubts on a model that was fitted to this evidence.

    >>> import numpy as np
    >>> from reid_sql.models.people.evidence import count_records
    >>> from reid_sql.models.people.fit import fit
    >>> rng, names = np.random.default_rng(1), [str(number) for number in range(20)]
    >>> evidence = count_records(rng.integers(0, 20, (400, 2)), ["a", "b"], [names] * 2, [False] * 2)
    >>> find_doubts(fit(evidence), evidence)
    ()
    """
    doubts = [Doubt(repeats.STATUS_NO_REPEATS)] * bool(
        evidence.histogram.class_size.max() == 1 < evidence.records
    )
    if evidence.records < MIN_RECORDS:  # too few to test more
        return (*doubts, *[Doubt(repeats.STATUS_FEWER_REPEATS)] * model.has_fewer_repeats)
    free_columns = sorted(model.free_columns)
    free = select_columns(evidence, free_columns)
    free_model = replace(model, marginals=tuple(model.marginals[j] for j in free_columns))
    places_by_status: dict[str, list[int]] = {}
    for place, ratio in enumerate(RATIOS):
        people = ratio * evidence.records
        listed = [*list_doubts(free, free_model, people, compare(free_model, free, people, 2))]
        if ONLY_BOUND.isdisjoint(listed) and _may_be_even(free_model, evidence, people):
            listed.append(STATUS_EVEN)
        for status in listed:
            places_by_status.setdefault(status, []).append(place)
    ends = (0.0, *(ratio * evidence.records for ratio in RATIOS), float("inf"))
    if model.chance_of_overdispersion < MIN_CHANCE_OF_OVERDISPERSION:
        places_by_status.pop(STATUS_OVERDISPERSED, None)
    understating = {STATUS_FEWER_REPEATS}
    if places_by_status.keys() >= UNLIKE_REFERENCE:
        understating |= UNLIKE_REFERENCE
    for status, places in places_by_status.items():
        if status not in NOT_OF_SCORES:
            # one place later in `ends`: the size tried before the first, and the one after the last
            sizes = ends[places[0]], ends[places[-1] + 2]
            named = STATUS_OF_SCORES.get(status, status)
            doubts.append(Doubt(named, *sizes, understates=status in understating))
    key = find_key(free)
    if key is not None and key.is_possible:
        doubts.append(Doubt(describe_key(key, free.columns), understates=True))
    return tuple(doubts)


def _may_be_even(model: PeopleModel, evidence: PeopleEvidence, people: float) -> bool:
    """Whether classes of fewer than K may all have one size, as after microaggregation."""
    return (
        int(evidence.histogram.class_size.max()) > 1
        and may_all_be_small(evidence.histogram, people, K)
        and may_be_even(model)
    )
