"""QaR: the extreme re-identification risk of a table, a high quantile of its quasi-identifiers' risks."""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import SUM_DECIMALS, Key, map_keys, sum_reidentifications
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.quasi_identifiers import (
    Integers,
    Numbers,
    QuasiIdentifiers,
)
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.special_functions import expit
from reid_sql.parameters import Flags, Floats, Number, plain

# QaR: the extreme re-identification risk of a table, a high quantile of its quasi-identifiers' risks.
# The risk of a quasi-identifier is θ = H/L, H distinct values among L records: the mean of 1/size over the
# records, which of people is that of the smallest of their classes. T is the 1 − α quantile of the θ by
# extreme-value theory: the logits of those above a threshold u exceed its logit by a generalised Pareto
# law.

MIN_EXCEEDANCES: Final = 5  # excesses, for a law of two parameters
INTEGER_TOLERANCE: Final = 1e-9  # a place so near a whole number is that number
MIN_SHAPE: Final = 1e-8

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
    """The quantile: α, and the share π_u of the quasi-identifiers that the law is fitted to."""

    alpha: float = 0.01
    tail: float = 0.05

    def __post_init__(self) -> None:
        """Refuse shares outside 0 < α < π_u ≤ 1."""
        alpha, tail = float(ALPHA.check("alpha", self.alpha)), float(TAIL.check("tail", self.tail))
        if alpha >= tail:
            raise OutOfDomainError(
                "alpha must be below tail, the share that the law is fitted to, "
                f"got {plain(alpha)} and {plain(tail)}; "
                "pass a smaller alpha, such as 0.01, or a larger tail, such as 0.05"
            )

    def place(self, count: int) -> tuple[int, float]:
        """Place of the 1 − π_u quantile among ascending values, from 0, and its share of the way on.

        The way is that to the next value. Definition 8 of Hyndman & Fan 1996.

        >>> Level().place(816)
        (774, 0.85)
        """
        place = (count + 1 / 3) * (1 - self.tail) + 1 / 3
        place = round(place) if abs(place - round(place)) < INTEGER_TOLERANCE else place
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
    certain: Flags  # (rows,) a quasi-identifier has the risk 1


def count_distinct_values(chosen: QuasiIdentifiers) -> Integers:
    """Count the distinct values of every quasi-identifier.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2]), np.array([1, 2, 3])], np.arange(3))
    >>> count_distinct_values(choose_quasi_identifiers(table, 1)).tolist()
    [2, 3]
    """
    return count_right_matches(chosen)[0]


def count_right_matches(chosen: QuasiIdentifiers) -> tuple[Integers, Numbers]:
    """Count the distinct values of every quasi-identifier, and the right matches to expect by it, H.

    These are as many as the values where each record is a person.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> twice = Codes(["a"], [True], [np.array([1, 2, 2])], np.arange(3), people=np.array([1, 1, 2]))
    >>> [counted.tolist() for counted in count_right_matches(choose_quasi_identifiers(twice, 1))]
    [[2], [1.5]]
    """
    table = chosen.table
    if not len(table.people):
        values = np.array(map_keys(chosen, lambda _, key: key.distinct()), dtype=np.int64)
        return values, values

    def count_people(_: int, key: Key) -> tuple[int, float]:
        values, sizes = key.of_people(table.people)
        return values, round(sum_reidentifications(sizes), SUM_DECIMALS)

    distinct, matches = zip(*map_keys(chosen, count_people), strict=True)
    return np.array(distinct, dtype=np.int64), np.array(matches)


def select_highest(distinct: Numbers, level: Level) -> Numbers:
    """The values that decide, ascending: those at the threshold and above."""
    count = level.top(len(distinct))
    return np.sort(np.partition(distinct, len(distinct) - count)[-count:])


def fit_tail(top: Numbers, records: int | Integers, count: int, level: Level) -> Fits:
    """Fit each row of the highest distinct values, ascending, of tables of `records` records.

    There are `count` quasi-identifiers. T = logistic(logit u + (β/ξ)((α/π_u)^−ξ − 1)), with ξ and β by
    probability-weighted moments (Hosking & Wallis 1987).

    >>> top = np.array([[120, 130, 140, 150, 170, 200, 260]])
    >>> round(float(fit_tail(top, 1000, 120, Level()).risk[0]), 4)
    0.204
    """
    checkpoint()
    size = np.broadcast_to(np.asarray(records, dtype=np.float64), len(top))[:, None]
    share = level.place(count)[1]
    following = top[:, 1:2] if top.shape[1] > 1 else top[:, :1]
    # distinct values, not shares: equal ones stay equal
    u = top[:, :1] + share * (following - top[:, :1])
    certain = top[:, -1] >= size[:, 0]
    above = top > u
    m = above.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        base = np.log(u) - np.log(size - u)
        excess = np.where(above, _logits(top, size) - base, 0.0)
        shape, scale = _fit_moments(excess, m)
        reach = np.log(level.tail / level.alpha)
        risk = expit(base[:, 0] + scale * growth(shape, reach))
    spread = (
        np.take_along_axis(top, np.minimum(top.shape[1] - m, top.shape[1] - 1)[:, None], axis=1)[
            :, 0
        ]
        < top[:, -1]
    )
    fitted = (m >= MIN_EXCEEDANCES) & spread & ~certain
    shape, scale = np.where(fitted, shape, np.nan), np.where(fitted, scale, np.nan)
    return Fits(
        np.where(certain, 1.0, np.where(fitted, risk, np.nan)),
        u[:, 0] / size[:, 0],
        shape,
        scale,
        m,
        certain,
    )


def _logits(distinct: Numbers, size: Floats) -> Floats:
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


def _fit_moments(excess: Floats, m: Integers) -> tuple[Floats, Floats]:
    """Shape and scale from a0, the mean of x, and a1, the mean of x(1 − F).

    F = (i − 0.35)/m for the i-th smallest.
    """
    places = np.arange(1, excess.shape[1] + 1, dtype=np.float64)
    total = np.einsum("ij->i", excess)
    # Sum of i x(i), alike for like rows
    ranked = np.einsum("ij,j->i", excess, places) - (excess.shape[1] - m) * total
    a0 = total / m
    a1 = (total - (ranked - 0.35 * total) / m) / m
    gap = a0 - 2 * a1  # above 0, as the weights of a1 fall while x rises
    return 2 - a0 / gap, 2 * a0 * a1 / gap


def growth(shape: Floats, reach: float) -> Floats:
    """(e^(ξ r) − 1)/ξ, whose limit for ξ → 0 is r.

    >>> growth(np.array([0.0, 1.0]), 2.0).round(4).tolist()
    [2.0, 6.3891]
    """
    small = np.abs(shape) < MIN_SHAPE
    safe = np.where(small, 1.0, shape)
    grown: Floats = np.where(small, reach * (1 + shape * reach / 2), np.expm1(safe * reach) / safe)
    return grown


# The extreme risk of a table as an answer: the estimate, its interval, and a status where there is none.

RESAMPLES: Final = 1000
INTERVAL_ENDS: Final = (0.025, 0.975)
MIN_FITTED_SHARE: Final = 0.9  # share of the resamples that must have a fit
VALUES_PER_RESAMPLE_BLOCK: Final = 2_000_000  # values fitted at once
MAX_NAMED: Final = 3  # quasi-identifiers that a sentence names
CERTAIN: Final = 1.0

STATUS_TOO_FEW: Final = (
    "too_few_exceedances: only {} of the quasi-identifiers exceed the threshold, and a fit needs {}"
)
STATUS_EQUAL_RISKS: Final = (
    "equal_risks: all quasi-identifiers above the threshold have the same risk, so no fit exists"
)
STATUS_CERTAIN: Final = "certain: every record is unique for {}"
STATUS_BEYOND_LAW: Final = (
    "beyond_fit: the highest risk is above the end of the fitted distribution"
)
STATUS_NO_INTERVAL: Final = "no_interval: too many resamples have no fit"


@dataclass(frozen=True)
class ExtremeRisk:
    """T with its 95 % bootstrap interval, the threshold u, and the law of the excesses of the logits.

    The threshold is a share.
    """

    risk: float | None
    risk_low: float | None
    risk_high: float | None
    threshold: float
    shape: float | None
    scale: float | None
    quasi_identifiers: int
    exceedances: int
    records: int
    status: str


@dataclass(frozen=True)
class QuasiIdentifierRisk:
    """A quasi-identifier, how many distinct values it has, and the right matches to expect of a record.

    These are the distinct values over the records where each record is a person.
    """

    quasi_identifier: list[str]
    distinct_values: int
    risk: float
    records: int
    status: str


def rank_quasi_identifiers(chosen: QuasiIdentifiers) -> list[QuasiIdentifierRisk]:
    """Give every quasi-identifier with its risk, the riskiest first.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2, 2]), np.array([1, 2, 3, 3])], np.arange(4))
    >>> chosen = choose_quasi_identifiers(table, 1)
    >>> [(row.quasi_identifier, row.risk) for row in rank_quasi_identifiers(chosen)]
    [(['b'], 0.75), (['a'], 0.5)]
    """
    distinct, matches = count_right_matches(chosen)
    status, records = "; ".join(chosen.remark) or OK, chosen.records
    order = np.argsort(-matches, kind="stable").tolist()
    return [
        QuasiIdentifierRisk(
            chosen.names(n), int(distinct[n]), float(matches[n] / records), records, status
        )
        for n in order
    ]


def estimate_extreme_risk(chosen: QuasiIdentifiers, level: Level) -> ExtremeRisk:
    """Estimate the extreme risk, with the percentile interval of a seeded bootstrap.

    The bootstrap draws the quasi-identifiers.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["key"], [True], [np.arange(1, 9)], np.arange(8))
    >>> estimate_extreme_risk(choose_quasi_identifiers(table, 1), Level()).status
    'certain: every record is unique for (key)'
    """
    _, distinct = count_right_matches(chosen)
    top = select_highest(distinct, level)
    fits = fit_tail(top[None], chosen.records, len(chosen), level)
    low, high = (
        bootstrap_interval(distinct, chosen.records, level, chosen.seed)
        if np.isfinite(fits.shape[0])
        else (None, None)
    )
    problems = _list_problems(fits, top, chosen, distinct)
    if low is None and np.isfinite(fits.shape[0]):
        problems.append(STATUS_NO_INTERVAL)
    return ExtremeRisk(
        risk=none_if_nan(fits.risk[0]),
        risk_low=low,
        risk_high=high,
        threshold=float(fits.threshold[0]),
        shape=none_if_nan(fits.shape[0]),
        scale=none_if_nan(fits.scale[0]),
        quasi_identifiers=len(chosen),
        exceedances=int(fits.exceedances[0]),
        records=chosen.records,
        status="; ".join([*problems, *chosen.remark]) or OK,
    )


def none_if_nan(value: float) -> float | None:
    """The number, or None where there is none.

    >>> none_if_nan(0.5), none_if_nan(float("nan"))
    (0.5, None)
    """
    return None if np.isnan(value) else float(value)


def explain_missing_fit(fits: Fits, row: int = 0) -> list[str]:
    """Say why this row of the fits has no risk; nothing where it has."""
    if not np.isnan(fits.risk[row]):
        return []
    m = int(fits.exceedances[row])
    if m < MIN_EXCEEDANCES:
        return [STATUS_TOO_FEW.format(m, MIN_EXCEEDANCES)]
    return [STATUS_EQUAL_RISKS]


def _list_problems(
    fits: Fits, top: Numbers, chosen: QuasiIdentifiers, distinct: Numbers
) -> list[str]:
    if fits.certain[0]:
        keys = np.flatnonzero(distinct == chosen.records).tolist()
        named = ", ".join(f"({', '.join(chosen.names(key))})" for key in keys[:MAX_NAMED])
        more = f" and {len(keys) - MAX_NAMED} more" if len(keys) > MAX_NAMED else ""
        return [STATUS_CERTAIN.format(named + more)]
    if fits.shape[0] < 0:
        end = -fits.scale[0] / fits.shape[0]
        share = top[-1] / chosen.records
        reached = (
            np.log(share)
            - np.log1p(-share)
            - np.log(fits.threshold[0])
            + np.log1p(-fits.threshold[0])
        )
        return [STATUS_BEYOND_LAW] if reached > end else []
    return explain_missing_fit(fits)


def bootstrap_interval(
    distinct: Numbers, records: int, level: Level, seed: int = 0
) -> tuple[float | None, float | None]:
    """Give the 95 % percentile interval of T over drawn quasi-identifiers; None without fits.

    They are drawn anew, with replacement. Only the highest of each resample are drawn: the k-th smallest of n
    uniform numbers is a ratio of sums of exponential ones.
    """
    count, size = len(distinct), level.top(len(distinct))
    descending = np.sort(distinct)[::-1]
    generator = np.random.default_rng(seed)
    drawn = []
    for rows in np.diff(
        np.r_[0 : RESAMPLES : max(1, VALUES_PER_RESAMPLE_BLOCK // size), RESAMPLES]
    ):
        sums = np.cumsum(generator.exponential(size=(rows, size)), axis=1)
        whole = sums[:, -1:] + generator.gamma(count - size + 1, size=(rows, 1))
        places = np.minimum((sums / whole * count).astype(np.int64), count - 1)
        drawn.append(fit_tail(descending[places[:, ::-1]], records, count, level).risk)
    resampled = np.concatenate(drawn)
    resampled = resampled[~np.isnan(resampled)]
    if len(resampled) < MIN_FITTED_SHARE * RESAMPLES:
        return None, None
    low, high = np.quantile(resampled, INTERVAL_ENDS)
    return float(low), float(high)
