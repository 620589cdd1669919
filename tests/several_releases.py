"""Several releases of a few people, compared person by person: who is unique by which of them."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

Rows = Sequence[tuple[Any, Any, Any]]  # person, values, sensitive value
COMBINED = ("unique_by_one", "unique_by_two", "unique_by_all", "beyond_one", "beyond_two")


def combine(releases: Sequence[Rows]) -> dict[str, float | None]:
    """The figures of all releases together; None where a release has nobody of another."""
    people = [{person for person, _, _ in rows} for rows in releases]
    places = range(len(releases))
    ones = [_find_unique(releases, people, [place]) for place in places]
    pairs = [_find_unique(releases, people, pair) for pair in combinations(places, 2)]
    together = _find_unique(releases, people, places)
    found: dict[str, float | None] = {
        "unique_by_one": max(map(len, ones)),
        "unique_by_all": len(together),
        "beyond_one": len(together.difference(*ones)),
    }
    if len(releases) > 2:
        found["unique_by_two"] = max(map(len, pairs))
        found["beyond_two"] = len(together.difference(*pairs))
    if any(
        not own & set().union(*(people[o] for o in places if o != at))
        for at, own in enumerate(people)
    ):
        found = dict.fromkeys(found)
    return {"all_people": len(set().union(*people)), **found}


def _find_unique(
    releases: Sequence[Rows], people: Sequence[set[Any]], chosen: Sequence[int]
) -> set[Any]:
    """The people of these releases from whom each other one differs in some release."""
    every = set().union(*(people[place] for place in chosen))
    return {
        one for one in every if all(_differ(releases, chosen, one, o) for o in every if o != one)
    }


def _differ(releases: Sequence[Rows], chosen: Sequence[int], one: Any, other: Any) -> bool:
    return any(
        {values for person, values, _ in releases[place] if person == one}
        != {values for person, values, _ in releases[place] if person == other}
        for place in chosen
    )
