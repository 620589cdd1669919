"""What casts doubt on an interval, as a code and a sentence each, and what the interval assumes.

A status begins with its code, so that programs can test for it.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from reid_sql.models.people import overdispersion
from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.overdispersion import STATUS_OVERDISPERSED
from reid_sql.models.population import loglinear
from reid_sql.models.population_risk.intervals import MAX_ABOVE_MAIN_EFFECTS, Comparison
from reid_sql.models.population_risk.shares import predict_by_shape

MIN_RECORDS: Final = 100  # intervals were measured on samples of at least as many
MIN_POPULATION_RATIO: Final = 2.0  # of the population to the sample
MIN_EXPECTED_REPEATS: Final = 3.0  # fewer are not seen in 5 % of samples
MAX_HIGH_WITHOUT_REPEATS: Final = (
    0.95  # upper end of Ξ by the model; below it, what is provable says much less
)

STATUS_COUNTED: Final = "counted: the sample is the population"
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
