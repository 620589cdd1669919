"""People whom several releases of one table single out together.

A class is the people with the same values in each release, where being absent from one is a value. A set of
releases has classes in the same way, of the people who are in any of them. Who is unique by some releases is
unique by more of them, so all together single out the most people.

The lines of the reduction, by their kind:

- RELEASE: `first_size` is the place of a release, `people` are in it, `arrived` of them in another one, too.
- SET: `people` are unique by the releases at the places `first_size` and `second_size` (0: by the first).
- COMBINED: people, by whether they are unique by all (`is_common_first`), by one (`is_followed_first`) and by
  two releases (`is_followed_second`); `first_size` is the number of releases.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.comparison.comparison import MIN_COMMON_SHARE
from reid_sql.models.comparison.release_classes import COMBINED, RELEASE, SET, ReleaseClasses

MIN_RELEASES_OF_PAIRS: Final = 3  # with two, the only pair is all
STATUS_NOBODY_SHARED: Final = (
    "nobody_shared: a release has no value of key, or entity, that another has"
)
STATUS_FEW_SHARED: Final = (
    "few_shared: fewer than half of the people of a release are in another one"
)

DEFINITIONS: Final[Mapping[str, str]] = {
    "all_people": "people of all releases, each counted once",
    "unique_by_one": "people unique by their values in one release, which singles out the most",
    "unique_by_two": "people unique by their values in two releases, which single out the most",
    "unique_by_all": "people unique by their values in all releases together, absence being a value",
    "beyond_one": "people unique by all releases together, but by no single one",
    "beyond_two": "people unique by all releases together, but by no two of them",
}
Combined = tuple[str, float | None, int | None, str, str]  # figure, value, total, status, detail


def combine_releases(lines: ReleaseClasses) -> Iterator[Combined]:
    """Give the figures of all releases together, each with its total, status and what its definition adds."""
    people = lines.number * (lines.kind == COMBINED)
    total = int(people.sum())
    number = int(lines.first_size[lines.kind == COMBINED].max(initial=0))
    has_pairs = number >= MIN_RELEASES_OF_PAIRS
    status = _judge_shared(lines)
    by_all, by_one, by_two = (
        people * flag
        for flag in (lines.is_common_first, lines.is_followed_first, lines.is_followed_second)
    )
    figures = {
        "unique_by_one": _find_worst(lines, is_pair=False),
        **({"unique_by_two": _find_worst(lines, is_pair=True)} if has_pairs else {}),
        "unique_by_all": (int(by_all.sum()), ""),
        "beyond_one": (int((by_all - by_one).sum()), ""),
        **({"beyond_two": (int((by_all - by_two).sum()), "")} if has_pairs else {}),
    }
    yield "all_people", total, None, status, ""
    for name, (value, detail) in figures.items():
        if status == STATUS_NOBODY_SHARED:
            yield name, None, None, status, ""
        else:
            yield name, value, total, status, detail


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
            rule = f"release {place + 1} must contain at least one record, got 0"
            raise NoRecordsError(f"{rule}; pass a table with records")
        possible = min(size, max((*sizes[:place], *sizes[place + 1 :]), default=0))
        if not common:
            return STATUS_NOBODY_SHARED
        doubts.append(common < MIN_COMMON_SHARE * possible)
    return STATUS_FEW_SHARED if any(doubts) else OK
