"""The shares of people asked for, foretold by persons of the model and by those of the sample.

A person of the model says what others there are in the cell (eq. of `residual`). A person of the sample says
so too, but what the sample shows of the class is known: at the sample's own size that is the count. The two
are joined on the log-odds scale, the sample's persons by a power of the sampled fraction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Histogram, Integers
from reid_sql.models.people import residual
from reid_sql.parameters import Floats

POWER: Final = 0.5  # of the sampled fraction: its share of the standard deviation


@dataclass(frozen=True)
class Seen:
    """Distinct records of the sample: ln q without one of each, their class sizes, how many were drawn.

    ln q is as if each record were not in it once.
    """

    log_q: Floats  # (records,)
    size: Integers  # (records,)
    count: Floats  # (records,)


@dataclass(frozen=True)
class Share:
    """One share of people: of persons of the model, of the sample, and what of the sample has it."""

    of_model: Callable[[Floats, Floats, float, int], Floats]  # q, a, people, k
    of_sample: Callable[[Seen, Floats, float, float, int], Floats]  # seen, a, records, people, k
    held: Callable[[Histogram, int], int]


def _unique(seen: Seen, a: Floats, records: float, people: float, k: int) -> Floats:  # noqa: ARG001
    known = residual.uniqueness_known(np.exp(seen.log_q)[:, None], a, records, people)
    return np.where(seen.size[:, None] == 1, known, 0.0)


def _correct(seen: Seen, a: Floats, records: float, people: float, k: int) -> Floats:  # noqa: ARG001
    return residual.correctness_known(seen.size[:, None], np.exp(seen.log_q)[:, None], a, records, people)


def _below(seen: Seen, a: Floats, records: float, people: float, k: int) -> Floats:
    return residual.below_known(seen.size[:, None], np.exp(seen.log_q)[:, None], a, (records, people), k)


SHARES: Final[Mapping[str, Share]] = {
    "uniqueness": Share(
        lambda q, a, people, _: residual.uniqueness(q, a, people),
        _unique,
        lambda histogram, _: int(histogram.records[histogram.class_size == 1].sum()),
    ),
    "correctness": Share(
        lambda q, a, people, _: residual.correctness(q, a, people),
        _correct,
        lambda histogram, _: int(histogram.classes.sum()),
    ),
    "below_k": Share(
        residual.below, _below, lambda histogram, k: int(histogram.records[histogram.class_size < k].sum())
    ),
}


def held(histogram: Histogram, k: int) -> dict[str, int]:
    """How many records of the sample are alone, its classes, and the records in classes below k."""
    return {name: share.held(histogram, k) for name, share in SHARES.items()}


def of_sample(share: Share, seen: Seen, shapes: Floats, sample: tuple[Histogram, float], k: int) -> Floats:
    """Give the share for each shape by the persons of the sample; `sample` is its histogram.

    `sample` has the population, too. The records drawn stand for all: what they say is scaled so that at the
    sample's own size it is the count.
    """
    checkpoint()
    histogram, people = sample
    records = float(histogram.records.sum())
    now, then = (
        seen.count @ share.of_sample(seen, shapes, records, size, k) / seen.count.sum()
        for size in (records, people)
    )
    counted = share.held(histogram, k) / records
    return np.asarray(np.minimum(counted * then / np.maximum(now, 1e-300), 1.0))


def joined(of_model: Floats, by_sample: Floats, fraction: float, near: float, power: float = POWER) -> Floats:
    """Join two shares on the log-odds scale, the second with weight fraction^power.

    >>> joined(np.array([0.5]), np.array([0.2]), 1.0, 1e-3).round(6).tolist()
    [0.2]
    """
    weight = fraction**power
    log = (1 - weight) * log_odds(of_model, near) + weight * log_odds(by_sample, near)
    return share_of(log, near)


def log_odds(values: Floats, near: float) -> Floats:
    """ln((x + ε)/(1 − x + ε)).

    >>> float(log_odds(np.array(0.5), 0.1))
    0.0
    """
    return np.asarray(np.log((values + near) / (1 - values + near)))


def share_of(log: Floats | float, near: float) -> Floats:
    """Undo log_odds.

    >>> round(float(share_of(log_odds(np.array(0.3), 0.1), 0.1)), 6)
    0.3
    """
    p = 1 / (1 + np.exp(-np.asarray(log)))
    return np.asarray(np.clip(p * (1 + 2 * near) - near, 0, 1))
