"""How far removing any S records can lower the extreme risk: a bound that no choice gets below.

A removal destroys a class only if it takes all its members. Give each record 1/size of each of its classes in
some quasi-identifiers J: the classes destroyed there are at most the credits of the records taken, so at most
C(S), the sum of the S largest. Also each H falls by at most S.

Two bounds follow; the higher one is given. (1) T > u. Let u be reached by K quasi-identifiers. Of the M
riskiest, at least M − K + 1 end at or below u, so that u ≥ (sum of H over the ranks K to M − C(S))/((M − K +
1)(L − S)), for every M. (2) logit T = (1 − h) logit u + h · mean logit θ above u, h = (1 − ξ)((π_u/α)^ξ −
1)/ξ, which is at least 1 where (1 − ξ)(π_u/α)^ξ ≥ 1 and π_u/α ≥ e, that is for shapes ξ up to
`LARGEST_SHAPE`. Then T is at least the mean, and what destroying C(S) classes can do to the mean is the best
filling of a knapsack.
"""

import threading
from math import log
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.class_keys import Key, each_key
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.numerics import search
from reid_sql.models.numerics.special import expit
from reid_sql.parameters import Floats

WIDTHS: Final = 16  # choices of M
UNIT: Final = (
    2**32
)  # whole numbers of this part of a class, rounded up, add up alike on any number of threads
BLOCK: Final = 500_000  # values at once


def largest_shape(level: Level) -> float | None:
    """Shape of the law up to which T is at least the mean above the threshold.

    None where α is no small part of π_u.

    >>> round(largest_shape(Level(0.01, 0.05)), 3), largest_shape(Level(0.04, 0.05))
    (0.647, None)
    """
    reach = log(level.tail / level.alpha)
    if reach <= 1:
        return None
    return search.root(lambda shape: reach * shape + np.log1p(-shape), 1 - 1 / reach, 1 - 1e-15)


def lowest(
    chosen: QuasiIdentifiers, distinct: Integers, level: Level, steps: int, memory_mb: int = 1024
) -> Floats:
    """Give a number that the extreme risk does not get below by the removal of any 0, 1, … `steps` records.

    It holds for every removal after which the shape of the law is at most `largest_shape`.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2, 2]), np.array([1, 1, 2, 3])], np.arange(4))
    >>> lowest(choose(table, 1), np.array([2, 3]), Level(0.1, 0.5), 2).round(3).tolist()
    [0.75, 0.667, 0.5]
    """
    left = chosen.records - np.arange(steps + 1)
    order = np.argsort(-distinct, kind="stable")
    ranked = distinct[order]
    reached = level.top(len(distinct))
    credit = _credits(chosen, order[: reached - 1], memory_mb)
    bound = np.zeros(steps + 1)
    if reached > 1 and largest_shape(level) is not None:
        bound = _mean(ranked[: reached - 1], _destroyed(credit, steps), left)
    count = np.maximum(ranked[reached - 1] - np.arange(steps + 1), 1).astype(np.float64)
    start = reached - 1
    for width in np.unique(np.geomspace(reached, len(distinct), WIDTHS).round().astype(np.int64)).tolist():
        credit += _credits(chosen, order[start:width], memory_mb)
        start = width
        count = np.maximum(
            count, (ranked[reached - 1 : width].sum() - _destroyed(credit, steps)) / (width - reached + 1)
        )
    answer: Floats = np.maximum(bound, count / left)
    return answer


def _credits(chosen: QuasiIdentifiers, numbers: Integers, memory_mb: int) -> Integers:
    """For each record, the sum of 1/size of its classes in these quasi-identifiers, in whole units."""
    total = np.zeros(chosen.records, dtype=np.int64)
    lock = threading.Lock()

    def add(_: int, key: Key) -> None:
        ids, sizes = key.classes()
        part = -(-UNIT // np.maximum(sizes, 1))[ids]
        with lock:
            np.add(total, part, out=total)

    each_key(chosen, add, memory_mb, numbers)
    return total


def _destroyed(credit: Integers, steps: int) -> Floats:
    """The most classes that the removal of 0, 1, … records destroys."""
    most: Floats = np.r_[0, np.cumsum(np.sort(credit)[::-1][:steps])] / UNIT
    return most


def _mean(ranked: Integers, destroyed: Floats, left: Integers) -> Floats:
    """The least mean logit, as a share, of these quasi-identifiers once so many of their classes are gone."""
    found = []
    rows = max(1, BLOCK // len(ranked))
    for start in range(0, len(left), rows):
        checkpoint()
        size = left[start : start + rows, None].astype(np.float64)
        taken = left[0] - size
        high = np.minimum(ranked, size - 1)  # a risk of 1 would be the risk of the table
        low = np.minimum(np.maximum(ranked - taken, 1), high)
        found.append(_filled(high, low, size, destroyed[start : start + rows]))
    return np.concatenate(found)


def _filled(high: Floats, low: Floats, size: Floats, budget: Floats) -> Floats:
    """Spend the budget of destroyed classes where a class less lowers the logit most; one row a step."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = np.log(high) - np.log(size - high)
        cap = high - low
        chord = (logits - np.log(low) + np.log(size - low)) / cap
        slope = np.where(cap > 0, np.maximum(chord, 1 / high + 1 / (size - high)), 0.0)
    best = np.argsort(-slope, axis=1)
    caps = np.take_along_axis(cap, best, axis=1)
    before = np.cumsum(caps, axis=1) - caps
    spent = np.clip(budget[:, None] - before, 0, caps)
    total = logits.sum(axis=1) - (spent * np.take_along_axis(slope, best, axis=1)).sum(axis=1)
    bound: Floats = expit(total / high.shape[1])
    return np.where(np.isnan(bound), 0.0, bound)
