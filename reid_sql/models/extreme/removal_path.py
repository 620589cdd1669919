"""The extreme risk after each removal of records, and a bound that no choice of records gets below."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import Key, map_keys
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.extreme.extreme_risk import (
    CERTAIN,
    Fits,
    Level,
    count_distinct_values,
    explain_missing_fit,
    fit_tail,
    none_if_nan,
    select_highest,
)
from reid_sql.models.extreme.record_contributions import (
    compute_order_proxies,
    measure_contributions,
)
from reid_sql.models.extreme.removal import eliminate_records, fit_along
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import special_functions
from reid_sql.models.numerics.special_functions import expit
from reid_sql.parameters import Choice, Floats, Number

# The bound: how far removing any S of the L records can lower the extreme risk T.
#
# A quasi-identifier j has H_j classes and the risk θ_j = H_j / L; H_(1) ≥ H_(2) ≥ … in order. The law is
# fitted to the risks above the threshold u, the K-th highest. A removal destroys a class only if it removes
# all of its members. Give each record the credit 1/size for each of its classes in the M riskiest
# quasi-identifiers: the classes destroyed there are at most the credits of the removed records, so at most
# C_M(S), the sum of the S largest credits. Each H also falls by at most S. Two bounds follow, and the higher
# one counts.
#
# (1) T > u. Let u be the threshold after the removal. Of the M ≥ K riskiest quasi-identifiers of the whole
# table, at most K − 1 end above u. The others are at least M − K + 1; each ends with at most u (L − S)
# classes, and they began with at least as many as the ranks K to M have. Together they lost at most C_M(S).
# So, for every M,
#
#     u ≥ (Σ_{r=K…M} H_(r) − C_M(S)) / ((M − K + 1) (L − S))
#
# and u ≥ (H_(K) − S) / (L − S).
#
# (2) By probability-weighted moments, the scale is β = (1 − ξ) · mean excess of the logits above u. So
#
#     logit T = logit u + (β/ξ) ((π_u/α)^ξ − 1)
#             = (1 − h) logit u + h · mean logit θ above u
#           h = (1 − ξ) ((π_u/α)^ξ − 1) / ξ
#
# h ≥ 1 for shapes ξ up to `largest_shape`; then logit T is at least the mean. The K − 1 riskiest after the
# removal have no lower mean than the K − 1 riskiest of the whole table, whose least mean after destroying
# C_{K−1}(S) of their classes is the best filling of a knapsack.

CHOICES_OF_M: Final = 16  # choices of M
# of a class: whole numbers add up to the same sum on any number of threads
CREDIT_UNITS: Final = 2**32
VALUES_PER_BLOCK: Final = 500_000  # values at once


def largest_shape(level: Level) -> float | None:
    """Shape of the law up to which T is at least the mean above the threshold.

    None where α is no small part of π_u.

    >>> round(largest_shape(Level(0.01, 0.05)), 3), largest_shape(Level(0.04, 0.05))
    (0.647, None)
    """
    reach = log(level.tail / level.alpha)
    if reach <= 1:
        return None
    # For ξ > 0, h ≥ 1 where (1 − ξ)(π_u/α)^ξ ≥ 1. The logarithm, with r = ln(π_u/α), is
    #
    #     r ξ + ln(1 − ξ)
    #
    # It is concave, 0 at ξ = 0, highest at 1 − 1/r, and 0 again at the largest shape. For ξ < 0 the condition
    # is the opposite, and holds; at ξ = 0, h = r > 1.
    return special_functions.find_root(
        lambda shape: reach * shape + np.log1p(-shape), 1 - 1 / reach, 1 - 1e-15
    )


def bound_risk(chosen: QuasiIdentifiers, distinct: Integers, level: Level, steps: int) -> Floats:
    """Give a number that the extreme risk does not get below by the removal of any 0, 1, … `steps` records.

    It is valid for every removal after which the shape of the law is at most `largest_shape`.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> table = Codes(["a", "b"], [True] * 2, [np.array([1, 1, 2, 2]), np.array([1, 1, 2, 3])], np.arange(4))
    >>> bound_risk(choose_quasi_identifiers(table, 1), np.array([2, 3]), Level(0.1, 0.5), 2).round(3).tolist()
    [0.75, 0.667, 0.5]
    """
    left = chosen.records - np.arange(steps + 1)
    order = np.argsort(-distinct, kind="stable")
    ranked = distinct[order]
    reached = level.top(len(distinct))
    credit = _sum_credits(chosen, order[: reached - 1])
    bound = np.zeros(steps + 1)
    if reached > 1 and largest_shape(level) is not None:
        bound = _bound_mean(ranked[: reached - 1], _max_destroyed(credit, steps), left)
    count = np.maximum(ranked[reached - 1] - np.arange(steps + 1), 1).astype(np.float64)
    start = reached - 1
    for width in np.unique(
        np.geomspace(reached, len(distinct), CHOICES_OF_M).round().astype(np.int64)
    ).tolist():
        credit += _sum_credits(chosen, order[start:width])
        start = width
        count = np.maximum(
            count,
            (ranked[reached - 1 : width].sum() - _max_destroyed(credit, steps))
            / (width - reached + 1),
        )
    answer: Floats = np.maximum(bound, count / left)
    return answer


def _sum_credits(chosen: QuasiIdentifiers, numbers: Integers) -> Integers:
    """For each record, the sum of 1/size of its classes in these quasi-identifiers, in whole units."""
    total = np.zeros(chosen.records, dtype=np.int64)
    lock = threading.Lock()

    def add(_: int, key: Key) -> None:
        ids, sizes = key.classes()
        part = -(-CREDIT_UNITS // np.maximum(sizes, 1))[ids]
        with lock:
            np.add(total, part, out=total)

    map_keys(chosen, add, numbers)
    return total


def _max_destroyed(credit: Integers, steps: int) -> Floats:
    """The most classes that the removal of 0, 1, … records destroys."""
    most: Floats = np.r_[0, np.cumsum(np.sort(credit)[::-1][:steps])] / CREDIT_UNITS
    return most


def _bound_mean(ranked: Integers, destroyed: Floats, left: Integers) -> Floats:
    """The least mean logit, as a share, of these quasi-identifiers once so many of their classes are gone."""
    means = []
    rows = max(1, VALUES_PER_BLOCK // len(ranked))
    for start in range(0, len(left), rows):
        checkpoint()
        size = left[start : start + rows, None].astype(np.float64)
        taken = left[0] - size
        high = np.minimum(ranked, size - 1)  # a risk of 1 would be the risk of the table
        low = np.minimum(np.maximum(ranked - taken, 1), high)
        # Spend the budget of destroyed classes where a class less lowers the logit most; one row a step.
        with np.errstate(divide="ignore", invalid="ignore"):
            logits = np.log(high) - np.log(size - high)
            cap = high - low
            chord = (logits - np.log(low) + np.log(size - low)) / cap
            slope = np.where(cap > 0, np.maximum(chord, 1 / high + 1 / (size - high)), 0.0)
        best = np.argsort(-slope, axis=1)
        caps = np.take_along_axis(cap, best, axis=1)
        before = np.cumsum(caps, axis=1) - caps
        spent = np.clip(destroyed[start : start + rows][:, None] - before, 0, caps)
        total = logits.sum(axis=1) - (spent * np.take_along_axis(slope, best, axis=1)).sum(axis=1)
        bound: Floats = expit(total / high.shape[1])
        means.append(np.where(np.isnan(bound), 0.0, bound))
    return np.concatenate(means)


# The extreme risk after each removal in a chosen order, with the bound that no order gets below.
# The order is chosen step by step or once.

STATUS_STAYS_1: Final = (
    "stays_certain: every record is unique for some quasi-identifier, which no removal changes"
)
STATUS_STOPPED: Final = "stopped: no further removal leaves a risk below 1 that can be estimated"

BY: Final = Choice(("exact", "dt", "u_plus", "u_star", "entropy", "pls"))
REMOVE: Final = Number(
    "a whole number of records from 1 to 1e+09",
    "pass how many records to remove, such as 100",
    1.0,
    1e9,
    whole=True,
)
By = Annotated[Literal["exact", "dt", "u_plus", "u_star", "entropy", "pls"], BY]
Remove = Annotated[int, REMOVE]


@dataclass(frozen=True)
class Removal:
    """A step, the record that it removes, the extreme risk then, and the bound for as many records.

    No removal of as many records gets the risk below the bound.
    """

    step: int
    record: int | None
    risk: float | None
    bound: float | None
    status: str


def remove_records(
    chosen: QuasiIdentifiers,
    level: Level,
    remove: int = 100,
    by: By = "exact",
) -> list[Removal]:
    """Remove records one after the other, and give the extreme risk after each; step 0 is the whole table.

    `by` is 'exact' (the largest contribution to what remains, found anew each time) or an order of the whole
    table: 'dt' (contribution), 'u_plus', 'u_star', 'entropy', 'pls'. Refuses to remove all records.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> [row.record for row in remove_records(choose_quasi_identifiers(table, 3), Level(0.1, 0.5), 3)]
    [None, 56, 40, 9]
    """
    how, steps = BY.check("ranking", by), int(REMOVE.check("remove", remove))
    if steps >= chosen.records:
        raise OutOfDomainError(
            f"remove must be below the {chosen.records} records of the table, got {steps}; "
            "pass a smaller number"
        )
    distinct = count_distinct_values(chosen)
    whole = fit_tail(select_highest(distinct, level)[None], chosen.records, len(chosen), level)
    if whole.certain[0] or np.isnan(whole.risk[0]):
        return [
            Removal(
                0,
                None,
                none_if_nan(whole.risk[0]),
                None,
                STATUS_STAYS_1 if whole.certain[0] else "; ".join(explain_missing_fit(whole)),
            )
        ]
    bounds = bound_risk(chosen, distinct, level, steps).tolist()
    risks: list[float | None]
    if how == "exact":
        records, risks_after = eliminate_records(chosen, level, steps)
        risks = [float(whole.risk[0]), *risks_after]
        statuses = ["; ".join(chosen.remark) or OK] * len(risks)
        if len(records) < steps:
            statuses[-1] = "; ".join([STATUS_STOPPED, *chosen.remark])
    else:
        order = _rank_records(chosen, level, how)[:steps]
        records = order.tolist()
        risks, statuses = _describe_fits(fit_along(chosen, level, order), chosen.remark)
    rows = zip([None, *records], risks, bounds[: len(risks)], statuses, strict=True)
    return [Removal(step, *row) for step, row in enumerate(rows)]


def _rank_records(chosen: QuasiIdentifiers, level: Level, by: str) -> Integers:
    """The records from the highest score on; ties in the order of the table."""
    contributions = measure_contributions(chosen, level)
    quick = {
        "dt": contributions.contribution,
        "u_star": contributions.u_star,
        "u_plus": contributions.u_plus,
    }
    if by in quick:
        return np.argsort(-quick[by], kind="stable")
    proxies = compute_order_proxies(chosen, contributions.contribution)
    score = proxies.entropy if by == "entropy" else proxies.pls
    if score is None:
        reason = proxies.remarks[0].partition(": ")[2]
        raise OutOfDomainError(f"by must be an order that the table has, got '{by}'; {reason}")
    return np.argsort(-score, kind="stable")


def _describe_fits(fits: list[Fits], remark: Sequence[str]) -> tuple[list[float | None], list[str]]:
    """The risk of each fit, and its status."""
    risks, statuses = [], []
    for part in fits:
        for row in range(len(part.risk)):
            risk = none_if_nan(part.risk[row])
            problems = [STATUS_STAYS_1] if risk == CERTAIN else explain_missing_fit(part, row)
            risks.append(risk)
            statuses.append("; ".join([*problems, *remark]) or OK)
    return risks, statuses
