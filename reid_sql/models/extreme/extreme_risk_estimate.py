"""The extreme risk of a table as an answer: the estimate, its interval, and a status where there is none."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.extreme.extreme_risk import ENOUGH, Fits, Level, fit, highest, right_matches
from reid_sql.models.extreme.quasi_identifiers import Numbers, QuasiIdentifiers

RESAMPLES: Final = 1000
LEVEL: Final = (0.025, 0.975)
FITTED: Final = 0.9  # share of the resamples that must have a fit
BLOCK: Final = 2_000_000  # values fitted at once
NAMED: Final = 3  # quasi-identifiers that a sentence names
CERTAIN: Final = 1.0

TOO_FEW: Final = "quasi-identifiers exceed the threshold and a fit needs"
EQUAL: Final = (
    "risk is not available: all quasi-identifiers above the threshold have the same risk; "
    "pass more columns or another p"
)
BEYOND: Final = "the highest risk lies above the end of the fitted law"
NO_INTERVAL: Final = "no interval: too many resamples have no fit"


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


def risks(chosen: QuasiIdentifiers, memory_mb: int = 1024) -> list[QuasiIdentifierRisk]:
    """Give every quasi-identifier with its risk, the riskiest first.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2, 2]), np.array([1, 2, 3, 3])], np.arange(4))
    >>> [(row.quasi_identifier, row.risk) for row in risks(choose(table, 1))]
    [(['b'], 0.75), (['a'], 0.5)]
    """
    distinct, matches = right_matches(chosen, memory_mb)
    status, records = "; ".join(chosen.remark) or OK, chosen.records
    order = np.argsort(-matches, kind="stable").tolist()
    return [
        QuasiIdentifierRisk(chosen.names(n), int(distinct[n]), float(matches[n] / records), records, status)
        for n in order
    ]


def estimate(chosen: QuasiIdentifiers, level: Level, memory_mb: int = 1024) -> ExtremeRisk:
    """Estimate the extreme risk, with the percentile interval of a seeded bootstrap.

    The bootstrap draws the quasi-identifiers.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> table = Codes(["key"], [True], [np.arange(1, 9)], np.arange(8))
    >>> estimate(choose(table, 1), Level()).status
    'risk is 1: every record is unique for (key)'
    """
    _, distinct = right_matches(chosen, memory_mb)
    top = highest(distinct, level)
    found = fit(top[None], chosen.records, len(chosen), level)
    low, high = (
        interval(distinct, chosen.records, level, chosen.seed)
        if np.isfinite(found.shape[0])
        else (None, None)
    )
    problems = _problems(found, top, chosen, distinct)
    if low is None and np.isfinite(found.shape[0]):
        problems.append(NO_INTERVAL)
    return ExtremeRisk(
        risk=number(found.risk[0]),
        risk_low=low,
        risk_high=high,
        threshold=float(found.threshold[0]),
        shape=number(found.shape[0]),
        scale=number(found.scale[0]),
        quasi_identifiers=len(chosen),
        exceedances=int(found.exceedances[0]),
        records=chosen.records,
        status="; ".join([*problems, *chosen.remark]) or OK,
    )


def number(value: float) -> float | None:
    """The number, or None where there is none.

    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    return None if np.isnan(value) else float(value)


def no_fit(found: Fits, row: int = 0) -> list[str]:
    """Say why this row of the fits has no risk; nothing where it has."""
    if not np.isnan(found.risk[row]):
        return []
    m = int(found.exceedances[row])
    if m < ENOUGH:
        return [
            f"risk is not available: {m} {TOO_FEW} {ENOUGH}; pass more columns, a larger tail or another p"
        ]
    return [EQUAL]


def _problems(found: Fits, top: Numbers, chosen: QuasiIdentifiers, distinct: Numbers) -> list[str]:
    if found.certain[0]:
        keys = np.flatnonzero(distinct == chosen.records).tolist()
        named = ", ".join(f"({', '.join(chosen.names(key))})" for key in keys[:NAMED])
        more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        return [f"risk is 1: every record is unique for {named}{more}"]
    if found.shape[0] < 0:
        end = -found.scale[0] / found.shape[0]
        share = top[-1] / chosen.records
        reached = (
            np.log(share) - np.log1p(-share) - np.log(found.threshold[0]) + np.log1p(-found.threshold[0])
        )
        return [BEYOND] if reached > end else []
    return no_fit(found)


def interval(
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
    for rows in np.diff(np.r_[0 : RESAMPLES : max(1, BLOCK // size), RESAMPLES]):
        sums = np.cumsum(generator.exponential(size=(rows, size)), axis=1)
        whole = sums[:, -1:] + generator.gamma(count - size + 1, size=(rows, 1))
        places = np.minimum((sums / whole * count).astype(np.int64), count - 1)
        drawn.append(fit(descending[places[:, ::-1]], records, count, level).risk)
    resampled = np.concatenate(drawn)
    resampled = resampled[~np.isnan(resampled)]
    if len(resampled) < FITTED * RESAMPLES:
        return None, None
    low, high = np.quantile(resampled, LEVEL)
    return float(low), float(high)
