"""Two releases of one table: who can be followed, who entered or left, and what both give away together.

An attacker has both releases and knows people by their quasi-identifiers. A class is the people of a release
with the same values. Fung, Wang, Fu & Pei 2008 narrow a class down by what the other release shows; Xiao &
Tao 2007 ask that the sensitive values of a person's class be the same in every release. Whatever compares
classes by their values needs releases whose values are written alike: where they are not, nobody seems to be
followed, and the status reports it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.comparison.combined_releases import DEFINITIONS as DEFINITIONS_COMBINED
from reid_sql.models.comparison.combined_releases import combine_releases
from reid_sql.models.comparison.comparison import (
    MIN_COMMON_SHARE,
    MIN_PEOPLE_COMPARED,
    judge_common,
)
from reid_sql.models.comparison.links_within import DEFINITIONS as DEFINITIONS_WITHIN
from reid_sql.models.comparison.links_within import links_within
from reid_sql.models.comparison.release_classes import CLASS, PAIR, PERSON, WITHIN, ReleaseClasses
from reid_sql.models.comparison.renumbered_keys import STATUS_STRANGERS, stay_as_strangers
from reid_sql.parameters import Floats, Integers

NO_LIMIT: Final = 2**62  # above every size, where there is no class to take the smallest of
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

DEFINITIONS: Final[Mapping[str, str]] = {
    "first_people": "people of the first release",
    "second_people": "people of the second release",
    "followed": "people alone in their class in both releases, whom an attacker links one to one",
    "followed_right": "followed people whose link is right",
    "expected_right_links": "right links to expect when all are linked: a person counts 1/(larger class)",
    **DEFINITIONS_WITHIN,
    "unique_in_both": "people in both releases who are alone in their class in each, whatever its values",
    "common_classes": "people in classes that both releases have, of the release where they are fewer",
    "same_class": "people in both releases whose class is the same in both",
    "stayed": "people who are in both releases",
    "entered": "people who are in the second release alone",
    "left": "people who are in the first release alone",
    "entered_alone": "classes that grew by one person, whose entry is known",
    "left_alone": "classes that lost one person, whose departure is known",
    "entered_alone_right": "classes that grew by one person and that nobody left",
    "left_alone_right": "classes that lost one person and that nobody entered",
    "entered_value": "people who entered classes that gained one sensitive value, and lost none",
    "left_value": "people who left classes that lost one sensitive value, and gained none",
    "forward_attack": "people in both for whom it excludes records of their class in the first release",
    "forward_anonymity": "fewest records of the first release that it leaves for a person in both",
    "cross_attack": "people in both for whom it excludes records of their class in the second release",
    "cross_anonymity": "fewest records of the second release that it leaves for a person in both",
    "backward_attack": "people who entered for whom it excludes records of their class",
    "backward_anonymity": "fewest records of the second release that it leaves for a person who entered",
    "bcf_anonymity": "the smallest of the three anonymities",
    "value_by_intersection": "people in both whose classes have one sensitive value in common, each several",
    "m_uniqueness": "records of the smallest class, 0 if a sensitive value repeats in a class",
    "signature_changed": "people in both whose classes have different sets of sensitive values",
    "m_invariance": "m_uniqueness, 0 if a set of sensitive values changed for a person in both",
    **DEFINITIONS_COMBINED,
}


@dataclass(frozen=True)
class ReleaseFigure:
    """A figure of two releases."""

    figure: str
    value: float | None  # NULL where it is not known, and the status says why
    total: int | None  # of how many people or records, where the value counts some of them
    share: float | None  # value / total
    status: str
    definition: str  # what the value is


@dataclass(frozen=True)
class _Figure:
    value: float | None
    total: int | None = None
    status: str = OK
    detail: str = ""  # that the definition ends with


def compare_releases(lines: ReleaseClasses) -> list[ReleaseFigure]:
    """Compare two releases by every figure; refuses an empty one.

    >>> one, no = np.array([1]), np.array([0])
    >>> person = ReleaseClasses(no, one, one, one, *[no] * 12, one, one, no)
    >>> [(row.figure, row.value) for row in compare_releases(person) if row.figure.startswith("followed")]
    [('followed', 1.0), ('followed_right', 1.0)]
    """
    releases = Releases(lines)
    figures = dict(releases.figures())
    return [_to_row(name, figures[name]) for name in DEFINITIONS if name in figures]


def _to_row(name: str, figure: _Figure) -> ReleaseFigure:
    value, total = figure.value, figure.total if figure.value is not None else None
    share = value / total if total and value is not None else None
    known = None if value is None else float(value)
    return ReleaseFigure(
        name, known, total, share, figure.status, DEFINITIONS[name] + figure.detail
    )


class Releases:
    """What follows from the lines of two releases."""

    def __init__(self, lines: ReleaseClasses) -> None:
        """Divide the lines by what they count; refuse an empty release."""
        self.lines = lines
        self.classes, self.pairs, self.persons, self.within = (
            _select(lines, lines.kind == kind) for kind in (CLASS, PAIR, PERSON, WITHIN)
        )
        self.is_keyed = bool(lines.is_keyed.any())
        self.has_sensitive = bool(lines.has_sensitive.any())
        self.counts_people = len(self.persons.kind) > 0
        if not any(self.sizes):
            raise NoRecordsError(NO_RECORDS)
        for name, people in zip(("first", "second"), self.sizes, strict=True):
            if not people:
                rule = f"{name} must contain at least one record, got 0"
                raise NoRecordsError(f"{rule}; pass a table with records")

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many people each release has."""
        if self.counts_people:
            persons = self.persons
            return _sum(persons.number[persons.first_size > 0]), _sum(
                persons.number[persons.second_size > 0]
            )
        classes = self.classes
        return _sum(classes.number * classes.first_size), _sum(classes.number * classes.second_size)

    @cached_property
    def memberships(self) -> tuple[int, int]:
        """How many people each class has, in sum: a person counts in each of theirs."""
        classes = self.classes
        return _sum(classes.number * classes.first_size), _sum(classes.number * classes.second_size)

    @property
    def smaller(self) -> int:
        """How many people the smaller release has: no more can be followed."""
        return min(self.sizes)

    @cached_property
    def stayed(self) -> int:
        """How many people are in both releases."""
        if self.counts_people:
            persons = self.persons
            return _sum(persons.number[(persons.first_size > 0) & (persons.second_size > 0)])
        return _sum(self.classes.number * self.classes.people) + _sum(
            self.pairs.number * self.pairs.people
        )

    @cached_property
    def in_same_class(self) -> int:
        """How many people are in the same class in both releases."""
        if self.counts_people:
            return _sum(self.persons.number[self.persons.link_size > 0])
        return _sum(self.classes.number * self.classes.people)

    @cached_property
    def in_common_classes(self) -> int:
        """How many people are in classes that both releases have, of the release where they are fewer.

        Labels of a coarse release may occur in a fine one: its people would all be in common classes.
        """
        if self.counts_people:
            people, flags = (
                self.persons,
                (self.persons.is_common_first, self.persons.is_common_second),
            )
            return min(_sum(people.number * flag) for flag in flags)
        both = self.classes.number * (
            (self.classes.first_size > 0) & (self.classes.second_size > 0)
        )
        return min(
            _sum(both * size) for size in (self.classes.first_size, self.classes.second_size)
        )

    @cached_property
    def comparability(self) -> str:
        """OK, or why figures that compare classes by their values show little or nothing."""
        known = self.is_keyed and self.stayed > 0 and self.key_comparability != STATUS_STRANGERS
        some, every = (
            (self.in_same_class, self.stayed) if known else (self.in_common_classes, self.smaller)
        )
        return _judge_comparability(some, every)

    @cached_property
    def comparability_within(self) -> str:
        """The same of values within a tolerance: whether people have anybody there, or their own record."""
        known = self.is_keyed and self.stayed > 0
        matched = self.within.people > 0 if known else self.within.first_size > 0
        every = self.stayed if known else self.smaller
        return _judge_comparability(_sum(self.within.number[matched]), every)

    @cached_property
    def key_comparability(self) -> str:
        """OK, or why it is not known which links are right: few people are in both releases by their key."""
        if not self.stayed:
            return STATUS_NOBODY_STAYED
        if not self.several_rows and stay_as_strangers(self.classes, self.pairs, self.stayed):
            return STATUS_STRANGERS
        return judge_common("person", "people", self.stayed, self.smaller) or OK

    @cached_property
    def value_comparability(self) -> str:
        """OK, or why little can be compared by sensitive values: classes in both have few in common."""
        classes = self.classes
        possible = _sum(classes.number * np.minimum(classes.first_size, classes.second_size))
        common = _sum(classes.number * classes.overlap)
        value = "sensitive value of a class"
        return judge_common(value, "sensitive values", common, possible, MIN_PEOPLE_COMPARED) or OK

    @cached_property
    def several_rows(self) -> bool:
        """Whether a person is in several classes of a release, so that rows cannot be paired."""
        persons = self.persons
        return bool(((persons.first_size > 1) | (persons.second_size > 1)).any())

    def compared(self, value: float, total: int | None = None) -> _Figure:
        """A figure of classes that are compared by their values."""
        if self.comparability == STATUS_NOT_COMPARABLE:
            return _Figure(None, None, STATUS_NOT_COMPARABLE)
        return _Figure(value, total, self.comparability)

    def _compared_within(self, value: float, total: int) -> _Figure:
        """A figure of people whose values are compared within a tolerance."""
        if self.comparability_within == STATUS_NOT_COMPARABLE:
            return _Figure(None, None, STATUS_NOT_COMPARABLE)
        return _Figure(value, total, self.comparability_within)

    def figures(self) -> Iterator[tuple[str, _Figure]]:
        """Every figure by its name."""
        first, second = self.sizes
        yield "first_people", _Figure(first)
        yield "second_people", _Figure(second)
        yield "common_classes", _Figure(self.in_common_classes, self.smaller)
        yield from self._presence(first, second)
        yield from self._count_followed()
        yield from self._size_changes()
        yield from self._value_changes()
        yield from self._correspondence()
        yield from self._invariance()
        for name, value, total, status, detail in combine_releases(self.lines):
            figure = _Figure(value, total, status, detail)
            yield name, self._doubt_combined(figure, is_known=name == "all_people")

    def _presence(self, first: int, second: int) -> Iterator[tuple[str, _Figure]]:
        counts = {
            "stayed": (self.stayed, self.smaller),
            "entered": (second - self.stayed, second),
            "left": (first - self.stayed, first),
            "same_class": (self.in_same_class, self.stayed),
        }
        for name, (value, total) in counts.items():
            yield name, self._doubt_key(_Figure(value, total), is_known=True)

    def _count_followed(self) -> Iterator[tuple[str, _Figure]]:
        classes, persons = self.classes, self.persons
        alone = (classes.first_size == 1) & (classes.second_size == 1)
        if self.counts_people:
            # A person of one release may lead to several of the other.
            flags = (persons.is_followed_first, persons.is_followed_second)
            sides = zip((_sum(persons.number * flag) for flag in flags), self.sizes, strict=True)
            followed, of_people = max(sides, key=lambda side: (side[0], -side[1]))
            right = _sum(persons.number[persons.link_size == 1])
            linked = persons.link_size > 0
            links = persons.number[linked] / persons.link_size[linked]
        else:
            followed, of_people = _sum(classes.number[alone]), self.smaller
            right = _sum((classes.number * classes.people)[alone])
            larger = np.maximum(1, np.maximum(classes.first_size, classes.second_size))
            links = classes.number * classes.people / larger
        yield "followed", self.compared(followed, of_people)
        for name, value, total in (
            ("followed_right", right, followed),
            # rounds once, in any order of the lines
            ("expected_right_links", fsum(links), self.stayed),
        ):
            yield name, self._doubt_key(self.compared(value, total))
        for name, value, total, needs_key in links_within(self.within, self.smaller, self.stayed):
            figure = self._compared_within(value, total)
            yield name, self._doubt_key(figure) if needs_key else figure
        both = self.paired
        unique = (both.first_size == 1) & (both.second_size == 1)
        yield (
            "unique_in_both",
            self._measure_pairs(_sum((both.number * both.people)[unique]), self.stayed),
        )

    def _doubt_key(self, figure: _Figure, *, is_known: bool = False) -> _Figure:
        """A figure that rests on who is in both releases; one that `is_known` counts the keys themselves."""
        if not self.is_keyed:
            return _Figure(None, None, STATUS_NO_KEY)
        if self.key_comparability == STATUS_STRANGERS and not is_known:
            return _Figure(None, None, STATUS_STRANGERS)
        if figure.status != OK or self.key_comparability == OK:
            return figure
        if self.stayed or is_known:
            return replace(figure, status=self.key_comparability)
        return _Figure(None, None, self.key_comparability)

    def _doubt_combined(self, figure: _Figure, *, is_known: bool) -> _Figure:
        """A figure of all releases: a third may share people with each of two that share nobody."""
        if not self.is_keyed or self.key_comparability == STATUS_STRANGERS:
            return self._doubt_key(figure, is_known=is_known)
        return figure

    @cached_property
    def paired(self) -> ReleaseClasses:
        """Classes in which people stayed, and pairs of classes between which they moved."""
        parts = vars(_select(self.classes, self.classes.people > 0)), vars(self.pairs)
        return ReleaseClasses(
            **{name: np.concatenate([each[name] for each in parts]) for name in parts[0]}
        )

    def _measure_pairs(self, value: float, total: int | None = None) -> _Figure:
        """A figure of people who are known in both releases."""
        if not self.is_keyed:
            return _Figure(None, None, STATUS_NO_KEY)
        if self.several_rows:
            return _Figure(None, None, STATUS_SEVERAL_ROWS)
        return self._doubt_key(_Figure(value, total))

    def _size_changes(self) -> Iterator[tuple[str, _Figure]]:
        classes = self.classes
        for side, (name, total) in enumerate(
            zip(("left_alone", "entered_alone"), self.memberships, strict=True)
        ):
            sizes = classes.first_size, classes.second_size
            size, other = sizes[side], sizes[1 - side]
            changed = size == other + 1
            yield name, self.compared(_sum(classes.number[changed]), total)
            # Nobody of the other release's class is missing: all of its people stayed in it.
            right = _sum(classes.number[changed & (classes.people == other)])
            yield (
                f"{name}_right",
                self._doubt_key(self.compared(right, _sum(classes.number[changed]))),
            )

    def _value_changes(self) -> Iterator[tuple[str, _Figure]]:
        """Count people whose value the difference of two histograms of their class reveals."""
        classes, entered = self.classes, self.classes.second_size - self.classes.first_size
        kinds = {
            "entered_value": (
                entered,
                classes.gained_values,
                classes.lost_values,
                self.memberships[1],
            ),
            "left_value": (
                -entered,
                classes.lost_values,
                classes.gained_values,
                self.memberships[0],
            ),
        }
        for name, (people, changed, other, total) in kinds.items():
            revealed = (changed == 1) & (other == 0)
            figure = self.compared(_sum((classes.number * people)[revealed]), total)
            yield name, self._measure_values(figure)

    def _measure_values(self, figure: _Figure, *, of_one: bool = False) -> _Figure:
        """A figure of sensitive values; only one of each release by itself needs none in common."""
        if not self.has_sensitive:
            return _Figure(None, None, STATUS_NO_SENSITIVE)
        reason = OK if of_one else self.value_comparability
        if reason == OK or figure.value is None:
            return figure
        return (
            _Figure(None, None, reason)
            if reason.startswith("not")
            else replace(figure, status=reason)
        )

    @property
    def targets(self) -> tuple[ReleaseClasses, Integers]:
        """The classes, or pairs of classes, of people who are in both releases, and how many each has.

        Without a key they are those who may be in both: the smaller of the class's two numbers of people.
        """
        if self.is_keyed:
            return self.paired, self.paired.number * self.paired.people
        both = _select(self.classes, (self.classes.first_size > 0) & (self.classes.second_size > 0))
        return both, both.number * np.minimum(both.first_size, both.second_size)

    def _correspondence(self) -> Iterator[tuple[str, _Figure]]:
        """Attacks of Fung, Wang, Fu & Pei 2008, by what they leave of a person's class.

        A record of the first release corresponds to one of the same sensitive value in the second. Of the g1
        and g2 records of a value in the two classes of a person, at most min(g1, g2) can have the person's
        values in both releases. An attack cracks the rest:

            forward  = g1 - min(g1, g2) in the first
            cross    = g2 - min(g1, g2) in the second
            backward = size - overlap

        What is left of forward and cross is the overlap. A person who entered is none of the second class's
        records that correspond to one of the first (backward).
        """
        targets, people = self.targets
        anonymities = []
        for name, size in (("forward", targets.first_size), ("cross", targets.second_size)):
            attacked = _sum(people[size > targets.overlap])
            yield (
                f"{name}_attack",
                self._measure_values(self._measure_targets(attacked, _sum(people))),
            )
            left = int(targets.overlap.min(initial=NO_LIMIT))
            anonymities.append(self._measure_targets(left))
            yield f"{name}_anonymity", self._measure_values(anonymities[-1])
        attack, anonymity = self._measure_entered()
        yield "backward_attack", self._measure_values(attack)
        anonymities.append(anonymity)
        yield "backward_anonymity", self._measure_values(anonymity)
        yield "bcf_anonymity", self._measure_values(_smallest(anonymities))
        one = (
            (targets.common_values == 1) & (targets.first_values > 1) & (targets.second_values > 1)
        )
        shown = self._measure_targets(_sum(people[one]), _sum(people))
        yield "value_by_intersection", self._measure_values(shown)

    def _measure_entered(self) -> tuple[_Figure, _Figure]:
        """The backward attack on people who entered, and the fewest records that it leaves.

        A key shows who entered a class: those who are neither in it in both releases nor come from another.
        Without one, they are taken to be the records that correspond to none of the first release. Where
        people left or changed values, nothing may be left: the attack is then wrong about who entered.
        """
        classes = self.classes
        rest = classes.second_size - classes.overlap
        entered = classes.second_size - classes.people - classes.arrived if self.is_keyed else rest
        is_attacked = (entered > 0) & (rest > 0)
        attacked = _sum((classes.number * entered)[is_attacked & (classes.overlap > 0)])
        attack = self.compared(attacked, _sum(classes.number * entered))
        anonymity = _Figure(None, None, STATUS_NOBODY_ENTERED)
        if is_attacked.any():
            anonymity = self.compared(int(rest[is_attacked].min()))
        if not self.is_keyed:
            return attack, anonymity
        return self._doubt_key(attack), self._doubt_key(anonymity)

    def _measure_targets(self, value: float, total: int | None = None) -> _Figure:
        """A figure of people in both releases: by their key, else by classes of the same values."""
        return self._measure_pairs(value, total) if self.is_keyed else self.compared(value, total)

    def _invariance(self) -> Iterator[tuple[str, _Figure]]:
        """m-invariance of Xiao & Tao 2007: m-unique releases, and one signature for each person."""
        classes = self.classes
        values = (
            (classes.first_size, classes.first_values),
            (classes.second_size, classes.second_values),
        )
        is_unique = all(bool((size == number).all()) for size, number in values)
        least = min(int(size[size > 0].min()) for size, _ in values) if is_unique else 0
        both = self.paired
        is_same = (both.common_values == both.first_values) & (
            both.common_values == both.second_values
        )
        changed = _sum((both.number * both.people)[~is_same])
        yield "m_uniqueness", self._measure_values(_Figure(least), of_one=True)
        yield "signature_changed", self._measure_values(self._measure_pairs(changed, self.stayed))
        yield "m_invariance", self._measure_values(self._measure_pairs(0 if changed else least))


def _judge_comparability(some: int, every: int) -> str:
    """OK, or why little or nothing can be compared of `every` person, of whom `some` have a match."""
    if not some:
        return STATUS_NOT_COMPARABLE
    return OK if some >= MIN_COMMON_SHARE * every else STATUS_FEW_COMPARABLE


def _smallest(figures: Sequence[_Figure]) -> _Figure:
    """The smallest of the figures that are known, or the reason why none is."""
    known = [each for each in figures if each.value is not None]
    return min(known, key=lambda each: each.value or 0) if known else figures[0]


def _sum(numbers: Integers | Floats) -> int:
    return int(numbers.sum())


def _select(lines: ReleaseClasses, chosen: np.ndarray) -> ReleaseClasses:
    return ReleaseClasses(**{name: column[chosen] for name, column in vars(lines).items()})
