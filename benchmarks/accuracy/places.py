"""Registers of people by place: where they live, when they were born, and little else.

Constants of intervals may be chosen on these kinds. They share no generator with the held-out `births`,
`birth_sex_place`, `names` and `positions`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from benchmarks.accuracy.generated import Columns, Made, draw_cases
from benchmarks.accuracy.kinds import PEOPLE, SAMPLES
from benchmarks.accuracy.people_cases import Case
from reid_sql.parameters import Floats, Integers

YEAR: Final = 2020


def cases(kind: str, count: int, seed: int) -> Iterator[Case]:
    """Draw populations of a kind and nested samples of each, and measure them."""
    return draw_cases(kind, KINDS[kind], PEOPLE, SAMPLES, count=count, seed=seed)


def districts(rng: np.random.Generator, people: int) -> Columns:
    """Districts of log-normal size, each younger or older than others; year of birth, sex, an occupation."""
    many = int(_log_uniform(rng, 30, 1500))
    home = _draw(rng, people, np.exp(rng.normal(0, rng.uniform(0.4, 1.4), many)))
    older = rng.normal(0, rng.uniform(0, 12), many)[home]
    age = np.clip(rng.normal(42, 22, people) + older, 0, 100).astype(np.int64)
    found = {"district": Made(home), "born": Made(YEAR - age, "number"), "sex": _sex(rng, people)}
    if rng.random() < 0.5:
        found["occupation"] = Made(
            _draw(rng, people, rng.gamma(0.7, size=int(_log_uniform(rng, 8, 120))))
        )
    return found


def electoral_roll(rng: np.random.Generator, people: int) -> Columns:
    """Streets within wards, and the month or quarter of birth; a few people moved in together."""
    streets = int(_log_uniform(rng, 100, 4000))
    street = _draw(rng, people, rng.gamma(rng.uniform(0.5, 3), size=streets))
    months = (12 * rng.beta(1.6, 1.8, people) * 75).astype(np.int64)
    near = rng.random(people) < rng.uniform(0, 0.1)
    months = np.where(near, (street * 7) % 900, months) // int(rng.choice([1, 3]))
    found = {"street": Made(street), "month": Made(months, "number")}
    if rng.random() < 0.6:
        found["ward"] = Made(street // int(rng.integers(10, 40)))
    return found | ({"sex": _sex(rng, people)} if rng.random() < 0.7 else {})


def grid_cells(rng: np.random.Generator, people: int) -> Columns:
    """Cells of a grid over towns and countryside, and an age or age band."""
    towns, width = int(rng.integers(3, 40)), int(_log_uniform(rng, 20, 200))
    town = _draw(rng, people, np.exp(rng.normal(0, 1.2, towns)))
    at = rng.uniform(0, width, (towns, 2))[town] + rng.laplace(
        0, rng.uniform(0.5, 6, towns)[town, None], (people, 2)
    )
    country = rng.random(people) < rng.uniform(0.02, 0.3)
    at = np.where(
        country[:, None], rng.uniform(0, width, (people, 2)), np.clip(at, 0, width - 1e-9)
    )
    age = np.clip(rng.gamma(4.5, 9, people), 0, 105).astype(np.int64)
    found = {
        "x": Made(at[:, 0].astype(np.int64), "number"),
        "y": Made(at[:, 1].astype(np.int64), "number"),
    }
    return found | {"age": Made(age // int(rng.choice([1, 5])), "number"), "sex": _sex(rng, people)}


def surnames_by_region(rng: np.random.Generator, people: int) -> Columns:
    """Surnames, of which each region has some of its own; an initial, the year of birth."""
    regions, many = int(rng.integers(3, 25)), int(_log_uniform(rng, 500, 8000))
    region = _draw(rng, people, rng.gamma(2.0, size=regions))
    rank = _draw(rng, people, np.arange(1, many + 1.0) ** -rng.uniform(0.6, 1.2))
    local = rng.random(people) < rng.uniform(0.1, 0.7)
    surname = np.where(local, (rank + 997 * (region + 1)) % many, rank)
    initial = _draw(rng, people, rng.gamma(0.8, size=22))
    found = {"surname": Made(surname), "initial": Made(initial)}
    found |= {"region": Made(region)} if rng.random() < 0.6 else {}
    years = (80 * rng.beta(1.5, 1.7, people)).astype(np.int64)
    return found | ({"born": Made(YEAR - years // 10 * 10, "number")} if rng.random() < 0.6 else {})


def admissions(rng: np.random.Generator, people: int) -> Columns:
    """Patients of clinics: where they live, mostly near; the day or week of admission, and an age."""
    areas, clinics = int(_log_uniform(rng, 40, 900)), int(rng.integers(3, 40))
    area = _draw(rng, people, rng.gamma(1.5, size=areas))
    nearest = rng.integers(0, clinics, areas)[area]
    clinic = np.where(rng.random(people) < 0.8, nearest, rng.integers(0, clinics, people))
    day = rng.integers(0, int(rng.integers(60, 1500)), people)
    found = {
        "area": Made(area),
        "day": Made(day // int(rng.choice([1, 7])), "number"),
        "clinic": Made(clinic),
    }
    old = np.clip(rng.normal(58, 20, people), 0, 102).astype(np.int64)
    return found | (
        {"age": Made(old // int(rng.choice([1, 10])), "number")} if rng.random() < 0.6 else {}
    )


def birthdays(rng: np.random.Generator, people: int) -> Columns:
    """The day of birth, with fewer on some days and rounded for some, with a prefix of a telephone number."""
    days = (rng.beta(1.8, 2.2, people) * 85 * 365).astype(np.int64)
    rounded = rng.random(people) < rng.choice([0.0, 0.0, 0.05])
    days = np.where(rounded, days // 365 * 365, days)
    prefix = _draw(rng, people, rng.gamma(1.0, size=int(_log_uniform(rng, 5, 300))))
    found = {"born": Made(days, "number"), "prefix": Made(prefix)}
    return found | ({"sex": _sex(rng, people)} if rng.random() < 0.5 else {})


def _sex(rng: np.random.Generator, people: int) -> Made:
    return Made(rng.integers(0, 2, people))


def _draw(rng: np.random.Generator, people: int, sizes: Floats) -> Integers:
    """Draw places in proportion to their sizes."""
    return np.asarray(np.searchsorted(np.cumsum(sizes / sizes.sum())[:-1], rng.random(people)))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


Kind = Callable[[np.random.Generator, int], Columns]
_KINDS: Final = (districts, electoral_roll, grid_cells, surnames_by_region, admissions, birthdays)
KINDS: Final[Mapping[str, Kind]] = {kind.__name__: kind for kind in _KINDS}
