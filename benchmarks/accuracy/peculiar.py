"""Tables with what surveys and registers have beside plain columns: heaps, identical rows, keys of columns.

Heaps are values that far more people have than the values around them: no income, ages at tens, a top code.
Identical rows are blank, or of respondents who give one answer to all items. Keys are columns of which each
repeats, but never all together, such as a street and a house number.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from benchmarks.accuracy.generated import Columns, Made, draw_cases
from benchmarks.accuracy.people_cases import Case
from reid_sql.parameters import Integers

PEOPLE: Final = (8e3, 1.5e5)
SAMPLES: Final = (400, 2000)
BLANK: Final = -1  # a name of this number is NULL


def cases(kind: str, count: int, seed: int) -> Iterator[Case]:
    """Draw populations of a kind and nested samples of each, and measure them."""
    return draw_cases(kind, KINDS[kind], PEOPLE, SAMPLES, count=count, seed=seed)


def no_income(rng: np.random.Generator, people: int) -> Columns:
    """An income that some do not have, with a sex and a region."""
    income = np.where(rng.random(people) < rng.uniform(0.05, 0.4), 0, _amounts(rng, people))
    return {"income": Made(income, "number"), "sex": _few(rng, people, 2)} | _region(rng, people)


def ages_at_tens(rng: np.random.Generator, people: int) -> Columns:
    """Ages that some round to tens, with a sex and postcodes of many sizes."""
    exact = np.clip(np.round(rng.gamma(6, 7, people)), 0, 99)
    rounded = rng.random(people) < rng.uniform(0.1, 0.5)
    age = np.where(rounded, np.round(exact / 10) * 10, exact).astype(np.int64)
    postcode = (rng.pareto(rng.uniform(1.0, 2.0), people) * 20).astype(np.int64)
    return {"age": Made(age, "number"), "sex": _few(rng, people, 2), "postcode": Made(postcode)}


def income_and_debt(rng: np.random.Generator, people: int) -> Columns:
    """Two amounts, of which many have only one, with a region."""
    income, debt = _amounts(rng, people) // 10, _amounts(rng, people) // 100
    income = np.where(rng.random(people) < rng.uniform(0.05, 0.4), 0, income)
    debt = np.where(rng.random(people) < rng.uniform(0.2, 0.7), 0, debt)
    return {"income": Made(income, "number"), "debt": Made(debt, "number")} | _region(rng, people)


def top_coded(rng: np.random.Generator, people: int) -> Columns:
    """Incomes cut at a top code, with an age and a region."""
    income = _amounts(rng, people)
    income = np.minimum(income, int(np.quantile(income, rng.uniform(0.9, 0.99))))
    age = Made(rng.integers(18, 90, people), "number")
    return {"income": Made(income, "number"), "age": age} | _region(rng, people)


def new_years_days(rng: np.random.Generator, people: int) -> Columns:
    """Birth dates, of which those that are not known are the first of January; a sex and a region."""
    year, day = rng.integers(0, 65, people), rng.integers(0, 365, people)
    day = np.where(rng.random(people) < rng.uniform(0.02, 0.3), 0, day)
    return {"born": Made(year * 365 + day, "number"), "sex": _few(rng, people, 2)} | _region(
        rng, people
    )


def rounded_wages(rng: np.random.Generator, people: int) -> Columns:
    """Wages, of which some are rounded, some missing and some a code; with a number of children."""
    wage = _amounts(rng, people)
    wage = np.where(rng.random(people) < rng.uniform(0.1, 0.5), wage // 1000 * 1000, wage)
    wage = np.where(rng.random(people) < rng.uniform(0, 0.2), 0, wage)
    wage = np.where(rng.random(people) < 0.03, 99_999, wage)
    children = Made(rng.poisson(1, people), "number")
    return {"wage": Made(wage, "number"), "children": children} | _region(rng, people)


def straight_liners(rng: np.random.Generator, people: int) -> Columns:
    """Items of one trait, to all of which some respondents give the same answer."""
    items = _items(rng, people)
    answer = rng.integers(1, int(items.max()) + 1, people)
    items = np.where(
        (rng.random(people) < rng.uniform(0.01, 0.15))[:, None], answer[:, None], items
    )
    return {f"item{j}": Made(own, "number") for j, own in enumerate(items.T)}


def items_of_a_trait(rng: np.random.Generator, people: int) -> Columns:
    """Items of one trait, which every respondent answers with care."""
    return {f"item{j}": Made(own, "number") for j, own in enumerate(_items(rng, people).T)}


def blank_rows(rng: np.random.Generator, people: int) -> Columns:
    """Nominal columns, which are all blank for some."""
    blank = rng.random(people) < rng.uniform(0.02, 0.3)
    return {
        f"c{j}": Made(np.where(blank, BLANK, rng.integers(0, rng.integers(3, 12), people)))
        for j in range(int(rng.integers(4, 9)))
    }


def middle_answers(rng: np.random.Generator, people: int) -> Columns:
    """Items of two traits with an age band; some respondents give the middle answer to all items."""
    items = np.concatenate([_items(rng, people, 2, 5), _items(rng, people, 3, 5)], axis=1)
    middle = rng.random(people) < rng.uniform(0.01, 0.1)
    items = np.where(middle[:, None], 3, items)
    found = {f"item{j}": Made(own, "number") for j, own in enumerate(items.T)}
    return found | {"band": Made(rng.integers(0, int(rng.integers(2, 8)), people), "number")}


def house_numbers(rng: np.random.Generator, people: int) -> Columns:
    """Streets of one length, and the number of a house."""
    houses = int(rng.integers(5, 40))
    street, number = np.divmod(np.arange(people), houses)
    return {"street": Made(street), "number": Made(number + 1, "number")}


def members(rng: np.random.Generator, people: int) -> Columns:
    """Households of one to seven, the number of a person in it, and a sex."""
    size = 1 + np.minimum(rng.poisson(rng.uniform(0.6, 2.2), people), 6)
    home = np.repeat(np.arange(people), size)[:people]
    return {
        "home": Made(home),
        "person": Made(_count_within(home), "number"),
        "sex": _few(rng, people, 2),
    }


def tickets(rng: np.random.Generator, people: int) -> Columns:
    """Days, and the number of a ticket, which restarts every day."""
    day = np.sort(rng.integers(0, int(rng.integers(100, 1000)), people))
    return {"day": Made(day, "number"), "ticket": Made(_count_within(day), "number")}


def cases_of_courts(rng: np.random.Generator, people: int) -> Columns:
    """Courts of many sizes, years, and the number of a case in the year of a court, with its subject."""
    courts = int(rng.integers(5, 60))
    share = rng.lognormal(0, 1, courts)
    court = np.searchsorted(np.cumsum(share / share.sum())[:-1], rng.random(people))
    year = rng.integers(0, int(rng.integers(3, 15)), people)
    order = np.lexsort((year, court))
    court, year = court[order], year[order]
    number = _count_within(court * 100 + year)
    found = {"court": Made(court), "year": Made(year, "number"), "case": Made(number, "number")}
    return found | {"subject": _few(rng, people, 12)}


def beds(rng: np.random.Generator, people: int) -> Columns:
    """Wards, rooms of each ward, and beds of each room, with a sex and a diagnosis."""
    in_room, rooms = int(rng.integers(2, 7)), int(rng.integers(5, 30))
    place = np.arange(people)
    found = {
        "ward": Made(place // (in_room * rooms)),
        "room": Made(place // in_room % rooms + 1, "number"),
    }
    found["bed"] = Made(place % in_room + 1, "number")
    return found | {"sex": _few(rng, people, 2), "diagnosis": _few(rng, people, 30)}


def numbers_of_offices(rng: np.random.Generator, people: int) -> Columns:
    """Offices, and a random number of four digits that is given once in each."""
    many = max(people // int(rng.integers(300, 4000)), 2)
    office = np.sort(rng.integers(0, many, people))
    number = np.concatenate(
        [rng.permutation(10_000)[: int(size)] for size in np.bincount(office, minlength=many)]
    )
    return {"office": Made(office[: len(number)]), "number": Made(number, "number")}


def _amounts(rng: np.random.Generator, people: int) -> Integers:
    return np.asarray(
        np.round(np.exp(rng.normal(10, rng.uniform(0.6, 1.3), people))).astype(np.int64)
    )


def _region(rng: np.random.Generator, people: int) -> dict[str, Made]:
    return {"region": _few(rng, people, int(rng.integers(3, 12)))}


def _few(rng: np.random.Generator, people: int, many: int) -> Made:
    return Made(rng.integers(0, many, people))


def _items(rng: np.random.Generator, people: int, low: int = 6, high: int = 12) -> Integers:
    trait, answers = rng.normal(0, 1, people), int(rng.integers(4, 8))
    latent = [
        answers / 2 + trait * rng.uniform(0.3, 1) + rng.normal(0, 1, people)
        for _ in range(int(rng.integers(low, high)))
    ]
    return np.clip(np.round(np.stack(latent, axis=1)), 1, answers).astype(np.int64)


def _count_within(group: Integers) -> Integers:
    """Number the members of each group from 1; members are next to each other."""
    return np.asarray(np.arange(len(group)) - np.searchsorted(group, group) + 1)


Kind = Callable[[np.random.Generator, int], Columns]
_HEAPS: Final = (no_income, ages_at_tens, income_and_debt, top_coded, new_years_days, rounded_wages)
_IDENTICAL: Final = (straight_liners, items_of_a_trait, blank_rows, middle_answers)
_KEYS: Final = (house_numbers, members, tickets, cases_of_courts, beds, numbers_of_offices)
KINDS: Final[Mapping[str, Kind]] = {kind.__name__: kind for kind in (*_HEAPS, *_IDENTICAL, *_KEYS)}
