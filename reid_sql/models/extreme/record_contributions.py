"""What each record contributes to the extreme risk of its table, exactly."""

from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.extreme.extreme_risk import Fits, Level, fit, highest
from reid_sql.models.extreme.extreme_risk_estimate import no_fit, number
from reid_sql.models.extreme.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.extreme.record_order import by_order
from reid_sql.models.extreme.removal import risk_without, uniqueness
from reid_sql.parameters import Floats

WITHOUT: Final = "contribution is not available: without the record there is no fit"


@dataclass(frozen=True)
class Contribution:
    """A record: T − T without it, for how many quasi-identifiers it is unique, and the proxies."""

    record: int
    contribution: float | None
    unique_quasi_identifiers: int
    u_star: float
    u_plus: float
    entropy: float | None
    pls: float | None
    status: str


@dataclass(frozen=True)
class Contributions:
    """The fit of the whole table, and per record its contribution (NaN without one) and its uniqueness.

    The uniqueness says how the record is unique.
    """

    whole: Fits  # (1,)
    contribution: Floats  # (records,)
    unique: Integers  # (records,)
    u_star: Floats  # (records,)
    u_plus: Floats  # (records,)


def contributions(chosen: QuasiIdentifiers, level: Level, memory_mb: int = 1024) -> Contributions:
    """Give every record's exact contribution DT(i) = T − T(without i), U* = Σ U(1 − θ) and U⁺ = Σ U θ.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> found = contributions(choose(table, 3), Level(0.1, 0.5))
    >>> round(float(found.contribution.max()), 4)
    0.0052
    """
    counted = uniqueness(chosen, memory_mb)
    whole = fit(highest(counted.distinct, level)[None], chosen.records, len(chosen), level)
    contribution = np.zeros(chosen.records)
    if not whole.certain[
        0
    ]:  # else every record is unique for that quasi-identifier, with or without any other
        contribution = whole.risk[0] - risk_without(chosen, counted.distinct, level, memory_mb)
    u_plus = counted.weighted / chosen.records
    u_star = (counted.unique * chosen.records - counted.weighted) / chosen.records
    return Contributions(whole, contribution, counted.unique, u_star, u_plus)


def rows(chosen: QuasiIdentifiers, level: Level, memory_mb: int = 1024) -> list[Contribution]:
    """Give the contributions record by record, in the order of the table."""
    found = contributions(chosen, level, memory_mb)
    proxies = by_order(chosen, found.contribution, memory_mb)
    none = [None] * chosen.records
    whole = no_fit(found.whole)
    known = [*whole, *proxies.remarks, *chosen.remark]
    without = "; ".join(known if whole else [WITHOUT, *known])
    columns = zip(
        found.contribution.tolist(),
        found.unique.tolist(),
        found.u_star.tolist(),
        found.u_plus.tolist(),
        none if proxies.entropy is None else proxies.entropy.tolist(),
        none if proxies.pls is None else proxies.pls.tolist(),
        strict=True,
    )
    status = "; ".join(known) or OK
    return [
        Contribution(
            i, number(value), unique, star, plus, ordered, predicted, without if isnan(value) else status
        )
        for i, (value, unique, star, plus, ordered, predicted) in enumerate(columns)
    ]
