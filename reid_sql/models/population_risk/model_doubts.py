"""What casts doubt on the scores of a model of people, by the size of the population.

A model is fitted once and asked for any population. Its doubts are those of `population_risk`, tried at a few
sizes, so that scores, forecasts and saved models have them without the evidence.

Where a table is both overdispersed and above main effects, a part of its people fills a few cells and the
rest is alone. One shape serves both, and the mean score was a tenth to a third of the true share in 17 of 17
samples of made-up residents of institutions; of 88 samples of real tables, none was both. Scores are also far
too low where columns are a key.
"""

from dataclasses import replace
from typing import Final

from reid_sql.models.classes import repeats
from reid_sql.models.fitted_model import Doubt
from reid_sql.models.people.evidence import PeopleEvidence, select_columns
from reid_sql.models.people.keys import find_key
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.people.overdispersion import STATUS_OVERDISPERSED
from reid_sql.models.population_risk.answer import join_names
from reid_sql.models.population_risk.doubts import (
    MIN_RECORDS,
    ONLY_BOUND,
    STATUS_EVEN,
    STATUS_FEW_RECORDS,
    STATUS_FEWER_REPEATS,
    STATUS_GROUP_SAMPLE,
    STATUS_KEY,
    STATUS_NEAR_IDENTIFIER,
    STATUS_NEAR_KEY,
    STATUS_REPEATED_PEOPLE,
    STATUS_UNLIKE_PEOPLE,
    STATUS_WEIGHTED,
    UNLIKE_REFERENCE,
    compare,
    list_doubts,
    may_all_be_small,
    may_be_even,
)

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
        names = join_names([free.columns[j] for j in key.columns])
        status = STATUS_NEAR_KEY if key.agreeing else STATUS_KEY
        doubts.append(Doubt(status.format(names), understates=True))
    return tuple(doubts)


def _may_be_even(model: PeopleModel, evidence: PeopleEvidence, people: float) -> bool:
    """Whether classes of fewer than K may all have one size, as after microaggregation."""
    return (
        int(evidence.histogram.class_size.max()) > 1
        and may_all_be_small(evidence.histogram, people, K)
        and may_be_even(model)
    )
