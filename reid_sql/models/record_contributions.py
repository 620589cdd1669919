"""What each record contributes to the extreme risk, and what may stand for it: U*, U⁺, entropy, PLS."""

from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np

from reid_sql.domains import Floats
from reid_sql.models.disclosure import OK
from reid_sql.models.extreme_risk import Fits, Level, fit, highest
from reid_sql.models.extreme_risk_estimate import no_fit, number
from reid_sql.models.partial_least_squares import predict
from reid_sql.models.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.record_entropy import entropy, not_ordinal, too_wide
from reid_sql.models.removal import risk_without, uniqueness

WITHOUT: Final = "contribution is not available: without the record there is no fit"
FACTORS: Final = 3


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
    """The same as arrays, with the fit of the whole table; NaN where there is no contribution, None where there is no proxy."""

    whole: Fits  # (1,)
    distinct: Integers  # (quasi-identifiers,)
    contribution: Floats  # (records,)
    unique: Integers  # (records,)
    u_star: Floats  # (records,)
    u_plus: Floats  # (records,)
    entropy: Floats | None  # (records,)
    pls: Floats | None  # (records,)
    remarks: list[str]


def contributions(chosen: QuasiIdentifiers, level: Level, memory_mb: int = 1024) -> Contributions:
    """Give the exact contribution DT(i) = T − T(without i) of every record, with its proxies.

    U* = Σ U(1 − θ), U⁺ = Σ U θ. A record that several quasi-identifiers single out has a high U⁺.

    >>> from reid_sql.models.quasi_identifiers import Codes, choose
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdef"), [True] * 6, [draw.integers(1, 9, 50) for _ in range(6)], np.arange(50))
    >>> found = contributions(choose(table, 3), Level(0.1, 0.5))
    >>> round(float(found.contribution.max()), 4)
    0.0083
    """
    counted = uniqueness(chosen, memory_mb)
    whole = fit(highest(counted.distinct, level)[None], chosen.records, len(chosen), level)
    contribution = np.zeros(chosen.records)
    if not whole.certain[0]:  # else every record is unique for that quasi-identifier, with or without any other
        contribution = whole.risk[0] - risk_without(chosen, counted.distinct, level, memory_mb)
    u_plus = counted.weighted / chosen.records
    u_star = (counted.unique * chosen.records - counted.weighted) / chosen.records
    disorder, width = not_ordinal(chosen.table), too_wide(chosen, memory_mb)
    return Contributions(
        whole=whole,
        distinct=counted.distinct,
        contribution=contribution,
        unique=counted.unique,
        u_star=u_star,
        u_plus=u_plus,
        entropy=None if disorder or width else entropy(chosen, memory_mb),
        pls=None if disorder else predict(chosen.table.codes, contribution > 0, FACTORS),
        remarks=[*_unavailable(disorder, width), *chosen.remark],
    )


def _unavailable(disorder: str, width: str) -> list[str]:
    if disorder:
        return [f"entropy and pls are not available: {disorder}"]
    return [f"entropy is not available: {width}"] if width else []


def rows(chosen: QuasiIdentifiers, level: Level, memory_mb: int = 1024) -> list[Contribution]:
    """Give the contributions record by record, in the order of the table."""
    found = contributions(chosen, level, memory_mb)
    none = [None] * chosen.records
    whole = no_fit(found.whole)
    known = [*whole, *found.remarks]
    without = "; ".join(known if whole else [WITHOUT, *known])
    columns = zip(
        found.contribution.tolist(),
        found.unique.tolist(),
        found.u_star.tolist(),
        found.u_plus.tolist(),
        none if found.entropy is None else found.entropy.tolist(),
        none if found.pls is None else found.pls.tolist(),
        strict=True,
    )
    status = "; ".join(known) or OK
    return [
        Contribution(i, number(value), unique, star, plus, ordered, predicted, without if isnan(value) else status)
        for i, (value, unique, star, plus, ordered, predicted) in enumerate(columns)
    ]
