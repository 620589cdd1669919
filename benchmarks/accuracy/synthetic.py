"""Synthetic labels: geometric, Poisson and Zipf, of random parameters."""

from collections.abc import Callable
from typing import Final

import numpy as np

from benchmarks.accuracy.corpora import CHOSEN, Dataset, real
from reid_sql.parameters import Integers
from tests.urn import histogram_of

RECORDS: Final = (1e3, 1e5)
Draw = Callable[[np.random.Generator, int], tuple[float, Integers]]


def synthetic(corpus: str, count: int, seed: int) -> list[Dataset]:
    """Draw `count` tables of labels, each of its own size and parameter."""
    rng = np.random.default_rng([seed, 100 + list(LABELS).index(corpus)])
    return [_drawn(corpus, rng) for _ in range(count)]


def datasets(corpus: str, count: int, seed: int) -> list[Dataset]:
    """Give the datasets of a corpus, real or synthetic."""
    return (synthetic if corpus in LABELS else real)(corpus, count, seed)


def _drawn(corpus: str, rng: np.random.Generator) -> Dataset:
    records = round(_log_uniform(rng, *RECORDS))
    parameter, labels = LABELS[corpus](rng, records)
    sizes = np.unique(labels, return_counts=True)[1]
    return Dataset(corpus, f"{records} records, {parameter:.4g}", histogram_of(sizes))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _geometric(rng: np.random.Generator, records: int) -> tuple[float, Integers]:
    chance = _log_uniform(rng, 0.1 / records, 0.5)
    return chance, rng.geometric(chance, records)


def _poisson(rng: np.random.Generator, records: int) -> tuple[float, Integers]:
    mean = _log_uniform(rng, 1, float(records) ** 2)
    return mean, rng.poisson(mean, records)


def _zipf(rng: np.random.Generator, records: int) -> tuple[float, Integers]:
    exponent = rng.uniform(1.1, 3)
    return exponent, rng.zipf(exponent, records)


LABELS: Final[dict[str, Draw]] = {"geometric": _geometric, "poisson": _poisson, "zipf": _zipf}
CORPORA: Final = (*CHOSEN, *LABELS)
