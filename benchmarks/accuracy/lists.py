"""Tables of 15 to 60 yes/no columns, which one or a few common causes tie together, and of postcodes."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import polars as pl

from benchmarks.accuracy.corpora import folder
from benchmarks.accuracy.generated import Columns, Made, draw_cases
from benchmarks.accuracy.people_cases import Case, Coded, cases_of_samples
from reid_sql.parameters import Floats

PEOPLE: Final = (1e4, 2e5)
SAMPLES: Final = (400, 2000)
MEAN_ITEMS: Final = (1.5, 6.0)


def cases(kind: str, count: int, seed: int) -> Iterator[Case]:
    """Draw populations of a kind and nested samples of each, and measure them."""
    return draw_cases(kind, KINDS[kind], PEOPLE, SAMPLES, count=count, seed=seed)


def cases_of_baskets(corpus: str, count: int, seed: int) -> Iterator[Case]:
    """The most frequent 15 to 59 items of real baskets, as yes/no columns, and nested samples of them."""
    frame = pl.read_parquet(folder() / f"{corpus}.parquet")
    basket, item = frame.columns[:2]
    by_frequency = frame[item].value_counts(sort=True)[item].to_list()
    owners = {
        one: frame.filter(pl.col(item) == one)[basket].unique().implode()
        for one in by_frequency[:60]
    }
    everybody = frame[basket].unique(maintain_order=True)
    rng = np.random.default_rng([seed, *corpus.encode()])
    for place in range(count):
        kept = by_frequency[: int(rng.integers(15, 60))]
        codes = np.stack(
            [everybody.is_in(owners[one]).to_numpy().astype(np.int64) for one in kept], axis=1
        )
        names = [f"c{j}" for j in range(len(kept))]
        whole = Coded(names, codes, [["0", "1"]] * len(kept), [False] * len(kept))
        yield from cases_of_samples(corpus, whole, rng.permutation(len(codes)), SAMPLES, place)


def baskets(rng: np.random.Generator, people: int) -> Columns:
    """Items by a power law; how much a person buys is a gamma variable common to all items."""
    size = rng.gamma(rng.uniform(0.6, 3), 1, people)
    share = np.arange(2, int(rng.integers(15, 61)) + 2) ** -rng.uniform(0.5, 1.1)
    return _yes_no(rng, 1 - np.exp(-_scaled(rng, np.outer(size, share))))


def multiple_answers(rng: np.random.Generator, people: int) -> Columns:
    """Answers to questions where all that applies is marked: logistic in one to three traits."""
    traits = rng.normal(size=(people, int(rng.integers(1, 4))))
    columns = int(rng.integers(15, 51))
    weight = rng.normal(0.6, 0.7, (traits.shape[1], columns)) * rng.uniform(0.4, 1.4)
    rarity = rng.normal(2.3, 1.0, columns)
    return _yes_no(rng, 1 / (1 + np.exp(rarity - traits @ weight)))


def conditions(rng: np.random.Generator, people: int) -> Columns:
    """Chronic conditions that grow with age and a person's frailty, with age band and sex."""
    band, sex = rng.integers(0, int(rng.integers(8, 18)), people), rng.integers(0, 2, people)
    frailty = rng.gamma(rng.uniform(0.8, 3), 1, people)
    columns = int(rng.integers(15, 36))
    by_age = np.exp(np.outer(band / band.max(), rng.uniform(-0.5, 3, columns)))
    by_sex = np.exp(np.outer(sex, rng.normal(0, 0.5, columns)))
    share = rng.gamma(0.8, 1, columns)
    chance = 1 - np.exp(-_scaled(rng, frailty[:, None] * by_age * by_sex * share))
    return {"band": Made(band, "number"), "sex": Made(sex)} | _yes_no(rng, chance)


def subscriptions(rng: np.random.Generator, people: int) -> Columns:
    """Segments of customers, in each of which some services are usual, and an activity of each person."""
    segments, columns = int(rng.integers(3, 10)), int(rng.integers(20, 51))
    usual = rng.gamma(0.4, 1, (segments, columns))[rng.integers(0, segments, people)]
    return _yes_no(rng, 1 - np.exp(-_scaled(rng, usual * rng.lognormal(0, 0.7, people)[:, None])))


def prescriptions(rng: np.random.Generator, people: int) -> Columns:
    """Groups of drugs: a person needs some groups, and within one of them several drugs; with age and sex."""
    age = np.clip(rng.gamma(6, 8, people), 0, 99).astype(np.int64)
    groups, columns = int(rng.integers(4, 9)), int(rng.integers(20, 41))
    need = rng.random((people, groups)) < (age[:, None] + 10) / 110 * rng.beta(1, 2, groups)
    of = rng.integers(0, groups, columns)
    chance = np.where(need[:, of], rng.beta(1, 3, columns), rng.uniform(0.001, 0.02))
    sex = Made(rng.integers(0, 2, people))
    return {"age": Made(age, "number"), "sex": sex} | _yes_no(rng, chance)


def symptoms(rng: np.random.Generator, people: int) -> Columns:
    """Symptoms of one severity, which is normal, and of a season in which some are more frequent."""
    columns, season = int(rng.integers(20, 51)), rng.integers(0, 4, people)
    slope, rarity = rng.gamma(3, 0.3, columns), rng.normal(2.5, 0.8, columns)
    shift = rng.normal(0, 0.6, (4, columns))[season]
    severity = rng.normal(size=people)[:, None]
    return _yes_no(rng, 1 / (1 + np.exp(rarity - slope * severity - shift)))


def addresses(rng: np.random.Generator, people: int) -> Columns:
    """Postcodes of towns whose sizes are lognormal, age in years or birth date, sex, sometimes a job."""
    towns = int(np.exp(rng.uniform(np.log(30), np.log(1500))))
    share = rng.lognormal(0, rng.uniform(0.5, 1.3), towns)
    town = np.searchsorted(np.cumsum(share / share.sum())[:-1], rng.random(people))
    born = (rng.beta(1.6, 1.8, people) * 90 * 365 + rng.normal(0, 3, towns)[town] * 365).astype(
        np.int64
    )
    step = int(rng.choice([1, 30, 365]))
    found = {"postcode": Made(town), "born": Made(born // step * step, "number")}
    found["sex"] = Made(rng.integers(0, 2, people))
    if rng.random() < 0.4:
        found["job"] = Made((rng.geometric(0.2, people) + town % 7) % 25)
    return found


def _scaled(rng: np.random.Generator, rate: Floats) -> Floats:
    """Scale rates, (people, columns), so that a person has this number of items on average."""
    return np.asarray(rate * (rng.uniform(*MEAN_ITEMS) / rate.sum(axis=1).mean()))


def _yes_no(rng: np.random.Generator, chance: Floats) -> dict[str, Made]:
    answers = (rng.random(chance.shape) < chance).astype(np.int64)
    return {f"c{j}": Made(own) for j, own in enumerate(answers.T) if own.any()}


_KINDS: Final = (
    *(baskets, multiple_answers, conditions, addresses),
    *(subscriptions, prescriptions, symptoms),
)
KINDS: Final[dict[str, Callable[[np.random.Generator, int], Columns]]] = {
    kind.__name__: kind for kind in _KINDS
}
REAL: Final = ("baskets_groceries", "baskets_epub")
