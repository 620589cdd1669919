"""What is measured on equivalence classes: prosecutor and journalist risk, distinction and separation.

Every measure here needs only how many classes, and how many records, have which size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any, Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.parameters import THRESHOLD, Floats, Integers

OK: Final = "ok"
STATUS_REFUSED: Final = "refused: {}"  # the sentence of the refusal, for one group of many
STATUS_NO_PAIR: Final = (
    "one_record: separation is not available, since one record leaves no pair to compare"
)
STATUS_LARGER_SETS: Final = "incomplete: sets of more than {} of the {} columns were not searched"
STATUS_NO_DISTINCTION: Final = (
    "wildcards: distinction is not available, since a NULL matches any value"
)
STATUS_UNCOVERED: Final = "not_covered: {} records match fewer people in the population table, so the table's count decides"


@dataclass(frozen=True)
class Classes:
    """The equivalence classes: values by column, records that match them, records that have exactly them."""

    values: Mapping[str, Sequence[Any]]
    class_size: Sequence[int]
    records: Sequence[int]


@dataclass(frozen=True)
class Histogram:
    """How many classes, and how many records, have each class size; sizes are distinct and ascending.

    Where NULL may be any value, `blank_records` of them have none at all; else they are not counted, and it
    is None or NaN.
    """

    class_size: Integers  # (sizes,)
    # (sizes,); parts of classes where people count in their smallest one
    classes: Integers | Floats
    records: Integers  # (sizes,)
    blank_records: Integers | None = field(default=None, kw_only=True)  # (sizes,)


def count_sizes(sizes: Integers) -> Histogram:
    """Count classes of these sizes."""
    distinct, classes = np.unique(sizes, return_counts=True)
    return Histogram(distinct, classes, distinct * classes)


def count_people(class_size: Integers, people: Integers) -> Histogram:
    """Count classes by their people, each person in the smallest of their classes.

    A class of s people of whom r have no smaller one counts as r/s of a class: then class_size × classes is
    the number of people, and the mean of 1/s over people is classes per person. Whole where all r are s.

    >>> count_people(np.array([1, 2]), np.array([4, 3])).classes.tolist()
    [4.0, 1.5]
    """
    has_people = people > 0
    size, records = class_size[has_people], people[has_people]
    whole = (records % size == 0).all()
    return Histogram(size, records // size if whole else records / size, records)


def weigh_classes(histogram: Histogram) -> Histogram:
    """Weigh the classes of a histogram of people, which overlap where a person has several rows.

    Others are left as they are; classes that overlap because NULL may be any value are refused elsewhere.

    >>> both_in_two = Histogram(np.array([2]), np.array([2]), np.array([3]))
    >>> weigh_classes(both_in_two).classes.tolist()
    [1.5]
    """
    blank = histogram.blank_records
    if blank is not None and np.isfinite(np.asarray(blank, dtype=np.float64)).any():
        return histogram
    if np.array_equal(histogram.class_size * histogram.classes, histogram.records):
        return histogram
    return count_people(histogram.class_size, histogram.records)


@dataclass(frozen=True)
class PopulationHistogram(Histogram):
    """The sample's classes and records by class size in the population; `uncovered` have fewer there.

    Uncovered are the records whose class is smaller in the population than in the sample.
    """

    uncovered: Integers  # (sizes,)


@dataclass(frozen=True)
class ClassRisk:
    """Risk of re-identification by class size; `uniqueness` and `records_at_risk` are shares of records."""

    records: int
    classes: int
    k: int
    unique_records: int
    uniqueness: float
    highest_risk: float
    average_risk: float
    average_class_risk: float
    records_at_risk: float
    threshold: float


@dataclass(frozen=True)
class ProsecutorRisk(ClassRisk):
    """Risk by an attacker who knows that the person is in the table, and the records without any value."""

    blank_records: int | None


@dataclass(frozen=True)
class JournalistRisk(ClassRisk):
    """Risk against a population table, the records that it does not cover, and those without any value."""

    uncovered_records: int
    status: str
    blank_records: int | None


@dataclass(frozen=True)
class SubsetCounts:
    """For each subset of the columns: records, classes, ordered pairs of alike records, how NULLs count.

    `reidentifications` are those to expect, the sum of 1/class_size over the records: the classes, where each
    record is in one. `unique_records` are in a class of one.
    """

    subset: Sequence[Sequence[str]]  # (subsets,)
    records: Integers  # (subsets,)
    classes: Integers  # (subsets,)
    reidentifications: Floats  # (subsets,)
    pairs_alike: Sequence[int]  # (subsets,)
    unique_records: Integers  # (subsets,)
    nulls: Sequence[str]  # (subsets,)


@dataclass(frozen=True)
class AttributeRisk:
    """How well a subset of the columns distinguishes records."""

    columns: list[str]
    distinction: float | None
    separation: float | None
    records: int
    classes: int
    # records, or people, that are the only one with their values of these columns
    unique_records: int
    status: str


def class_risk(histogram: Histogram, threshold: float = 0.2) -> ClassRisk:
    """Summarise the risk 1/size over records: the highest, the average, and the share above `threshold`.

    `average_risk` is the mean over records (classes/records: the share that an attacker who links every
    person gets right), `average_class_risk` the mean over classes. Refuses an empty histogram and a threshold
    outside [0, 1].

    >>> import numpy as np
    >>> nine_and_one = Histogram(np.array([1, 9]), np.array([1, 1]), np.array([1, 9]))
    >>> risk = class_risk(nine_and_one)
    >>> risk.k, risk.average_risk, round(risk.average_class_risk, 3), risk.records_at_risk
    (1, 0.2, 0.556, 0.1)
    """
    limit = float(THRESHOLD.check("threshold", threshold))
    sizes, classes, weights = histogram.class_size, histogram.classes, histogram.records
    records = int(weights.sum())
    if records == 0:
        raise NoRecordsError
    risk = 1.0 / sizes
    unique = int(weights[sizes == 1].sum())
    return ClassRisk(
        records=records,
        classes=int(classes.sum()),
        k=int(sizes.min()),
        unique_records=unique,
        uniqueness=unique / records,
        highest_risk=float(risk.max()),
        average_risk=float((weights * risk).sum() / records),
        average_class_risk=float((classes * risk).sum() / classes.sum()),
        records_at_risk=float(weights[risk > limit].sum() / records),
        threshold=limit,
    )


def prosecutor_risk(histogram: Histogram, threshold: float = 0.2) -> ProsecutorRisk:
    """Summarise the risk 1/size, and count the blank records, which match all others.

    >>> import numpy as np
    >>> blank = Histogram(np.array([4]), np.array([2]), np.array([4]), blank_records=np.array([1]))
    >>> prosecutor_risk(blank).blank_records
    1
    """
    return ProsecutorRisk(
        **asdict(class_risk(histogram, threshold)), blank_records=_count_blank_records(histogram)
    )


def _count_blank_records(histogram: Histogram) -> int | None:
    """How many records have no value; None where NULL is no wildcard, so that they were not counted."""
    number = histogram.blank_records
    return None if number is None or np.isnan(number).any() else int(number.sum())


def journalist_risk(histogram: PopulationHistogram, threshold: float = 0.2) -> JournalistRisk:
    """Summarise the risk 1/size with the size of each record's class in the population.

    >>> import numpy as np
    >>> ten = PopulationHistogram(np.array([10]), np.array([1]), np.array([2]), np.array([0]))
    >>> journalist_risk(ten).average_risk
    0.1
    """
    uncovered = int(histogram.uncovered.sum())
    status = STATUS_UNCOVERED.format(uncovered) if uncovered else OK
    return JournalistRisk(
        **asdict(class_risk(histogram, threshold)),
        uncovered_records=uncovered,
        status=status,
        blank_records=_count_blank_records(histogram),
    )


def search_status(largest: int, width: int) -> str:
    """Say whether sets of more columns than were searched may leave records with too few, too.

    >>> search_status(2, 2), search_status(2, 3)
    ('ok', 'incomplete: sets of more than 2 of the 3 columns were not searched')
    """
    return OK if largest >= width else STATUS_LARGER_SETS.format(largest, width)


def attribute_risk(counts: SubsetCounts) -> list[AttributeRisk]:
    """Distinction and separation of every subset of columns, None with a status where there is no answer.

    Distinction is the mean of 1/class_size, and separation the share of pairs that differ. With classes of
    size s and N records:

        distinction = classes / N
        separation  = 1 − Σ s (s − 1) / (N (N − 1))

    People count by the smallest of their classes. Where NULL matches anything, separation still counts pairs,
    but distinct combinations mean nothing.

    >>> import numpy as np
    >>> alike = [3 * 2 + 2 * 1]
    >>> counts = (np.array([5]), np.array([2]), np.array([2.0]), alike, np.array([0]))
    >>> risk = attribute_risk(SubsetCounts([["sex"]], *counts, ["value"]))[0]
    >>> risk.columns, risk.distinction, risk.separation, risk.unique_records
    (['sex'], 0.4, 0.6, 0)
    """
    sizes = [len(names) for names in counts.subset]
    searched = search_status(max(sizes), sizes.count(1)) if sizes else OK
    risks = []
    for place in range(len(sizes)):
        records, alike = int(counts.records[place]), int(counts.pairs_alike[place])
        if records == 0:
            raise NoRecordsError
        pairs = records * (records - 1)
        is_wildcard = counts.nulls[place] == "wildcard"
        problems = [STATUS_NO_DISTINCTION] * is_wildcard + [STATUS_NO_PAIR] * (records == 1)
        problems += [searched] * (searched != OK)
        risks.append(
            AttributeRisk(
                columns=list(counts.subset[place]),
                distinction=None
                if is_wildcard
                else float(counts.reidentifications[place]) / records,
                separation=(pairs - alike) / pairs if pairs else None,
                records=records,
                classes=int(counts.classes[place]),
                unique_records=int(counts.unique_records[place]),
                status="; ".join(problems) or OK,
            )
        )
    return risks


# Households: the risk that at least one member is identified, and the class of a household as a whole.
#
# A member's risk r is 1/n, where n people have the member's values. The risk of a household is the chance
# that at least one of its members is identified, 1 - Π (1 - r), if each is identified or not for itself.
# That is the household risk of sdcMicro. Source: Templ, Kowarik & Meindl 2015 (hierarchical risk). An
# attacker who knows the values of all members looks for a household with the same multiset of values: of m
# such households, one is the right one.


@dataclass(frozen=True)
class Households:
    """Households by the size of their class, their members, and the risk of both; each line counts some."""

    class_size: Integers  # (kinds,): households with the same multiset of values
    members: Integers  # (kinds,)
    risk: Floats  # (kinds,): that at least one member is identified
    member_risk: Floats  # (kinds,): the sum over the members of 1/n
    households: Integers  # (kinds,)


@dataclass(frozen=True)
class HouseholdRisk:
    """The risk of households, and of their members."""

    households: int  # households of the table
    records: int  # members of all households
    average_risk: float  # mean over people of the risk of their household
    average_household_risk: float  # mean over households of the risk that a member is identified
    highest_risk: float  # of any household
    households_at_risk: float  # share of households whose risk is above the threshold
    average_member_risk: float  # mean over people of their own risk, as in `risk_summary`
    k: int  # households in the smallest class of households
    unique_households: int  # households whose members' values no other household has
    uniqueness: float  # their share of the households
    average_class_risk: float  # mean over households of 1/size of their class
    threshold: float


def household_risk(kinds: Households, threshold: float) -> HouseholdRisk:
    """Summarize the households; refuse an empty table.

    Two couples whose members are alike, and a person alone who is unlike all others.

    >>> import numpy as np
    >>> two = np.array([2, 1])
    >>> couples_and_one = Households(two, two, np.array([0.4375, 1.0]), np.array([0.5, 1.0]), two)
    >>> household_risk(couples_and_one, 0.5).average_household_risk
    0.625
    """
    households, people = int(kinds.households.sum()), int(kinds.households @ kinds.members)
    if not households:
        raise NoRecordsError
    unique = int(kinds.households[kinds.class_size == 1].sum())
    return HouseholdRisk(
        households,
        people,
        fsum(kinds.households * kinds.members * kinds.risk) / people,
        fsum(kinds.households * kinds.risk) / households,
        float(kinds.risk.max()),
        int(kinds.households[kinds.risk > threshold].sum()) / households,
        fsum(kinds.households * kinds.member_risk) / people,
        int(kinds.class_size.min()),
        unique,
        unique / households,
        fsum(kinds.households / kinds.class_size) / households,
        threshold,
    )
