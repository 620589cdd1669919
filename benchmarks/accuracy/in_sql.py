"""What `population_risk` answers in SQL about tables of further kinds, beside their counted populations.

`python -m benchmarks.accuracy.in_sql [populations a kind] [seed]`; no constant was chosen on these kinds. The
samples go on to 40,000 records, where some pairs of columns are counted among the records drawn alone.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

import reid_sql
from benchmarks.accuracy.kinds import zipf

Values = npt.NDArray[Any]
Columns = Mapping[str, Values]
PEOPLE: Final = (8e4, 4e5)
SAMPLES: Final = (300, 1500, 8000, 40_000)
MEASURES: Final = ("uniqueness", "correctness", "below_k")
TRUTH: Final = """SELECT coalesce(sum(n) FILTER (n = 1), 0) / sum(n), count(*) / sum(n),
    coalesce(sum(n) FILTER (n < 5), 0) / sum(n) FROM (SELECT count(*) AS n FROM population GROUP BY {})"""


@dataclass(frozen=True)
class Told:
    """One figure of one sample: the kind, the measure, the truth, the estimate and its interval."""

    kind: str
    measure: str
    truth: float
    estimate: float
    low: float
    high: float

    @property
    def is_above(self) -> bool:
        """Whether the truth lies above the interval: people looked safer than they are."""
        return self.truth > self.high

    @property
    def is_held(self) -> bool:
        """Whether the interval holds the truth."""
        return self.low <= self.truth <= self.high


def birth_sex_place(rng: np.random.Generator, people: int) -> Columns:
    """The classic trio, independent of each other."""
    born = np.datetime64("1940-01-01", "D") + (rng.beta(2, 1.4, people) * 25_000).astype(np.int64)
    place = zipf(rng, people, int(rng.integers(20, 400)), 0.6)
    return {"born": born, "sex": rng.integers(0, 2, people), "place": place.astype(str)}


def positions(rng: np.random.Generator, people: int) -> Columns:
    """Where people were, rounded, in clusters."""
    many = int(rng.integers(5, 60))
    centre, spread = rng.normal(0, 1, (many, 2)), rng.uniform(0.01, 0.2, many)
    at = zipf(rng, people, many, 1.1)
    near = centre[at] + rng.normal(0, 1, (people, 2)) * spread[at][:, None]
    fine = 10 ** int(rng.integers(1, 4))
    rounded = np.round(near * fine) / fine
    return {"north": rounded[:, 0], "east": rounded[:, 1], "sex": rng.integers(0, 2, people)}


def names(rng: np.random.Generator, people: int) -> Columns:
    """First and last names of twelve origins, and the decade of birth."""
    origin = zipf(rng, people, 12, 1).astype(str)
    first, last = zipf(rng, people, 800, 1.2).astype(str), zipf(rng, people, 3000, 1).astype(str)
    told = np.char.add(np.char.add(origin, "_"), first), np.char.add(np.char.add(origin, "_"), last)
    return {
        "first": told[0],
        "last": told[1],
        "decade": (rng.beta(2, 2, people) * 9).astype(np.int64),
    }


def marks_at_school(rng: np.random.Generator, people: int) -> Columns:
    """Two to five marks that go together."""
    gift = rng.normal(0, 1, people)
    found = {}
    for subject in range(int(rng.integers(2, 6))):
        mark = 60 + 15 * (0.7 * gift + 0.7 * rng.normal(0, 1, people))
        found[f"mark{subject}"] = np.clip(np.round(mark), 0, 100).astype(np.int64)
    return found


def opinions(rng: np.random.Generator, people: int) -> Columns:
    """Five to ten questions with a few answers each, behind which stand two attitudes."""
    attitude, found = rng.normal(0, 1, (people, 2)), {}
    answers = int(rng.integers(2, 6))
    for question in range(int(rng.integers(5, 11))):
        leaning = attitude @ rng.normal(0, 1, 2) + 0.8 * rng.normal(0, 1, people)
        ends = np.quantile(leaning, np.sort(rng.uniform(0.05, 0.95, answers - 1)))
        found[f"question{question}"] = np.digitize(leaning, ends)
    return found


def diagnoses(rng: np.random.Generator, people: int) -> Columns:
    """A dozen or two rare flags, of which a few people have many."""
    burden, many = rng.beta(0.5, 3, people), int(rng.integers(12, 25))
    usual = rng.beta(1, 6, many)
    return {
        f"d{flag}": (rng.random(people) < np.clip(burden * usual[flag] * 6, 0, 1)).astype(np.int64)
        for flag in range(many)
    }


def cars(rng: np.random.Generator, people: int) -> Columns:
    """Make, model, year, colour and trim, of which some follow from others, and where it is kept."""
    make, model = zipf(rng, people, 40, 1.1), zipf(rng, people, 12, 0.9)
    return {
        "make": make.astype(str),
        "model": (make * 100 + model).astype(str),
        "year": 2024 - np.minimum(rng.gamma(2, 4, people).astype(np.int64), 40),
        "colour": ((zipf(rng, people, 10, 1) + model) % 10).astype(str),
        "trim": (rng.integers(0, 3, people) * (model % 2)).astype(str),
        "place": zipf(rng, people, 300, 0.5).astype(str),
    }


def laboratory(rng: np.random.Generator, people: int) -> Columns:
    """Age, two rounded measurements, and a sex that goes with one of them."""
    blood, age = rng.normal(0, 1, people), np.clip(np.round(rng.gamma(6, 8, people)), 0, 100)
    fat = np.round((180 + 0.4 * age + 20 * rng.normal(0, 1, people)) / 5) * 5
    iron = np.round(14 + 1.2 * blood + rng.normal(0, 0.6, people), 1)
    sex = (blood + rng.normal(0, 1, people) > 0).astype(np.int64)
    return {"age": age.astype(np.int64), "iron": iron, "fat": fat.astype(np.int64), "sex": sex}


def commuters(rng: np.random.Generator, people: int) -> Columns:
    """Home, work, which is often near, and the hour of leaving."""
    home = zipf(rng, people, 500, 0.8)
    away = (home + zipf(rng, people, 200, 1)) % 500
    work = np.where(rng.random(people) < 0.5, home, away)
    hour = np.clip(np.round(rng.normal(8, 1.2, people) * 2) / 2, 4, 12)
    return {"home": home.astype(str), "work": work.astype(str), "hour": hour}


def couples(rng: np.random.Generator, people: int) -> Columns:
    """The ages of two who live together, their children, and the region."""
    one = np.clip(np.round(rng.normal(45, 15, people)), 18, 95).astype(np.int64)
    other = np.clip(one + np.round(rng.laplace(-2, 3, people)), 18, 95).astype(np.int64)
    children, region = np.minimum(rng.poisson(1.6, people), 7), zipf(rng, people, 60, 0.7)
    return {"one": one, "other": other, "children": children, "region": region.astype(str)}


KINDS: Final[tuple[Callable[[np.random.Generator, int], Columns], ...]] = (
    *(birth_sex_place, positions, names, marks_at_school, opinions),
    *(diagnoses, cars, laboratory, commuters, couples),
)


def told(con: duckdb.DuckDBPyConnection, populations: int, seed: int) -> Iterator[Told]:
    """Ask about nested samples of populations of each kind."""
    for kind in KINDS:
        for place in range(populations):
            rng = np.random.default_rng([seed, place, *kind.__name__.encode()])
            people = round(float(np.exp(rng.uniform(*np.log(PEOPLE)))))
            table = pa.table({name: pa.array(values) for name, values in kind(rng, people).items()})
            con.register("population", table)
            truth = con.execute(TRUTH.format(", ".join(table.column_names))).fetchall()[0]
            order = rng.permutation(people)
            for records in SAMPLES:
                con.register("sample", table.take(order[:records]))
                asked = "FROM population_risk(sample, ?, [?])"
                found = (
                    con.sql(asked, params=[table.column_names, people])
                    .to_arrow_table()
                    .to_pylist()[0]
                )
                for measure, share in zip(MEASURES, truth, strict=True):
                    ends = (found[f"{measure}{end}"] for end in ("", "_low", "_high"))
                    yield Told(kind.__name__, measure, float(share), *ends)


def line(words: str, some: list[Told]) -> str:
    """Say in a row of a table how often the intervals held."""
    held, above = sum(one.is_held for one in some), sum(one.is_above for one in some)
    error = 100 * fmean(abs(one.estimate - one.truth) for one in some)
    width = fmean(one.high - one.low for one in some)
    return f"| {words} | {len(some)} | {held} | {above} | {error:.2f} | {width:.3f} |"


def main() -> None:
    """Print a row for each kind, and one for all."""
    numbers = [int(each) for each in sys.argv[1:]]
    populations, seed = [*numbers, *(4, 1)[len(numbers) :]]
    con = duckdb.connect()
    reid_sql.register(con)
    found = list(told(con, populations, seed))
    print("| kind | figures | held | truth above | mean error, p.p. | mean width |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        words = kind.__name__.replace("_", " ")
        print(line(words, [one for one in found if one.kind == kind.__name__]))
    print(line("all", found))


if __name__ == "__main__":
    main()
