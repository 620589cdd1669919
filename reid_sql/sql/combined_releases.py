"""SQL of the people whom several releases of one table single out together."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.comparison.release_classes import COMBINED, RELEASE, SET
from reid_sql.sql.text import same

MAX_RELEASES: Final = 12
REFUSAL_MORE_WITHOUT_KEY: Final = (
    "more must come with key or entity, got neither; name the column that identifies people in every "
    "release, or compare two releases at a time"
)


def refuse_more(number: int, *, is_keyed: bool) -> None:
    """Refuse further releases without a column that identifies people, or too many of them."""
    if number and not is_keyed:
        raise OutOfDomainError(REFUSAL_MORE_WITHOUT_KEY)
    if number + 2 > MAX_RELEASES:
        raise OutOfDomainError(
            f"more must be a list of at most {MAX_RELEASES - 2} tables, got {number}; pass the releases that you compare, such as one of each year"
        )


def combine_people(q: Sequence[str], number: int, *, counts_people: bool) -> list[str]:
    """Name reid_profiles the people of reid_every, with their class in each release, and reid_singled.

    A class has a number, the same in all releases, and is NULL where a person is absent; of a person with
    several rows it is the list of their classes. reid_singled has who is unique by each release (other is 0),
    by two of them, and by all (one and other are 0). A set of releases has the people who are in one of them.
    """
    places, keys = range(1, number + 1), ", ".join(q)
    classes = (
        "list_sort(list(DISTINCT class) FILTER (side = {}))"
        if counts_people
        else ("max(class) FILTER (side = {})")
    )
    cells = ", ".join(f"{classes.format(place - 1)} AS c{place}" for place in places)
    sides = " UNION ALL ".join(
        f"SELECT {keys}, side, p{place} AS person FROM reid_every WHERE side = {place - 1}"
        for place in places
    )
    present = " + ".join(f"(c{place} IS NOT NULL)::INTEGER" for place in places)
    pairs = list(combinations(places, 2)) if number > 2 else []  # noqa: PLR2004 - the only pair is all
    sets = [(0, 0), *((place, 0) for place in places), *pairs]
    return [
        f"""reid_values AS (
          SELECT {keys}, row_number() OVER () AS class FROM (SELECT DISTINCT {keys} FROM reid_every)
        )""",
        f"""reid_profiles AS MATERIALIZED (
          SELECT row_number() OVER () AS person, {", ".join(f"c{place}" for place in places)},
            {present} AS present
          FROM (
            SELECT {cells} FROM ({sides}) AS r JOIN reid_values AS v ON {same("r", "v", q)} GROUP BY person
          )
        )""",
        f"""reid_singled AS MATERIALIZED ({
            " UNION ALL ".join(_single_out(one, other, number) for one, other in sets)
        })""",
    ]


def _single_out(one: int, other: int, number: int) -> str:
    """Select the people who are unique by a set of releases."""
    chosen = [f"c{place}" for place in (one, other) if place] or [
        f"c{each + 1}" for each in range(number)
    ]
    is_in = " OR ".join(f"{each} IS NOT NULL" for each in chosen)
    return f"""
          SELECT {one} AS one, {other} AS other, min(person) AS person
          FROM reid_profiles WHERE {is_in} GROUP BY {", ".join(chosen)} HAVING count(*) = 1"""


def combined_lines(number: int) -> Iterator[tuple[int, Mapping[str, str], str]]:
    """Give the kind of each line, its cells and the relation that they are selected from."""
    for place in range(1, number + 1):
        people = f"count(c{place})"
        shared = f"{people} FILTER (present > 1)"
        yield (
            RELEASE,
            {"first_size": str(place), "people": people, "arrived": shared},
            "reid_profiles",
        )
    cells = {"first_size": "one", "second_size": "other", "people": "count(*)"}
    yield SET, cells, "reid_singled WHERE one > 0 GROUP BY one, other"
    by = {
        "common_first": "one = 0",
        "followed_first": "one > 0 AND other = 0",
        "followed_second": "other > 0",
    }
    flags = ", ".join(
        f"max(CASE WHEN {test} THEN 1 ELSE 0 END) AS {name}" for name, test in by.items()
    )
    singled = f"(SELECT person, {flags} FROM reid_singled GROUP BY person) AS s"
    cells = {"first_size": str(number), **{f"is_{name}": f"coalesce({name}, 0)" for name in by}}
    yield COMBINED, cells, f"reid_profiles LEFT JOIN {singled} USING (person)"
