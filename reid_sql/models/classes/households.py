"""Households: the risk that at least one member is identified, and the class of a household as a whole.

A member's risk r is 1/n, where n people have the member's values. The risk of a household is the chance that
at least one of its members is identified, 1 - Π (1 - r), if each is identified or not for itself. That is the
household risk of sdcMicro. Source: Templ, Kowarik & Meindl 2015 (hierarchical risk).
An attacker who knows the values of all members looks for a household with the same multiset of values: of m
such households, one is the right one.
"""

from dataclasses import dataclass

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.parameters import Floats


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
        raise NoRecordsError(NO_RECORDS)
    unique = int(kinds.households[kinds.class_size == 1].sum())
    weight = kinds.households / households
    return HouseholdRisk(
        households,
        people,
        float(kinds.households * kinds.members / people @ kinds.risk),
        float(weight @ kinds.risk),
        float(kinds.risk.max()),
        float(weight @ (kinds.risk > threshold)),
        float(kinds.households @ kinds.member_risk / people),
        int(kinds.class_size.min()),
        unique,
        unique / households,
        float(weight @ (1 / kinds.class_size)),
        threshold,
    )
