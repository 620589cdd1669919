"""What is counted of two or more releases of one table, as arrays."""

from dataclasses import dataclass

from reid_sql.parameters import Integers

# what a line of the reduction counts
CLASS, PAIR, PERSON, WITHIN, RELEASE, SET, COMBINED = range(7)


@dataclass(frozen=True)
class ReleaseClasses:
    """Classes of two releases, pairs of classes that people moved between, and people; each line counts some.

    A class (kind 0) is in one or both releases. A pair (kind 1) is a class of the first and another of the
    second release that people are in who have one row in each. A person (kind 2) occurs where people may
    have several rows: their sizes are then how many classes they are in. Overlap is Σ over sensitive values
    of the smaller of their two counts.
    """

    kind: Integers  # (lines,)
    first_size: Integers  # (lines,): people of the class in the first release, 0 if it is not there
    second_size: Integers  # (lines,): the same in the second
    people: Integers  # (lines,): those who are in both releases, in this class or pair
    # (lines,): of a class, people of the second release who were in other classes of the first
    arrived: Integers
    overlap: Integers  # (lines,): 0 without a sensitive column, as all that follow
    common_values: Integers  # (lines,): sensitive values that occur in both
    first_values: Integers  # (lines,): sensitive values of the class in the first release
    second_values: Integers  # (lines,): the same in the second
    gained_values: Integers  # (lines,): sensitive values that became more
    lost_values: Integers  # (lines,): sensitive values that became fewer
    # (lines,): of a person, whether a class of theirs is in the other release too
    is_common_first: Integers
    is_common_second: Integers  # (lines,)
    # (lines,): of a person, whether they are alone in a class in both releases
    is_followed_first: Integers
    is_followed_second: Integers  # (lines,)
    # (lines,): of a person who stayed, the larger size of their smallest class, or 0
    link_size: Integers
    number: Integers  # (lines,): how many such classes, pairs or people there are
    is_keyed: Integers  # (lines,): whether people are known in both releases
    has_sensitive: Integers  # (lines,)
