"""Do the 95 % intervals hold what they should, where the model is right?

Populations are drawn from the process itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.accuracy.many import populations
from benchmarks.accuracy.trial import K, held, truth
from reid_sql.models.pyc.pitman_yor import Prior
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor
from reid_sql.parameters import Integers
from tests.pitman_yor import entropy_and_tail
from tests.urn import histogram_of

PEOPLE: Final = 20_000
SAMPLES: Final = (500, 1000, 2000, 4000)
PRIORS: Final[tuple[Prior, ...]] = ("archer", "flat")
# Discount and concentration; below 0 there are −α/d sets, which the prior `archer` rules out.
PROCESSES: Final = (
    *((-5.0, 15_000.0), (-1.0, 2000.0), (-0.25, 2500.0)),
    *((0.0, 50.0), (0.0, 500.0), (0.0, 5000.0)),
    *((0.25, 500.0), (0.25, 3000.0)),
    *((0.5, 20.0), (0.5, 1000.0)),
    *((0.75, 5.0), (0.75, 300.0)),
)


@dataclass(frozen=True)
class Run:
    """One sample of one population: whether the intervals hold what the population came out as."""

    discount: float
    concentration: float
    entropy: float
    tail: float
    prior: Prior
    sample: int
    covered: dict[str, bool]
    error: float  # of κ, forecast less true

    @property
    def is_inside(self) -> bool:
        """Whether the prior gives the process a chance at all."""
        return self.prior == "flat" or self.discount >= 0


def simulate(place: int, runs: int, seed: int) -> list[Run]:
    """Sample each population of one process, at each size, under each prior."""
    discount, concentration = PROCESSES[place]
    people = populations(discount, concentration, PEOPLE, runs, seed + place)
    rng = np.random.default_rng([seed, place])
    return [run for labels in people for run in _runs(place, labels, rng)]


def _runs(place: int, labels: Integers, rng: np.random.Generator) -> Iterator[Run]:
    discount, concentration = PROCESSES[place]
    entropy, tail = (float(value) for value in entropy_and_tail(discount, concentration))
    true = truth(histogram_of(np.bincount(labels)))
    for size in SAMPLES:
        sample = histogram_of(np.bincount(rng.choice(labels, size, replace=False)))
        for prior in PRIORS:
            found = forecast_pitman_yor(sample, PEOPLE, K, prior)[0]
            error = found.correctness - true["κ"]
            yield Run(discount, concentration, entropy, tail, prior, size, held(found, true), error)
