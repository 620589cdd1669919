"""What is counted of two or more releases of one table, as arrays, and which figures can be compared.

Whatever compares classes by their values needs releases whose values are written alike: where they are not,
nobody seems to be followed, and the status reports it. So it is with a key that was numbered anew.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.comparison import (
    MIN_COMMON_SHARE,
    MIN_PEOPLE_COMPARED,
    judge_common,
)
from reid_sql.models.comparison.paired_records import MIN_PEOPLE, SAME_ROWS, STATUS_STRANGERS
from reid_sql.parameters import Flags, Integers

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

    def select(self, chosen: Flags) -> "ReleaseClasses":
        """Some of the lines."""
        return ReleaseClasses(**{name: column[chosen] for name, column in vars(self).items()})

    def total(self, each: Integers | Flags) -> int:
        """Add up over all classes, pairs or people that the lines count, by how much each is."""
        return int((self.number * each).sum())


STATUS_NO_KEY: Final = (
    "no_key: the figure needs key, or entity, a column that identifies people in both"
)
STATUS_NO_SENSITIVE: Final = "no_sensitive: the figure needs sensitive, the name of a column"
STATUS_NOT_COMPARABLE: Final = (
    "not_comparable: no class of one release is in the other, so nothing can be compared"
)
STATUS_FEW_COMPARABLE: Final = (
    "few_comparable: fewer than half of the people are in classes that both releases have"
)
STATUS_NOBODY_STAYED: Final = "nobody_stayed: no value of key, or entity, is in both releases"
STATUS_NOBODY_ENTERED: Final = "nobody_entered: no class shows a person who entered"
STATUS_SEVERAL_ROWS: Final = (
    "several_rows: people have several rows, which cannot be paired between releases"
)
MIN_EVIDENCE: Final = (
    30.0  # pairs of people of one class, of whom some stay together in the next release
)
TOLERANCE: Final = 0.05  # of the pairs of strangers that stay together by chance


@dataclass(frozen=True)
class Figure:
    """A figure, and why it is doubtful or not known."""

    value: float | None
    total: int | None = None  # of how many
    status: str = OK
    detail: str = ""  # that the definition ends with


class TwoReleases:
    """Who is in both of two releases, and which figures can be compared."""

    def __init__(self, lines: ReleaseClasses) -> None:
        """Divide the lines by what they count; refuse an empty release."""
        self.lines = lines
        self.classes, self.pairs, self.persons, self.within = (
            lines.select(lines.kind == kind) for kind in (CLASS, PAIR, PERSON, WITHIN)
        )
        self.is_keyed = bool(lines.is_keyed.any())
        self.has_sensitive = bool(lines.has_sensitive.any())
        self.counts_people = len(self.persons.kind) > 0
        if not any(self.sizes):
            raise NoRecordsError
        for name, people in zip(("first", "second"), self.sizes, strict=True):
            if not people:
                raise NoRecordsError.of_table(name)

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many people each release has."""
        if not self.counts_people:
            return self.memberships
        persons = self.persons
        return persons.total(persons.first_size > 0), persons.total(persons.second_size > 0)

    @cached_property
    def memberships(self) -> tuple[int, int]:
        """How many people each class has, in sum: a person counts in each of theirs."""
        classes = self.classes
        return classes.total(classes.first_size), classes.total(classes.second_size)

    @property
    def smaller(self) -> int:
        """How many people the smaller release has: no more can be followed."""
        return min(self.sizes)

    @cached_property
    def stayed(self) -> int:
        """How many people are in both releases."""
        if self.counts_people:
            persons = self.persons
            return persons.total((persons.first_size > 0) & (persons.second_size > 0))
        return self.classes.total(self.classes.people) + self.pairs.total(self.pairs.people)

    @cached_property
    def in_same_class(self) -> int:
        """How many people are in the same class in both releases."""
        if self.counts_people:
            return self.persons.total(self.persons.link_size > 0)
        return self.classes.total(self.classes.people)

    @cached_property
    def in_common_classes(self) -> int:
        """How many people are in classes that both releases have, of the release where they are fewer.

        Labels of a coarse release may occur in a fine one: its people would all be in common classes.
        """
        if self.counts_people:
            persons = self.persons
            return min(map(persons.total, (persons.is_common_first, persons.is_common_second)))
        common = self.common_classes
        return min(map(common.total, (common.first_size, common.second_size)))

    @cached_property
    def common_classes(self) -> ReleaseClasses:
        """The classes that both releases have."""
        classes = self.classes
        return classes.select((classes.first_size > 0) & (classes.second_size > 0))

    @cached_property
    def comparability(self) -> str:
        """OK, or why figures that compare classes by their values show little or nothing."""
        if self.is_keyed and self.stayed > 0 and self.key_comparability != STATUS_STRANGERS:
            return _judge_comparability(self.in_same_class, self.stayed)
        return _judge_comparability(self.in_common_classes, self.smaller)

    @cached_property
    def comparability_within(self) -> str:
        """The same of values within a tolerance: whether people have anybody there, or their own record."""
        lines = self.within
        if self.is_keyed and self.stayed > 0:
            return _judge_comparability(lines.total(lines.people > 0), self.stayed)
        return _judge_comparability(lines.total(lines.first_size > 0), self.smaller)

    @cached_property
    def key_comparability(self) -> str:
        """OK, or why it is not known which links are right: few people are in both releases by their key."""
        if not self.stayed:
            return STATUS_NOBODY_STAYED
        if not self.several_rows and self._stay_as_strangers():
            return STATUS_STRANGERS
        return judge_common("person", "people", self.stayed, self.smaller) or OK

    def _stay_as_strangers(self) -> bool:
        """Whether people of a class of the first release stay together in the second as strangers do.

        Of `stayed` people, N(N - 1) ordered pairs, a share is together in the first release, another in the
        second. Strangers are together in both as often as the product of the shares. Where hardly anybody
        shares a class, they are strangers if the releases have the same classes and other people in them.
        """
        if self.stayed < MIN_PEOPLE:
            return False
        classes = self.classes
        n = classes.number.astype(float)
        sizes = [size.astype(float) for size in (classes.first_size, classes.second_size)]
        people = [float((n * size).sum()) for size in sizes]
        shares = [
            float((n * size * (size - 1)).sum()) / (whole * (whole - 1))
            for size, whole in zip(sizes, people, strict=True)
        ]
        possible = self.stayed * (self.stayed - 1.0)
        together = sum(
            float((lines.number * lines.people * (lines.people - 1.0)).sum())
            for lines in (classes, self.pairs)
        )
        if possible * shares[0] >= MIN_EVIDENCE and shares[1] < 1 / 2:
            chance = possible * shares[0] * shares[1]
            return bool(together <= (1 + TOLERANCE) * chance + 4 * (2 * chance) ** 0.5 + 4)
        common = float((n * np.minimum(*sizes)).sum())
        same = classes.total(classes.people)
        return bool(
            shares[1] < 1 / 2 and common >= SAME_ROWS * min(people) and same < self.stayed / 10
        )

    @cached_property
    def value_comparability(self) -> str:
        """OK, or why little can be compared by sensitive values: classes in both have few in common."""
        classes = self.classes
        possible = classes.total(np.minimum(classes.first_size, classes.second_size))
        common = classes.total(classes.overlap)
        one, several = "sensitive value of a class", "sensitive values"
        return judge_common(one, several, common, possible, MIN_PEOPLE_COMPARED) or OK

    @cached_property
    def several_rows(self) -> bool:
        """Whether a person is in several classes of a release, so that rows cannot be paired."""
        persons = self.persons
        return bool(((persons.first_size > 1) | (persons.second_size > 1)).any())

    @cached_property
    def paired(self) -> ReleaseClasses:
        """Classes in which people stayed, and pairs of classes between which they moved."""
        parts = vars(self.classes.select(self.classes.people > 0)), vars(self.pairs)
        return ReleaseClasses(
            **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        )

    @property
    def targets(self) -> tuple[ReleaseClasses, Integers]:
        """The classes, or pairs of classes, of people who are in both releases, and how many each has.

        Without a key they are those who may be in both: the smaller of the class's two numbers of people.
        """
        if self.is_keyed:
            return self.paired, self.paired.number * self.paired.people
        common = self.common_classes
        return common, common.number * np.minimum(common.first_size, common.second_size)

    def compared(self, value: float, people: int | None = None) -> Figure:
        """A figure of classes that are compared by their values."""
        return _compare(value, people, self.comparability)

    def compared_within(self, value: float, people: int) -> Figure:
        """A figure of people whose values are compared within a tolerance."""
        return _compare(value, people, self.comparability_within)

    def doubt_key(self, figure: Figure, *, counts_keys: bool = False) -> Figure:
        """A figure that rests on who is in both releases, or that counts the keys themselves."""
        if not self.is_keyed:
            return Figure(None, None, STATUS_NO_KEY)
        if self.key_comparability == STATUS_STRANGERS and not counts_keys:
            return Figure(None, None, STATUS_STRANGERS)
        if figure.status != OK or self.key_comparability == OK:
            return figure
        if self.stayed or counts_keys:
            return replace(figure, status=self.key_comparability)
        return Figure(None, None, self.key_comparability)

    def measure_pairs(self, value: float, people: int | None = None) -> Figure:
        """A figure of people who are known in both releases."""
        if not self.is_keyed:
            return Figure(None, None, STATUS_NO_KEY)
        if self.several_rows:
            return Figure(None, None, STATUS_SEVERAL_ROWS)
        return self.doubt_key(Figure(value, people))

    def measure_targets(self, value: float, people: int | None = None) -> Figure:
        """A figure of people in both releases: by their key, else by classes of the same values."""
        return self.measure_pairs(value, people) if self.is_keyed else self.compared(value, people)

    def measure_values(self, figure: Figure, *, of_one: bool = False) -> Figure:
        """A figure of sensitive values; only one of each release by itself needs none in common."""
        if not self.has_sensitive:
            return Figure(None, None, STATUS_NO_SENSITIVE)
        reason = OK if of_one else self.value_comparability
        if reason == OK or figure.value is None:
            return figure
        if reason.startswith("not"):
            return Figure(None, None, reason)
        return replace(figure, status=reason)


def _compare(value: float, people: int | None, comparability: str) -> Figure:
    if comparability == STATUS_NOT_COMPARABLE:
        return Figure(None, None, comparability)
    return Figure(value, people, comparability)


def _judge_comparability(some: int, people: int) -> str:
    """OK, or why little or nothing can be compared of so many people, of whom `some` have a match."""
    if not some:
        return STATUS_NOT_COMPARABLE
    return OK if some >= MIN_COMMON_SHARE * people else STATUS_FEW_COMPARABLE
