"""How much real cells scatter around the model's: the shape a of the gamma residual.

What repeats in the sample tells it. A table's own repeats speak of a, but wide tables hardly repeat. So
tables of fewer columns speak too: across them ln a = α + β (H − 8), H the model's entropy in nats, and the
full table follows with a shift.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Integers
from reid_sql.models.people import residual
from reid_sql.models.people.tree import PairTables
from reid_sql.parameters import Floats

LOG_SHAPES: Final[Floats] = np.linspace(-6.0, 5.0, 56)
SUBTABLES: Final = 40
DRAWS: Final = 800  # records of each sub-table's tree
RECORDS: Final = 3000  # of the sample, whose repeats are counted
AS_MANY: Final = 6.0  # independent tables that all sub-tables together count as, as they share their columns
OVERDISPERSED: Final = 2.5  # variance of the number of repeated records, over its mean's
CENTRE: Final = 8.0  # nats
INTERCEPT: Final = (0.0, 1.5)  # α, mean and standard deviation
SLOPE: Final = (-0.25, 0.05)  # β


@dataclass(frozen=True)
class Law:
    """How ln a of a full table follows from its sub-tables' line, and of a population from its sample's."""

    shift: float  # beside the line
    scatter: float  # standard deviation around it
    drift: float  # for each tenfold that the population is larger than the sample


LAW: Final = Law(-0.3, 0.6, -0.1)  # learnt from tables of people in benchmarks/accuracy/people.py


@dataclass(frozen=True)
class Repeats:
    """What a table says of ln a: the model's entropy in nats, and the log-likelihood on LOG_SHAPES."""

    entropy: float
    likelihood: Floats


def repeats(log_q: Floats, records: int, repeated: int) -> Repeats:
    """Hold the records that repeat in a sample against what each shape expects.

    Expected from ln q of records drawn from the model.
    """
    q = np.exp(log_q)[:, None]
    alone = residual.uniqueness(q, np.exp(LOG_SHAPES), records).mean(axis=0)
    expected = np.maximum(records * (1 - alone), 1e-9)
    variance = OVERDISPERSED * np.maximum(expected * np.maximum(alone, 1e-3), 0.3)
    likelihood = -((repeated - expected) ** 2) / (2 * variance) - np.log(variance) / 2
    return Repeats(-float(log_q.mean()), likelihood)


def subtables(tables: PairTables, drawn: Integers, rng: np.random.Generator) -> list[Repeats]:
    """Let random choices of fewer columns speak, each with a tree of its own over the same pairs."""
    wide, codes = drawn.shape[1], drawn[:RECORDS]
    found = []
    for columns in choices(wide, rng):
        checkpoint()
        tree = tables.tree(columns)
        log_q = tree.drawn_log_q(DRAWS, rng)
        _, sizes = np.unique(row_keys(codes[:, columns]), return_counts=True)
        found.append(repeats(log_q, len(codes), len(codes) - int((sizes == 1).sum())))
    return found


def posterior(own: Repeats, others: Sequence[Repeats], law: Law = LAW) -> Floats:
    """Weights of LOG_SHAPES for the full table: those of the sub-tables' law, times its own likelihood."""
    log = np.log(np.maximum(_prior(own.entropy, others, law), 1e-300)) + own.likelihood
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum())


def at_population(records: float, people: float, law: Law = LAW) -> Floats:
    """Ln a of a population for each of LOG_SHAPES of the sample."""
    return np.asarray(LOG_SHAPES + law.drift * np.log10(max(people / records, 1.0)))


def row_keys(codes: Integers) -> Integers:
    """One number for each distinct record of codes."""
    key = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        both = key * (int(column.max(initial=0)) + 1) + column
        key = np.unique(both, return_inverse=True)[1].ravel()
    return key


def _prior(entropy: float, others: Sequence[Repeats], law: Law) -> Floats:
    """Density of ln a of the full table: the law's line, shifted and scattered, mixed over its posterior."""
    alphas, betas, weight = _line(others)
    centre = alphas + betas * (entropy - CENTRE) + law.shift
    near = np.exp(-(((LOG_SHAPES[:, None, None] - centre) / law.scatter) ** 2) / 2)
    return np.asarray((near * weight).sum(axis=(1, 2)))


def _line(others: Sequence[Repeats]) -> tuple[Floats, Floats, Floats]:
    """Grid of α and β with its posterior weights."""
    alphas = np.linspace(INTERCEPT[0] - 4 * INTERCEPT[1], INTERCEPT[0] + 4 * INTERCEPT[1], 81)[:, None]
    betas = np.linspace(SLOPE[0] - 2.5 * SLOPE[1], SLOPE[0] + 2.5 * SLOPE[1], 11)[None, :]
    log = -(((alphas - INTERCEPT[0]) / INTERCEPT[1]) ** 2) / 2 - ((betas - SLOPE[0]) / SLOPE[1]) ** 2 / 2
    share = min(1.0, AS_MANY / max(len(others), 1))
    for table in others:
        at = alphas + betas * (table.entropy - CENTRE)
        log = log + share * np.interp(at, LOG_SHAPES, table.likelihood)
    weight = np.exp(log - log.max())
    return alphas, betas, np.asarray(weight / weight.sum())


def choices(wide: int, rng: np.random.Generator) -> list[list[int]]:
    """Distinct choices of 2 to all but one of the columns."""
    found: dict[tuple[int, ...], None] = {}
    for _ in range(3 * SUBTABLES if wide > 2 else 0):  # noqa: PLR2004
        size = int(rng.integers(2, wide))
        found[tuple(sorted(rng.choice(wide, size, replace=False).tolist()))] = None
        if len(found) == SUBTABLES:
            break
    return [list(columns) for columns in found]
