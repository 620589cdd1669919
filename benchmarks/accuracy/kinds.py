"""Kinds of tables that no constant had been chosen on when they were written.

A kind makes a population of 20,000 to 300,000 people, whose classes are counted, and says in which order they
would be sampled: by chance, but for `by_region` and `whole_households`, whose samples are not random.
`people_families` has which of them constants were chosen on.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.accuracy.generated import Columns, Made, coded
from benchmarks.accuracy.people_cases import Case, cases_of_samples
from reid_sql.parameters import Integers

PEOPLE: Final = (2e4, 3e5)
SAMPLES: Final = (300, 1500, 8000)
MINUTES: Final = 24 * 60
BLANK: Final = -1  # a name of this number is NULL


@dataclass(frozen=True)
class Population:
    """The columns of a population, and the order in which people are sampled; None is by chance."""

    columns: Columns
    order: Integers | None = None


Kind = Callable[[np.random.Generator, int], Population]


def cases(kind: str, count: int, seed: int) -> Iterator[Case]:
    """Draw populations of a kind and nested samples of each, and measure them."""
    for place in range(count):
        rng = np.random.default_rng([seed, place, *kind.encode()])
        made = KINDS[kind](rng, round(_log_uniform(rng, *PEOPLE)))
        table = coded(made.columns)
        order = rng.permutation(len(table.codes)) if made.order is None else made.order
        yield from cases_of_samples(kind, table, order, SAMPLES, place)


def zipf_mixture(rng: np.random.Generator, people: int) -> Population:
    """Columns by laws of Zipf, with another rank order in each of a few groups that no column tells."""
    group = rng.integers(0, int(rng.integers(2, 30)), people)
    found = {}
    for j in range(int(rng.integers(2, 7))):
        many = int(_log_uniform(rng, 10, 3000))
        place = zipf(rng, people, many, rng.uniform(0.7, 1.6))
        order = np.stack([rng.permutation(many) for _ in range(int(group.max()) + 1)])
        found[f"c{j}"] = Made(order[group, place])
    return Population(found)


def families(rng: np.random.Generator, people: int) -> Population:
    """Members of households that share place, tenure and income, each with an age by the role and a sex."""
    return Population(_families(rng, *_homes(rng, people)))


def whole_households(rng: np.random.Generator, people: int) -> Population:
    """Families of which a sample takes all members of some: not a random sample of people."""
    home, member = _homes(rng, people)
    drawn = rng.permutation(int(home.max()) + 1)[home]
    return Population(_families(rng, home, member), np.argsort(drawn, kind="stable"))


def shared_homes(rng: np.random.Generator, people: int) -> Population:
    """Households of which only what all members share was kept, and sometimes their sex."""
    home, _ = _homes(rng, people)
    many = int(home.max()) + 1
    found = {
        f"c{j}": Made(zipf(rng, many, int(_log_uniform(rng, 5, 300)), 0.9)[home])
        for j in range(int(rng.integers(3, 7)))
    }
    return Population(
        found | ({"sex": Made(rng.integers(0, 2, people))} if rng.random() < 0.5 else {})
    )


def panel(rng: np.random.Generator, people: int) -> Population:
    """Waves of a panel: two to six rows a person, some columns fixed, the others seldom changed."""
    waves, change = int(rng.integers(2, 7)), _log_uniform(rng, 0.01, 0.4)
    person = np.repeat(np.arange(people // waves + 1), waves)[:people]
    many = int(person.max()) + 1
    found = {
        "birth_year": Made(rng.integers(1930, 2006, many)[person], "number"),
        "sex": Made(rng.integers(0, 2, many)[person]),
    }
    for j in range(int(rng.integers(2, 6))):
        values = int(_log_uniform(rng, 4, 200))
        usual = zipf(rng, many, values, 0.8)[person]
        found[f"c{j}"] = Made(
            np.where(rng.random(people) < change, zipf(rng, people, values, 0.8), usual)
        )
    return Population(found)


def twice(rng: np.random.Generator, people: int) -> Population:
    """A register into which a part of the people came two or three times over."""
    part, columns = rng.uniform(0.1, 1), int(rng.integers(3, 8))
    own = int(people / (1 + 1.4 * part))
    again = rng.permutation(own)[: int(part * own)]
    person = np.concatenate([np.arange(own), again, again[: int(0.4 * len(again))]])
    trait = rng.normal(size=own)
    found = {}
    for j in range(columns):
        values = int(_log_uniform(rng, 3, 100))
        latent = 0.5 * trait + rng.normal(size=own)
        found[f"c{j}"] = Made(
            np.clip(latent * values / 6 + values / 2, 0, values).astype(np.int64)[person]
        )
    return Population(found)


def followed(rng: np.random.Generator, people: int) -> Population:
    """A birth date with year and age, a code with its group and sector, of which some slip now and then."""
    days = rng.integers(0, 80 * 365, people)
    codes = int(_log_uniform(rng, 100, 2000))
    code = zipf(rng, people, codes, 0.9)
    group = np.sort(rng.integers(0, codes // 6 + 1, codes))
    slip = rng.random(people) < rng.choice([0.0, 0.0, 0.001, 0.01])
    step = int(rng.choice([1, 30, 365]))
    found = {
        "born": Made(days // step * step, "number"),
        "year": Made(days // 365, "number"),
        "code": Made(code),
        "group": Made(np.where(slip, rng.integers(0, int(group.max()) + 1, people), group[code])),
        "sector": Made(group[code] // 9),
        "sex": Made(rng.integers(0, 2, people)),
    }
    kept = [name for name in found if rng.random() < 0.85]
    return Population({name: found[name] for name in kept} if len(kept) > 1 else found)


def wide_survey(rng: np.random.Generator, people: int) -> Population:
    """Twenty to forty questions: a few traits and a few rare conditions lead them, some were not asked."""
    people = min(people, 60_000)
    traits = rng.normal(size=(people, int(rng.integers(2, 7))))
    filter_ = rng.random(people) < rng.uniform(0.2, 0.8)
    found = {}
    for j in range(int(rng.integers(20, 41))):
        latent = traits @ rng.normal(size=traits.shape[1]) * rng.uniform(0, 1.5) + rng.normal(
            size=people
        )
        edges = np.quantile(
            latent, np.sort(rng.beta(1, rng.uniform(1, 4), int(rng.integers(1, 6))))
        )
        answer = np.searchsorted(edges, latent)
        found[f"q{j}"] = Made(np.where(filter_ | (rng.random() < 0.6), answer, BLANK))
    return Population(found)


def few_categories(rng: np.random.Generator, people: int) -> Population:
    """Three to ten columns of two to five values, in a few groups that no column tells."""
    groups = int(rng.integers(1, 12))
    group = rng.integers(0, groups, people)
    found = {}
    for j in range(int(rng.integers(3, 11))):
        shares = np.cumsum(rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.6), groups), axis=1)
        found[f"c{j}"] = Made((rng.random(people)[:, None] > shares[group]).sum(axis=1))
    return Population(found)


def visits(rng: np.random.Generator, people: int) -> Population:
    """Moments to the second or minute that hardly two share, thick by hour, with a ward and an age."""
    step = int(rng.choice([1, 60, 600]))
    day = rng.integers(0, int(rng.integers(3, 200)), people)
    when = day * MINUTES * 60 + (np.clip(rng.normal(11, 3, people), 0, 23.9) * 3600).astype(
        np.int64
    )
    found = {"seen": Made(when // step * step, "moment"), "ward": Made(zipf(rng, people, 40, 1.0))}
    return Population(
        found | ({"age": Made(rng.integers(0, 95, people), "number")} if rng.random() < 0.5 else {})
    )


def measurements(rng: np.random.Generator, people: int) -> Population:
    """Readings of thousands of values that go together, rounded by each device in its own way."""
    wide = int(rng.integers(1, 5))
    mixed = rng.normal(size=(people, wide)) @ (0.5 * rng.normal(size=(wide, wide)) + np.eye(wide))
    found = {}
    for j in range(wide):
        reading = np.exp(mixed[:, j] * rng.uniform(0.1, 0.5)) * 10 ** rng.uniform(2, 4)
        coarse = np.where(rng.random(people) < rng.uniform(0, 0.8), 10.0, 1.0)
        found[f"m{j}"] = Made((np.round(reading / coarse) * coarse).astype(np.int64), "number")
    return Population(found | {"sex": Made(rng.integers(0, 2, people))})


def mostly_missing(rng: np.random.Generator, people: int) -> Population:
    """Columns that are NULL for most, and together for some: who answered answered much."""
    keen = rng.beta(0.5, 1.5, people)
    found = {}
    for j in range(int(rng.integers(4, 13))):
        own = zipf(rng, people, int(_log_uniform(rng, 3, 300)), rng.uniform(0.5, 1.5))
        found[f"c{j}"] = Made(np.where(rng.random(people) < keen * rng.uniform(0.2, 1), own, BLANK))
    return Population(found)


def births(rng: np.random.Generator, people: int) -> Population:
    """Postal code by city size, date or month of birth, and sex."""
    codes = zipf(rng, people, int(_log_uniform(rng, 20, 800)), rng.uniform(0.3, 1.1))
    days = (365 * (2024 - np.clip(rng.gamma(4, 10, people), 0, 99))).astype(
        np.int64
    ) + rng.integers(0, 365, people)
    step = int(rng.choice([1, 7, 30]))
    return Population(
        {
            "zip": Made(codes),
            "born": Made(days // step * step, "number"),
            "sex": Made(rng.integers(0, 2, people)),
        }
    )


def careers(rng: np.random.Generator, people: int) -> Population:
    """Codes of a tree, each drawn below the one before, as diagnoses or trades are, with an age."""
    branch = int(rng.integers(3, 12))
    first = zipf(rng, people, branch, 0.8)
    found, above = {"level0": Made(first)}, first
    for depth in range(1, int(rng.integers(2, 5))):
        above = above * branch + zipf(rng, people, branch, rng.uniform(0.5, 1.5))
        found[f"level{depth}"] = Made(above.copy())
    if rng.random() < 0.5:
        del found["level0"]
    age = np.clip(30 + 3 * first + rng.gamma(3, 6, people), 0, 99).astype(np.int64)
    return Population(found | {"age": Made(age, "number")})


def by_region(rng: np.random.Generator, people: int) -> Population:
    """Regions that differ in all columns, of which a sample has a third: not a random sample."""
    regions = int(rng.integers(6, 40))
    region = zipf(rng, people, regions, 0.7)
    found = {}
    for j in range(int(rng.integers(3, 7))):
        many = int(_log_uniform(rng, 4, 60))
        moved = rng.integers(0, many, regions)[region]
        found[f"c{j}"] = Made((zipf(rng, people, many, 1.0) + moved) % many)
    taken = rng.permutation(regions) < max(regions // 3, 1)
    order = rng.permutation(people)
    return Population(
        found, np.concatenate([order[taken[region[order]]], order[~taken[region[order]]]])
    )


def _families(rng: np.random.Generator, home: Integers, member: Integers) -> Columns:
    many = int(home.max()) + 1
    shared = {
        "place": Made(zipf(rng, many, int(_log_uniform(rng, 50, 3000)), 0.8)[home]),
        "tenure": Made(rng.integers(0, 4, many)[home]),
        "income": Made(
            (np.exp(rng.normal(3, 0.6, many)) // rng.choice([1, 5])).astype(np.int64)[home],
            "number",
        ),
    }
    head = rng.gamma(12, 4, many)[home]
    age = np.where(
        member < 2, head + rng.normal(0, 4, len(home)), head - 28 + rng.normal(0, 4, len(home))
    )
    own = {
        "age": Made(np.clip(age, 0, 99).astype(np.int64), "number"),
        "sex": Made(rng.integers(0, 2, len(home))),
    }
    kept = [name for name in shared if rng.random() < 0.8] or ["place"]
    return {name: shared[name] for name in kept} | own


def _homes(rng: np.random.Generator, people: int) -> tuple[Integers, Integers]:
    """Each person's household, of one to seven, and number in it; members stand together."""
    size = 1 + np.minimum(rng.poisson(rng.uniform(0.6, 2.2), people), 6)
    home = np.repeat(np.arange(people), size)[:people]
    first = np.cumsum(np.concatenate([[0], size[:-1]]))
    return home, np.arange(people) - first[home]


def zipf(rng: np.random.Generator, people: int, many: int, power: float) -> Integers:
    """Draw ranks of many values by shares that fall with this power of the rank."""
    shares = np.arange(1, many + 1.0) ** -power
    return np.asarray(np.searchsorted(np.cumsum(shares / shares.sum())[:-1], rng.random(people)))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


_CHOOSING: Final = (
    zipf_mixture,
    shared_homes,
    twice,
    followed,
    few_categories,
    measurements,
    mostly_missing,
)
_HELD_OUT: Final = (families, panel, wide_survey, visits, births, careers)
_NOT_RANDOM: Final = (whole_households, by_region)
KINDS: Final[Mapping[str, Kind]] = {
    kind.__name__: kind for kind in (*_CHOOSING, *_HELD_OUT, *_NOT_RANDOM)
}
