"""Two releases of one table: who can be followed, who entered or left, and what both give away together.

An attacker has both releases and knows people by their quasi-identifiers. A class is the people of a release
with the same values. Fung, Wang, Fu & Pei 2008 narrow a class down by what the other release shows; Xiao &
Tao 2007 ask that the sensitive values of a person's class be the same in every release.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.comparison import MIN_COMMON_SHARE
from reid_sql.models.comparison.paired_records import STATUS_STRANGERS
from reid_sql.models.comparison.release_classes import (
    COMBINED,
    RELEASE,
    SET,
    STATUS_NOBODY_ENTERED,
    Figure,
    ReleaseClasses,
    TwoReleases,
)

NO_LIMIT: Final = 2**62  # above every size, where there is no class to take the smallest of
MIN_RELEASES_OF_PAIRS: Final = 3  # with two, the only pair is all
STATUS_NOBODY_SHARED: Final = (
    "nobody_shared: a release has no value of key, or entity, that another has"
)
STATUS_FEW_SHARED: Final = (
    "few_shared: fewer than half of the people of a release are in another one"
)

DEFINITIONS: Final[Mapping[str, str]] = {
    "first_people": "people of the first release",
    "second_people": "people of the second release",
    "followed": "people alone in their class in both releases, whom an attacker links one to one",
    "followed_right": "followed people whose link is right",
    "expected_right_links": "right links to expect when all are linked: a person counts 1/(larger class)",
    "followed_within": "people linked one to one, as only they are within the tolerance of each other",
    "followed_within_right": "people followed within the tolerance whose link is right",
    "expected_links_within": "right links to expect within the tolerance: a person counts 1/(candidates)",
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
    "all_people": "people of all releases, each counted once",
    "unique_by_one": "people unique by their values in one release, which singles out the most",
    "unique_by_two": "people unique by their values in two releases, which single out the most",
    "unique_by_all": "people unique by their values in all releases together, absence being a value",
    "beyond_one": "people unique by all releases together, but by no single one",
    "beyond_two": "people unique by all releases together, but by no two of them",
}


NamedFigures = Iterator[tuple[str, Figure]]


@dataclass(frozen=True)
class ReleaseFigure:
    """A figure of two releases."""

    figure: str
    value: float | None  # NULL where it is not known, and the status says why
    total: int | None  # of how many people or records, where the value counts some of them
    share: float | None  # value / total
    status: str
    definition: str  # what the value is


def compare_releases(lines: ReleaseClasses) -> list[ReleaseFigure]:
    """Compare two releases by every figure; refuses an empty one.

    >>> one, no = np.array([1]), np.array([0])
    >>> person = ReleaseClasses(no, one, one, one, *[no] * 12, one, one, no)
    >>> [(row.figure, row.value) for row in compare_releases(person) if row.figure.startswith("followed")]
    [('followed', 1.0), ('followed_right', 1.0)]
    """
    releases = TwoReleases(lines)
    figures = {
        **_count_presence(releases),
        **_count_followed(releases),
        **dict(_follow_within(releases)),
        **dict(_find_size_changes(releases)),
        **dict(_find_value_changes(releases)),
        **dict(_measure_correspondence(releases)),
        **_measure_invariance(releases),
        **dict(_combine_releases(releases)),
    }
    rows = []
    for name, definition in DEFINITIONS.items():
        if name in figures:
            figure = figures[name]
            value, total, share = None, None, None
            if figure.value is not None:
                value, total = float(figure.value), figure.total
                share = value / total if total else None
            rows.append(
                ReleaseFigure(name, value, total, share, figure.status, definition + figure.detail)
            )
    return rows


def _count_presence(releases: TwoReleases) -> dict[str, Figure]:
    first, second = releases.sizes
    stayed = releases.stayed
    counts = {
        "stayed": (stayed, releases.smaller),
        "entered": (second - stayed, second),
        "left": (first - stayed, first),
        "same_class": (releases.in_same_class, stayed),
    }
    return {
        "first_people": Figure(first),
        "second_people": Figure(second),
        "common_classes": Figure(releases.in_common_classes, releases.smaller),
        **{
            name: releases.doubt_key(Figure(*count), counts_keys=True)
            for name, count in counts.items()
        },
    }


def _count_followed(releases: TwoReleases) -> dict[str, Figure]:
    classes, persons, paired = releases.classes, releases.persons, releases.paired
    if releases.counts_people:
        # A person of one release may lead to several of the other.
        flags = persons.is_followed_first, persons.is_followed_second
        sides = zip(map(persons.total, flags), releases.sizes, strict=True)
        followed, people = max(sides, key=lambda side: (side[0], -side[1]))
        right = persons.total(persons.link_size == 1)
        linked = persons.link_size > 0
        links = persons.number[linked] / persons.link_size[linked]
    else:
        alone = (classes.first_size == 1) & (classes.second_size == 1)
        followed, people = classes.total(alone), releases.smaller
        right = classes.total(classes.people * alone)
        larger = np.maximum(1, np.maximum(classes.first_size, classes.second_size))
        links = classes.number * classes.people / larger
    expected = fsum(links)  # rounds once, in any order of the lines
    unique = (paired.first_size == 1) & (paired.second_size == 1)
    return {
        "followed": releases.compared(followed, people),
        "followed_right": releases.doubt_key(releases.compared(right, followed)),
        "expected_right_links": releases.doubt_key(releases.compared(expected, releases.stayed)),
        "unique_in_both": releases.measure_pairs(
            paired.total(paired.people * unique), releases.stayed
        ),
    }


def _follow_within(releases: TwoReleases) -> NamedFigures:
    """Count people whom an attacker follows by values within a tolerance; nothing without one.

    Matching within a tolerance makes no classes: of a line, `first_size` people of the second release match
    its people, whose own records there match `second_size` people of the first; `people` is 1 if these are
    within the tolerance.
    """
    lines = releases.within
    if not len(lines.kind):
        return
    followed = lines.total(lines.is_followed_first)
    right = lines.total(lines.is_followed_second)
    candidates = np.maximum(1, np.maximum(lines.first_size, lines.second_size))
    expected = fsum(lines.number * lines.people / candidates)
    yield "followed_within", releases.compared_within(followed, releases.smaller)
    for name, value, people in (
        ("followed_within_right", right, followed),
        ("expected_links_within", expected, releases.stayed),
    ):
        yield name, releases.doubt_key(releases.compared_within(value, people))


def _find_size_changes(releases: TwoReleases) -> NamedFigures:
    classes, (first, second) = releases.classes, releases.memberships
    for name, size, other_size, people in (
        ("left_alone", classes.first_size, classes.second_size, first),
        ("entered_alone", classes.second_size, classes.first_size, second),
    ):
        is_changed = size == other_size + 1
        changed = classes.total(is_changed)
        yield name, releases.compared(changed, people)
        # Nobody of the other release's class is missing: all of its people stayed in it.
        right = classes.total(is_changed & (classes.people == other_size))
        yield f"{name}_right", releases.doubt_key(releases.compared(right, changed))


def _find_value_changes(releases: TwoReleases) -> NamedFigures:
    """Count people whose value the difference of two histograms of their class reveals."""
    classes, (first, second) = releases.classes, releases.memberships
    entered = classes.second_size - classes.first_size
    gained, lost = classes.gained_values, classes.lost_values
    for name, people, changed, unchanged, total in (
        ("entered_value", entered, gained, lost, second),
        ("left_value", -entered, lost, gained, first),
    ):
        is_revealed = (changed == 1) & (unchanged == 0)
        figure = releases.compared(classes.total(people * is_revealed), total)
        yield name, releases.measure_values(figure)


def _measure_correspondence(releases: TwoReleases) -> NamedFigures:
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
    targets, people = releases.targets
    total = int(people.sum())
    anonymities = []
    for name, size in (("forward", targets.first_size), ("cross", targets.second_size)):
        attacked = int(people[size > targets.overlap].sum())
        attack = releases.measure_targets(attacked, total)
        yield f"{name}_attack", releases.measure_values(attack)
        left = int(targets.overlap.min(initial=NO_LIMIT))
        anonymities.append(releases.measure_targets(left))
        yield f"{name}_anonymity", releases.measure_values(anonymities[-1])
    attack, anonymity = _measure_entered(releases)
    yield "backward_attack", releases.measure_values(attack)
    anonymities.append(anonymity)
    yield "backward_anonymity", releases.measure_values(anonymity)
    yield "bcf_anonymity", releases.measure_values(_smallest(anonymities))
    one = (targets.common_values == 1) & (targets.first_values > 1) & (targets.second_values > 1)
    shown = releases.measure_targets(int(people[one].sum()), total)
    yield "value_by_intersection", releases.measure_values(shown)


def _measure_entered(releases: TwoReleases) -> tuple[Figure, Figure]:
    """The backward attack on people who entered, and the fewest records that it leaves.

    A key shows who entered a class: those who are neither in it in both releases nor come from another.
    Without one, they are taken to be the records that correspond to none of the first release. Where
    people left or changed values, nothing may be left: the attack is then wrong about who entered.
    """
    classes = releases.classes
    rest = classes.second_size - classes.overlap
    entered = classes.second_size - classes.people - classes.arrived if releases.is_keyed else rest
    is_attacked = (entered > 0) & (rest > 0)
    attacked = classes.total(entered * (is_attacked & (classes.overlap > 0)))
    attack = releases.compared(attacked, classes.total(entered))
    anonymity = Figure(None, None, STATUS_NOBODY_ENTERED)
    if is_attacked.any():
        anonymity = releases.compared(int(rest[is_attacked].min()))
    if not releases.is_keyed:
        return attack, anonymity
    return releases.doubt_key(attack), releases.doubt_key(anonymity)


def _measure_invariance(releases: TwoReleases) -> dict[str, Figure]:
    """m-invariance of Xiao & Tao 2007: m-unique releases, and one signature for each person."""
    classes, paired = releases.classes, releases.paired
    sides = (
        (classes.first_size, classes.first_values),
        (classes.second_size, classes.second_values),
    )
    is_unique = all(bool((size == values).all()) for size, values in sides)
    least = min(int(size[size > 0].min()) for size, _ in sides) if is_unique else 0
    is_same = (paired.common_values == paired.first_values) & (
        paired.common_values == paired.second_values
    )
    changed = paired.total(paired.people * ~is_same)
    return {
        "m_uniqueness": releases.measure_values(Figure(least), of_one=True),
        "signature_changed": releases.measure_values(
            releases.measure_pairs(changed, releases.stayed)
        ),
        "m_invariance": releases.measure_values(releases.measure_pairs(0 if changed else least)),
    }


def _smallest(figures: Sequence[Figure]) -> Figure:
    """The smallest of the figures that have a value, or the reason why none has one."""
    available = [figure for figure in figures if figure.value is not None]
    return min(available, key=lambda figure: figure.value or 0) if available else figures[0]


def _combine_releases(releases: TwoReleases) -> NamedFigures:
    """Count the people whom all releases together single out.

    A class is the people with the same values in each release, where being absent from one is a value. A set
    of releases has classes in the same way, of the people who are in any of them. Who is unique by some
    releases is unique by more of them, so all together single out the most people. The lines by their kind:

    - RELEASE: `first_size` is the place of a release, `people` are in it, `arrived` of them in another one.
    - SET: `people` are unique by the releases at the places `first_size` and `second_size` (0: by the first).
    - COMBINED: people, by whether they are unique by all (`is_common_first`), by one (`is_followed_first`)
      and by two releases (`is_followed_second`); `first_size` is the number of releases.
    """
    lines = releases.lines
    people = lines.select(lines.kind == COMBINED)
    has_pairs = int(people.first_size.max(initial=0)) >= MIN_RELEASES_OF_PAIRS
    by_all, by_one, by_two = map(
        people.total, (people.is_common_first, people.is_followed_first, people.is_followed_second)
    )
    counts = {
        "unique_by_one": _find_worst(lines, is_pair=False),
        "unique_by_all": (by_all, ""),
        "beyond_one": (by_all - by_one, ""),
    }
    if has_pairs:
        counts["unique_by_two"] = _find_worst(lines, is_pair=True)
        counts["beyond_two"] = by_all - by_two, ""
    status, total = _judge_shared(lines), int(people.number.sum())
    figures = {"all_people": Figure(total, None, status)}
    for name, (value, detail) in counts.items():
        is_available = status != STATUS_NOBODY_SHARED
        figures[name] = (
            Figure(value, total, status, detail) if is_available else Figure(None, None, status)
        )
    # A third release may share people with each of two that share nobody.
    is_doubtful = not releases.is_keyed or releases.key_comparability == STATUS_STRANGERS
    for name, figure in figures.items():
        counts_keys = name == "all_people"
        yield (
            name,
            releases.doubt_key(figure, counts_keys=counts_keys) if is_doubtful else figure,
        )


def _find_worst(lines: ReleaseClasses, *, is_pair: bool) -> tuple[int, str]:
    """How many people the worst set of one or two releases singles out, and which set it is, the first."""
    chosen = (lines.kind == SET) & ((lines.second_size > 0) == is_pair)
    sets = zip(
        lines.people[chosen], lines.first_size[chosen], lines.second_size[chosen], strict=True
    )
    people, one, other = min(sets, key=lambda each: (-each[0], *each[1:]), default=(0, 0, 0))
    if not people:
        return 0, ""
    return int(people), f": {one} and {other}" if is_pair else f": release {one}"


def _judge_shared(lines: ReleaseClasses) -> str:
    """OK, or the doubt that people have the same identifiers in all releases.

    A release whose people are in no other one may name them otherwise: what it adds to their values is then
    not known. It may also have most of its people alone, so it is compared with the largest other release.
    """
    chosen = lines.kind == RELEASE
    sizes, shared = lines.people[chosen], lines.arrived[chosen]
    doubts = []
    for place, (size, common) in enumerate(zip(sizes, shared, strict=True)):
        if not size:
            raise NoRecordsError.of_table(f"release {place + 1}")
        possible = min(size, max((*sizes[:place], *sizes[place + 1 :]), default=0))
        if not common:
            return STATUS_NOBODY_SHARED
        doubts.append(common < MIN_COMMON_SHARE * possible)
    return STATUS_FEW_SHARED if any(doubts) else OK
