"""Unicity of a sample, forecast to all people: `python -m benchmarks.accuracy.traces`.

Traces and purchases of six kinds are generated, and two tables of real baskets are read. The truth is counted
among all people, the forecast is made of 2 to 25 % of them. The constants of the interval were chosen on the
kinds `CHOSEN_ON`; the others, and the baskets, judge it.
"""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from benchmarks.accuracy.corpora import folder
from reid_sql.models.pyc.penalized_law import forecast_uniqueness
from reid_sql.parameters import Floats, Integers

Rows = tuple[Integers, Integers]  # people, and what each of their rows says
CHOSEN_ON: Final = ("commuters", "neighbours", "shoppers")
REAL: Final = ("baskets_epub", "baskets_groceries")
FRACTIONS: Final = (0.02, 0.05, 0.1, 0.25)
KNOWN_ROWS: Final = (1, 2, 3, 4)
PEOPLE: Final = (3000, 12_000)
# of which the truth is counted: its standard error is at most 0.3 percentage points
TARGETS: Final = 24_000
DRAWS: Final = 6000  # of the targets in a sample
CHUNK: Final = 2000


@dataclass(frozen=True)
class Forecast:
    """A forecast from a fraction of the people, and the truth."""

    kind: str
    fraction: float
    points: int
    truth: float
    estimate: float
    low: float
    high: float


def _by_rank(rng: np.random.Generator, count: int, exponent: float) -> Floats:
    weight = (np.arange(count) + rng.uniform(1, 10)) ** -exponent
    return np.asarray(weight / weight.sum())


def commuters(rng: np.random.Generator, people: int) -> Rows:
    """Home and work of each person, and other places, by popularity; at some hour."""
    places, hours = int(rng.integers(20, 300)), int(rng.integers(3, 60))
    popular = _by_rank(rng, places, rng.uniform(0.2, 1.3))
    home = rng.choice(places, people, p=popular)
    work = rng.choice(places, people, p=_by_rank(rng, places, rng.uniform(0.5, 1.5)))
    person = np.repeat(np.arange(people), rng.poisson(rng.uniform(4, 25), people) + 1)
    kind, other = rng.random(person.size), rng.choice(places, person.size, p=popular)
    place = np.where(kind < 0.45, home[person], np.where(kind < 0.8, work[person], other))
    return person, place * hours + rng.integers(0, hours, person.size)


def neighbours(rng: np.random.Generator, people: int) -> Rows:
    """Cells of a map near a person's home, which is near a centre, at some hour."""
    side, hours = int(rng.integers(4, 22)), int(rng.integers(2, 50))
    centres = rng.random((int(rng.integers(2, 8)), 2))
    home = centres[rng.integers(0, len(centres), people)]
    home = home + rng.normal(0, rng.uniform(0.03, 0.3), (people, 2))
    person = np.repeat(np.arange(people), rng.poisson(rng.gamma(2, rng.uniform(2, 10), people)) + 1)
    place = home[person] + rng.standard_t(2, (person.size, 2)) * rng.uniform(0.01, 0.12)
    cell = np.clip((place * side).astype(np.int64), 0, side - 1)
    return person, (cell[:, 0] * side + cell[:, 1]) * hours + rng.integers(0, hours, person.size)


def shoppers(rng: np.random.Generator, people: int) -> Rows:
    """Items by popularity; how many a person buys is a gamma variable."""
    items, activity = int(rng.integers(40, 1500)), rng.gamma(rng.uniform(0.5, 3), 1, people)
    number = rng.poisson(activity / activity.mean() * rng.uniform(3, 15)) + 1
    person = np.repeat(np.arange(people), number)
    return person, rng.choice(items, person.size, p=_by_rank(rng, items, rng.uniform(0.5, 1.4)))


def explorers(rng: np.random.Generator, people: int) -> Rows:
    """Exploration and preferential return (Song et al. 2010): a new place, or one of those before."""
    places, days, length = (int(rng.integers(*ends)) for ends in ((30, 400), (1, 31), (5, 30)))
    popular, decay = _by_rank(rng, places, rng.uniform(0.4, 1.4)), rng.uniform(0.2, 0.9)
    visited = np.zeros((people, length), dtype=np.int64)
    visited[:, 0] = rng.choice(places, people, p=popular)
    for step in range(1, length):
        back = visited[np.arange(people), rng.integers(0, step, people)]
        is_new = rng.random(people) < 0.6 * step**-decay
        visited[:, step] = np.where(is_new, rng.choice(places, people, p=popular), back)
    is_seen = rng.random((people, length)) < rng.uniform(0.4, 1)
    is_seen[:, 0] = True
    person, turn = np.nonzero(is_seen)
    return person, visited[person, turn] * days + (turn * 7 + rng.integers(0, 2, turn.size)) % days


def segments(rng: np.random.Generator, people: int) -> Rows:
    """Segments of people, each with usual items, next to items by popularity."""
    groups, items = int(rng.integers(3, 60)), int(rng.integers(50, 1200))
    usual = rng.dirichlet(np.full(items, rng.uniform(0.02, 0.3)), groups)
    group = rng.choice(groups, people, p=_by_rank(rng, groups, 1.0))
    person = np.repeat(np.arange(people), rng.poisson(rng.uniform(3, 15), people) + 1)
    return person, _draw_by(rng, group[person], 0.8 * usual + 0.2 * _by_rank(rng, items, 1.0))


def topics(rng: np.random.Generator, people: int) -> Rows:
    """Each person mixes a few topics, and each topic many items (Blei, Ng & Jordan 2003)."""
    count, items = int(rng.integers(3, 12)), int(rng.integers(60, 1500))
    topic = rng.dirichlet(np.full(items, rng.uniform(0.03, 0.5)), count)
    mixture = rng.dirichlet(np.full(count, rng.uniform(0.1, 1)), people)
    person = np.repeat(np.arange(people), rng.poisson(rng.gamma(3, rng.uniform(1, 5), people)) + 1)
    chosen = (mixture[person].cumsum(axis=1) > rng.random(person.size)[:, None]).argmax(axis=1)
    return person, _draw_by(rng, chosen, topic)


def _draw_by(rng: np.random.Generator, group: Integers, chances: Floats) -> Integers:
    item = np.empty(group.size, dtype=np.int64)
    for number, own in enumerate(chances):
        item[group == number] = rng.choice(own.size, int((group == number).sum()), p=own)
    return item


_KINDS: Final = (commuters, neighbours, shoppers, explorers, segments, topics)
KINDS: Final[dict[str, Callable[[np.random.Generator, int], Rows]]] = {
    each.__name__: each for each in _KINDS
}
JUDGED_ON: Final = tuple(name for name in KINDS if name not in CHOSEN_ON)


class People:
    """The rows of people in random order; who has a row is a bit for each person."""

    def __init__(self, rng: np.random.Generator, rows: Rows) -> None:
        """Order the people by chance, and the rows by them; equal rows of a person are one."""
        self.count = int(rows[0].max()) + 1
        person, item = (
            rng.permutation(self.count)[rows[0]],
            np.unique(rows[1], return_inverse=True)[1],
        )
        has = np.zeros((int(item.max()) + 1, self.count), dtype=bool)
        has[item, person] = True
        owners, self.items = np.nonzero(has.T)
        self.starts = np.searchsorted(owners, np.arange(self.count + 1))
        self.bits = np.packbits(has, axis=1)

    def count_matches(
        self, rng: np.random.Generator, targets: Integers, points: int, people: int
    ) -> Integers:
        """Count who of the first so many people have random rows of each target; all of their few rows."""
        sizes = np.diff(self.starts)[targets]
        turn = rng.random((targets.size, max(int(sizes.max()), points)))
        turn[np.arange(turn.shape[1]) >= sizes[:, None]] = 2.0
        place = np.argsort(turn, axis=1)[:, :points]
        place = np.where(np.arange(points) < sizes[:, None], place, place[:, :1])
        known = self.items[self.starts[targets][:, None] + place]  # (targets, points)
        width = -(-people // 8)
        within = np.packbits(np.arange(8 * width) < people)
        chunks = [known[start : start + CHUNK] for start in range(0, targets.size, CHUNK)]
        shared = [
            np.bitwise_and.reduce(self.bits[each, :width], axis=1) & within for each in chunks
        ]
        return np.concatenate(
            [np.bitwise_count(each).sum(axis=1, dtype=np.int64) for each in shared]
        )


def forecasts(rng: np.random.Generator, kind: str, rows: Rows) -> Iterator[Forecast]:
    """Forecast from each fraction of the people to all of them, by each number of known rows."""
    everybody = People(rng, rows)
    for points in KNOWN_ROWS:
        targets = np.resize(rng.permutation(everybody.count), TARGETS)
        truth = float((everybody.count_matches(rng, targets, points, everybody.count) == 1).mean())
        for fraction in FRACTIONS:
            people = round(everybody.count * fraction)
            drawn = np.resize(np.arange(people), max(DRAWS, people))
            matches = everybody.count_matches(rng, drawn, points, people)
            size, weight = np.unique(matches, return_counts=True)
            found = forecast_uniqueness(size, weight, people, people, float(everybody.count))
            yield Forecast(kind, fraction, points, truth, found.estimate, found.low, found.high)


def generated(kinds: Iterable[str], populations: int, seed: int) -> Iterator[Forecast]:
    """Forecasts of so many populations of each kind."""
    for kind in kinds:
        for number in range(populations):
            rng = np.random.default_rng([seed, number, *kind.encode()])
            people = int(np.exp(rng.uniform(*np.log(PEOPLE))))
            yield from forecasts(rng, kind, KINDS[kind](rng, people))


def baskets(name: str, samples: int, seed: int) -> Iterator[Forecast]:
    """Forecasts of so many orders of the people of a table of real baskets."""
    frame = pl.read_parquet(folder() / f"{name}.parquet")
    basket, item = (
        frame[column].rank("dense").to_numpy().astype(np.int64) - 1 for column in frame.columns[:2]
    )
    for number in range(samples):
        yield from forecasts(
            np.random.default_rng([seed, number, *name.encode()]), name, (basket, item)
        )


def summarize(found: list[Forecast]) -> str:
    """The number of forecasts, how often the interval contains the truth, its width, and the error."""
    values = np.array([(each.truth, each.estimate, each.low, each.high) for each in found])
    truth, estimate, low, high = values.T
    covered, above = ((low <= truth) & (truth <= high)).mean(), (truth > high).mean()
    error = np.sqrt(((estimate - truth) ** 2).mean())
    words = f"{len(found):5d} {100 * covered:6.1f} % covered, {100 * above:4.1f} % above"
    return f"{words}, mean width {(high - low).mean():.3f}, error {100 * error:.1f} p.p."


def main() -> None:
    """Print the figures by fraction, for what the constants were chosen on, and for what judges them."""
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--populations", type=int, default=15, help="of each kind")
    parser.add_argument("--samples", type=int, default=6, help="of each table of baskets")
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args()
    parts = {
        "chosen on": list(generated(CHOSEN_ON, given.populations, given.seed)),
        "judged on": list(generated(JUDGED_ON, given.populations, given.seed)),
        "baskets": [each for name in REAL for each in baskets(name, given.samples, given.seed)],
    }
    for part, found in parts.items():
        for fraction in FRACTIONS:
            print(
                f"{part:10} {fraction:5.2f} {summarize([e for e in found if e.fraction == fraction])}"
            )


if __name__ == "__main__":
    main()
