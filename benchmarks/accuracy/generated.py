"""Tables of other kinds than the corpora: families of generators, each of a known law and random parameters.

A family makes a population of 100,000 to 1,000,000 people, whose classes are counted. `people_families` has
which of them constants were chosen on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from benchmarks.accuracy.people_cases import Case, Coded, cases_of_samples
from reid_sql.parameters import Integers

PEOPLE: Final = (5e4, 3e5)
SAMPLES: Final = (200, 1000, 5000)
START: Final = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Made:
    """One column of a population: a whole number for each person, and how it is told."""

    numbers: Integers
    kind: str = "name"  # name, number, moment


Columns = Mapping[str, Made]
Family = Callable[[np.random.Generator, int], Columns]


def cases(family: str, count: int, seed: int) -> Iterator[Case]:
    """Draw populations of a family and nested samples of each, and measure them."""
    return draw_cases(family, FAMILIES[family], PEOPLE, SAMPLES, count=count, seed=seed)


def draw_cases(
    name: str,
    draw: Family,
    sizes: tuple[float, float],
    samples: Sequence[int],
    *,
    count: int,
    seed: int,
) -> Iterator[Case]:
    """Draw populations of a size within the two, and nested samples of each, and measure them."""
    for place in range(count):
        rng = np.random.default_rng([seed, place, *name.encode()])
        people = round(_log_uniform(rng, *sizes))
        table = coded(draw(rng, people))
        yield from cases_of_samples(name, table, rng.permutation(people), samples, place)


def coded(columns: Columns) -> Coded:
    """Code a population, its values as texts."""
    codes: list[Integers] = []
    values: list[list[str | None]] = []
    for made in columns.values():
        seen, inverse = np.unique(made.numbers, return_inverse=True)
        codes.append(inverse)
        values.append([_text(number, made.kind) for number in seen.tolist()])
    ordered = [made.kind != "name" for made in columns.values()]
    return Coded(list(columns), np.stack(codes, axis=1), values, ordered)


def _text(number: int, kind: str) -> str | None:
    """Tell a number as text; a name of a number below 0 is NULL."""
    if kind == "name" and number < 0:
        return None
    if kind == "moment":
        return (START + timedelta(seconds=number)).strftime("%Y-%m-%d %H:%M:%S")
    return str(number) if kind == "number" else f"v{number}"


def independent(rng: np.random.Generator, people: int) -> Columns:
    """Nominal and ordered columns that know nothing of each other."""
    wide = int(rng.integers(3, 11))
    found = {
        f"c{j}": Made(_categories(rng, people, int(_log_uniform(rng, 2, 60)))) for j in range(wide)
    }
    return found | {"age": Made(_ages(rng, people), "number")}


def dependent(rng: np.random.Generator, people: int) -> Columns:
    """A chain: each column keeps what the one before it says, but for a part."""
    wide, kept = int(rng.integers(3, 9)), rng.uniform(0.6, 0.97)
    many = int(_log_uniform(rng, 5, 200))
    now = _categories(rng, people, many)
    found = {"c0": Made(now)}
    for j in range(1, wide):
        turned = rng.permutation(many)[now] % max(many - 2 * j, 2)
        now = np.where(rng.random(people) < kept, turned, _categories(rng, people, many))
        found[f"c{j}"] = Made(now)
    return found


def functional(rng: np.random.Generator, people: int) -> Columns:
    """Zip code, city and state, the latter two told by the first, beside age, sex and a trade."""
    zips = int(_log_uniform(rng, 200, 5000))
    city = np.sort(rng.integers(0, zips // 5, zips))
    state = city // 12
    home = _categories(rng, people, zips)
    found = {"zip": Made(home), "city": Made(city[home]), "state": Made(state[home])}
    found |= {"age": Made(_ages(rng, people), "number"), "sex": Made(_categories(rng, people, 2))}
    return found | ({"trade": Made(_categories(rng, people, 30))} if rng.random() < 0.5 else {})


def clusters(rng: np.random.Generator, people: int) -> Columns:
    """DrawnGroups of people, within each of which the columns are independent and peaked."""
    groups, wide = int(_log_uniform(rng, 3, 200)), int(rng.integers(4, 11))
    group = _categories(rng, people, groups)
    found = {}
    for j in range(wide):
        many, peak = int(_log_uniform(rng, 3, 40)), rng.uniform(0.3, 0.95)
        usual = rng.integers(0, many, groups)[group]
        found[f"c{j}"] = Made(
            np.where(rng.random(people) < peak, usual, _categories(rng, people, many))
        )
    return found


def heavy_tailed(rng: np.random.Generator, people: int) -> Columns:
    """Names by a law of Zipf beside a few plain columns."""
    found = {
        f"name{j}": Made(np.minimum(rng.zipf(rng.uniform(1.15, 2.2), people), 10**9))
        for j in range(int(rng.integers(1, 3)))
    }
    return found | {
        f"c{j}": Made(_categories(rng, people, 5)) for j in range(int(rng.integers(1, 5)))
    }


def near_identifier(rng: np.random.Generator, people: int) -> Columns:
    """A number that hardly two people share, beside plain columns."""
    many = round(people * _log_uniform(rng, 0.1, 10))
    found = {"number": Made(rng.integers(0, many, people))}
    return found | {
        f"c{j}": Made(_categories(rng, people, 4)) for j in range(int(rng.integers(1, 4)))
    }


def fingerprints(rng: np.random.Generator, people: int) -> Columns:
    """Devices: each has one of many models, which decides nearly all of its traits."""
    models = _chinese(rng, people, _log_uniform(rng, 30, 3000), rng.uniform(0.2, 0.7))
    found = {}
    for j in range(int(rng.integers(4, 11))):
        many, noise = int(_log_uniform(rng, 3, 60)), _log_uniform(rng, 0.0005, 0.03)
        trait = np.minimum(rng.zipf(1.5, int(models.max()) + 1), many)[models]
        found[f"c{j}"] = Made(
            np.where(rng.random(people) < noise, rng.integers(0, many, people), trait)
        )
    return found


def amounts(rng: np.random.Generator, people: int) -> Columns:
    """An income of thousands of values, rounded by some, with an age that it goes with and a few groups."""
    age = _ages(rng, people)
    income = np.exp(rng.normal(10 + 0.02 * (age - 40), rng.uniform(0.3, 0.9)))
    step = 10.0 ** rng.integers(0, 4)
    rounded = np.where(rng.random(people) < rng.uniform(0.2, 0.9), 10 * step, step)
    told = (np.round(income / rounded) * rounded).astype(np.int64)
    found = {"age": Made(age, "number"), "income": Made(told, "number")}
    return found | {
        f"c{j}": Made(_categories(rng, people, 4)) for j in range(int(rng.integers(0, 4)))
    }


def moments(rng: np.random.Generator, people: int) -> Columns:
    """Time stamps, thick by day, in steps of a second, a minute or an hour, with a place and a kind."""
    days, hour = rng.integers(7, 366), np.clip(rng.normal(14, 4, people), 0, 23.99)
    when = rng.integers(0, days, people) * 86400 + (hour * 3600).astype(np.int64)
    step = int(rng.choice([1, 60, 3600]))
    found = {
        "moment": Made(when // step * step, "moment"),
        "place": Made(_categories(rng, people, 300)),
    }
    return found | {"kind": Made(_categories(rng, people, 6))}


def households(rng: np.random.Generator, people: int) -> Columns:
    """Members of households that share all but age and sex, or all of it."""
    size = 1 + rng.binomial(5, rng.uniform(0.2, 0.5), people)
    member = np.repeat(np.arange(people), size)[:people]
    found = {
        f"c{j}": Made(_categories(rng, people, 40)[member]) for j in range(int(rng.integers(2, 6)))
    }
    if rng.random() < 0.5:
        found["age"] = Made(_ages(rng, people), "number")
    return found


def repeated(rng: np.random.Generator, people: int) -> Columns:
    """A register in which people stand some times over, each time alike."""
    wide, often = int(rng.integers(4, 9)), rng.uniform(1.2, 3)
    person = rng.integers(0, round(people / often), people)
    return {
        f"c{j}": Made(_categories(rng, people, int(_log_uniform(rng, 3, 50)))[person])
        for j in range(wide)
    }


def two_columns(rng: np.random.Generator, people: int) -> Columns:
    """An age and a code that leans on it."""
    many = int(_log_uniform(rng, 50, 20_000))
    age = _ages(rng, people)
    code = np.where(
        rng.random(people) < rng.uniform(0, 0.9), age * many // 100, _categories(rng, people, many)
    )
    return {"age": Made(age, "number"), "code": Made(code)}


def thirty_columns(rng: np.random.Generator, people: int) -> Columns:
    """Answers to thirty questions, led by a few hidden traits."""
    traits = rng.normal(size=(people, int(rng.integers(1, 5))))
    found = {}
    for j in range(30):
        lead = rng.normal(size=traits.shape[1]) * rng.uniform(0.5, 3)
        edges = np.sort(rng.normal(rng.normal(0, 1), 1, int(rng.integers(1, 5))))
        found[f"c{j}"] = Made(np.searchsorted(edges, traits @ lead / 2 + rng.normal(size=people)))
    return found


def latent_normal(rng: np.random.Generator, people: int) -> Columns:
    """Ordered scales cut from a normal law with correlations of any sign."""
    wide = int(rng.integers(3, 9))
    mixed = rng.normal(size=(people, wide)) @ (
        rng.normal(size=(wide, wide)) * rng.uniform(0.2, 1) + np.eye(wide)
    )
    mixed /= mixed.std(axis=0)
    scale = np.exp(rng.uniform(np.log(1), np.log(20), wide))
    return {
        f"c{j}": Made(np.round(mixed[:, j] * scale[j]).astype(np.int64), "number")
        for j in range(wide)
    }


def rule_bound(rng: np.random.Generator, people: int) -> Columns:
    """Plain columns, and columns that any two of them decide: dependence that no pair shows."""
    many = int(_log_uniform(rng, 4, 15))
    free = [rng.integers(0, many, people) for _ in range(int(rng.integers(3, 6)))]
    found = {f"c{j}": Made(own) for j, own in enumerate(free)}
    for j in range(int(rng.integers(1, 4))):
        one, other = rng.choice(len(free), 2, replace=False)
        slip = rng.random(people) < 0.02
        sums = (free[one] + (j + 1) * free[other]) % many
        found[f"d{j}"] = Made(np.where(slip, rng.integers(0, many, people), sums))
    return found


def _ages(rng: np.random.Generator, people: int) -> Integers:
    return np.asarray(np.clip(rng.gamma(4.0, 10.0, people), 0, 99).astype(np.int64))


def _categories(rng: np.random.Generator, people: int, many: int) -> Integers:
    """Draw values of a column by shares of a random law: Dirichlet, thin or thick."""
    shares_of = rng.gamma(_log_uniform(rng, 0.3, 5), size=many) + 1e-9
    return np.asarray(
        np.searchsorted(np.cumsum(shares_of / shares_of.sum())[:-1], rng.random(people))
    )


def _chinese(
    rng: np.random.Generator, people: int, concentration: float, discount: float
) -> Integers:
    """Draw labels by stick breaking of Pitman and Yor, as many sticks as matter."""
    place = np.arange(1, 20_001)
    broken = rng.beta(1 - discount, concentration + discount * place)
    masses = broken * np.concatenate([[1.0], np.cumprod(1 - broken)[:-1]])
    return np.asarray(np.searchsorted(np.cumsum(masses / masses.sum())[:-1], rng.random(people)))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


_CHOOSING: Final = (
    independent,
    functional,
    clusters,
    heavy_tailed,
    fingerprints,
    amounts,
    repeated,
    latent_normal,
)
_HELD_OUT: Final = (
    *(dependent, near_identifier, moments, households),
    *(two_columns, thirty_columns, rule_bound),
)
FAMILIES: Final[Mapping[str, Family]] = {
    family.__name__: family for family in (*_CHOOSING, *_HELD_OUT)
}
