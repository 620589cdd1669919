"""QaR: the extreme re-identification risk of a table, a high quantile of its quasi-identifiers' risks.

The risk of a quasi-identifier is θ = H/L, H distinct values among L records: the mean of 1/size over the
records, which of people is that of the smallest of their classes. T is the 1 − α quantile of the θ
by extreme-value theory: the logits of those above a threshold u exceed its logit by a generalised Pareto law.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.class_keys import DECIMALS, Key, each_key, reidentifications
from reid_sql.models.extreme.quasi_identifiers import CodesElsewhere, Integers, Numbers, QuasiIdentifiers
from reid_sql.models.numerics.special import expit
from reid_sql.parameters import Floats, Number, plain

ENOUGH: Final = 5  # excesses, for a law of two parameters
WHOLE: Final = 1e-9  # a place so near a whole number is that number
NEAR_ZERO: Final = 1e-8

ALPHA: Final = Number(
    "a probability above 0 and below 1",
    "pass the share of quasi-identifiers that may be riskier, such as 0.01",
    1e-300,
    1 - 1e-16,
)
TAIL: Final = Number(
    "a share above 0 and at most 1",
    "pass the share of quasi-identifiers to fit the extreme risk on, such as 0.05",
    1e-300,
    1.0,
)
Alpha = Annotated[float, ALPHA]
TailShare = Annotated[float, TAIL]


@dataclass(frozen=True)
class Level:
    """The quantile asked for: α, and the share π_u of the quasi-identifiers that the law is fitted to."""

    alpha: float = 0.01
    tail: float = 0.05

    def __post_init__(self) -> None:
        """Refuse shares outside 0 < α < π_u ≤ 1."""
        alpha, tail = float(ALPHA.check("alpha", self.alpha)), float(TAIL.check("tail", self.tail))
        if alpha >= tail:
            rule = (
                "alpha must be below tail, the share that the law is fitted to, "
                f"got {plain(alpha)} and {plain(tail)}"
            )
            raise OutOfDomainError(
                f"{rule}; pass a smaller alpha, such as 0.01, or a larger tail, such as 0.05"
            )

    def place(self, count: int) -> tuple[int, float]:
        """Place of the 1 − π_u quantile among ascending values, from 0, and its share of the way on.

        The way is that to the next value. Definition 8 of Hyndman & Fan 1996.

        >>> Level().place(816)
        (774, 0.85)
        """
        place = (count + 1 / 3) * (1 - self.tail) + 1 / 3
        place = round(place) if abs(place - round(place)) < WHOLE else place
        place = min(max(place, 1.0), float(count))
        return int(place) - 1, round(place - int(place), 12)

    def top(self, count: int) -> int:
        """How many of the highest of so many values decide."""
        return count - self.place(count)[0]


@dataclass(frozen=True)
class Fits:
    """One fit a row; NaN in `risk` where there is none."""

    risk: Floats  # (rows,)
    threshold: Floats  # (rows,)
    shape: Floats  # (rows,)
    scale: Floats  # (rows,)
    exceedances: Integers  # (rows,)
    certain: npt.NDArray[np.bool_]  # (rows,) a quasi-identifier has the risk 1


def distinct_values(chosen: QuasiIdentifiers, memory_mb: int = 1024) -> Integers:
    """Count the distinct values of every quasi-identifier.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 3])], np.arange(3))
    >>> distinct_values(choose(table, 1)).tolist()
    [2, 3]
    """
    return right_matches(chosen, memory_mb)[0]


def right_matches(chosen: QuasiIdentifiers, memory_mb: int = 1024) -> tuple[Integers, Numbers]:
    """Count the distinct values of every quasi-identifier, and the right matches to expect by it, H.

    These are as many as the values where each record is a person.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> twice = Codes(["a"], [True], [np.array([1, 2, 2])], np.arange(3), people=np.array([1, 1, 2]))
    >>> [counted.tolist() for counted in right_matches(choose(twice, 1))]
    [[2], [1.5]]
    """
    table = chosen.table
    if isinstance(table, CodesElsewhere):
        return table.count(chosen.places)
    if not len(table.people):
        values = np.array(each_key(chosen, lambda _, key: key.distinct(), memory_mb), dtype=np.int64)
        return values, values

    def told(_: int, key: Key) -> tuple[int, float]:
        values, sizes = key.of_people(table.people)
        return values, round(reidentifications(sizes), DECIMALS)

    distinct, matches = zip(*each_key(chosen, told, memory_mb), strict=True)
    return np.array(distinct, dtype=np.int64), np.array(matches)


def highest(distinct: Numbers, level: Level) -> Numbers:
    """The values that decide, ascending: those at the threshold and above."""
    count = level.top(len(distinct))
    return np.sort(np.partition(distinct, len(distinct) - count)[-count:])


def fit(top: Numbers, records: int | Integers, count: int, level: Level) -> Fits:
    """Fit each row of the highest distinct values, ascending, of tables of `records` records.

    There are `count` quasi-identifiers. T = logistic(logit u + (β/ξ)((α/π_u)^−ξ − 1)), with ξ and β by
    probability-weighted moments (Hosking & Wallis 1987).

    >>> top = np.array([[120, 130, 140, 150, 170, 200, 260]])
    >>> round(float(fit(top, 1000, 120, Level()).risk[0]), 4)
    0.204
    """
    checkpoint()
    size = np.broadcast_to(np.asarray(records, dtype=np.float64), len(top))[:, None]
    share = level.place(count)[1]
    following = top[:, 1:2] if top.shape[1] > 1 else top[:, :1]
    u = top[:, :1] + share * (following - top[:, :1])  # distinct values, not shares: equal ones stay equal
    certain = top[:, -1] >= size[:, 0]
    above = top > u
    m = above.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        base = np.log(u) - np.log(size - u)
        excess = np.where(above, _logit(top, size) - base, 0.0)
        shape, scale = _moments(excess, m)
        reach = np.log(level.tail / level.alpha)
        risk = expit(base[:, 0] + scale * growth(shape, reach))
    spread = (
        np.take_along_axis(top, np.minimum(top.shape[1] - m, top.shape[1] - 1)[:, None], axis=1)[:, 0]
        < top[:, -1]
    )
    fitted = (m >= ENOUGH) & spread & ~certain
    shape, scale = np.where(fitted, shape, np.nan), np.where(fitted, scale, np.nan)
    return Fits(
        np.where(certain, 1.0, np.where(fitted, risk, np.nan)), u[:, 0] / size[:, 0], shape, scale, m, certain
    )


def _logit(distinct: Numbers, size: Floats) -> Floats:
    """ln(H/(L − H)); by a table where all rows have the same L and few different H."""
    low, high = int(distinct.min()), int(distinct.max())
    whole = np.issubdtype(distinct.dtype, np.integer)
    if whole and high - low < distinct.size and np.ptp(size) == 0:
        steps = np.arange(low, high + 1, dtype=np.float64)
        table: Floats = np.log(steps) - np.log(size[0] - steps)
        logits: Floats = table[distinct - low]
    else:
        logits = np.log(distinct) - np.log(size - distinct)
    return logits


def _moments(excess: Floats, m: Integers) -> tuple[Floats, Floats]:
    """Shape and scale from a0, the mean of x, and a1, the mean of x(1 − F).

    F = (i − 0.35)/m for the i-th smallest.
    """
    places = np.arange(1, excess.shape[1] + 1, dtype=np.float64)
    total = np.einsum("ij->i", excess)
    ranked = (
        np.einsum("ij,j->i", excess, places) - (excess.shape[1] - m) * total
    )  # sum of i x(i), alike for like rows
    a0 = total / m
    a1 = (total - (ranked - 0.35 * total) / m) / m
    gap = a0 - 2 * a1  # above 0, as the weights of a1 fall while x rises
    return 2 - a0 / gap, 2 * a0 * a1 / gap


def growth(shape: Floats, reach: float) -> Floats:
    """(e^(ξ r) − 1)/ξ, whose limit for ξ → 0 is r.

    >>> growth(np.array([0.0, 1.0]), 2.0).round(4).tolist()
    [2.0, 6.3891]
    """
    small = np.abs(shape) < NEAR_ZERO
    safe = np.where(small, 1.0, shape)
    grown: Floats = np.where(small, reach * (1 + shape * reach / 2), np.expm1(safe * reach) / safe)
    return grown
