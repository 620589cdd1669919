"""What stands against an interval, as a code and a sentence each, and what the interval assumes.

A status begins with its code, so that programs can test for it.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from reid_sql.models.people.evidence import PeopleEvidence
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population_risk.intervals import MAX_ABOVE_MAIN_EFFECTS, Comparison

MIN_RECORDS: Final = 100  # intervals were measured on samples of at least as many
MIN_POPULATION_RATIO: Final = 2.0  # of the population to the sample
MIN_EXPECTED_REPEATS: Final = 3.0  # fewer are not seen in 5 % of samples

STATUS_COUNTED: Final = "counted: the sample is the population"
STATUS_FEW_RECORDS: Final = "few_records: fewer than 100 records, so only a provable bound is given"
STATUS_NEAR_IDENTIFIER: Final = (
    "near_identifier: no value of a column repeats, so only a provable bound is given"
)
STATUS_GROUP_SAMPLE: Final = (
    "group_sample: records were drawn in groups, such as households, so only an upper bound is given"
)
STATUS_UNLIKE_PEOPLE: Final = (
    "unlike_reference_tables: the log-linear model estimates far less, so the interval is wider"
)
STATUS_OVERDISPERSED: Final = (
    "overdispersed: cells differ from the model more than in reference tables, so the interval is wider"
)
STATUS_REPEATED_PEOPLE: Final = (
    "repeated_people: more records repeat than by chance, so the interval is wider"
)
STATUS_NOT_LARGER: Final = "not_larger: the population is less than twice the sample, so count it if you can"
STATUS_WEIGHTED: Final = (
    "weighted: the interval was measured on unweighted samples, and no upper end is provable"
)
STATUS_ALL_EQUAL: Final = "all_equal: all records of the sample are equal"

ONE_ROW_PER_PERSON: Final = "one row per person"
ASSUMPTIONS: Final = ("random sample", ONE_ROW_PER_PERSON, "no whole households")
ASSUMPTION_NOBODY_TWICE: Final = "nobody twice, which so few records would not show"
ASSUMPTION_MODEL: Final = "the model of people, since no record repeats"
ASSUMPTION_DEPENDENCIES: Final = "columns that determine others do so in the population"

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
    if model.repeated_people.beyond_chance:
        yield STATUS_REPEATED_PEOPLE
    if people < MIN_POPULATION_RATIO * evidence.records:
        yield STATUS_NOT_LARGER
    if evidence.weighted:
        yield STATUS_WEIGHTED


def list_assumptions(evidence: PeopleEvidence, people: float, *, certain_dependencies: bool) -> Iterator[str]:
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
    return any(len(np.unique(column)) == len(column) for column in drawn.T) if len(drawn) > 1 else False


def may_hide_duplicates(records: int, people: float) -> bool:
    """Whether a sample may well hide that every person is in the population twice.

    Each then repeats with chance n/N; of fewer than 3 repeats expected, a sample contains none with
    probability e^−3 = 5 %, and nobody would be unique.

    >>> may_hide_duplicates(300, 1e5), may_hide_duplicates(1000, 1e5)
    (True, False)
    """
    return records * records / people < MIN_EXPECTED_REPEATS
