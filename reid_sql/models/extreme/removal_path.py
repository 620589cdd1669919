"""The extreme risk after each removal in a chosen order, beside the bound that no order gets below.

The order is chosen step by step or once.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.extreme.extreme_risk import Fits, Level, distinct_values, fit, highest
from reid_sql.models.extreme.extreme_risk_estimate import CERTAIN, no_fit, number
from reid_sql.models.extreme.quasi_identifiers import Integers, QuasiIdentifiers
from reid_sql.models.extreme.record_contributions import contributions
from reid_sql.models.extreme.record_elimination import eliminate
from reid_sql.models.extreme.record_order import by_order
from reid_sql.models.extreme.removal_bound import lowest
from reid_sql.models.extreme.removal_order import risk_along
from reid_sql.parameters import Choice, Floats, Number

STAYS: Final = "risk is 1: every record is unique for some quasi-identifier, and no removal changes that"
STOPPED: Final = "stopped: no further removal leaves a risk that can be estimated and is below 1"

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


def path(
    chosen: QuasiIdentifiers, level: Level, remove: int = 100, by: By = "exact", memory_mb: int = 1024
) -> list[Removal]:
    """Remove records one after the other, and give the extreme risk after each; step 0 is the whole table.

    `by` is 'exact' (the largest contribution to what remains, found anew each time) or an order of the whole
    table: 'dt' (contribution), 'u_plus', 'u_star', 'entropy', 'pls'. Refuses to remove all records.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> [row.record for row in path(choose(table, 3), Level(0.1, 0.5), 3)]
    [None, 56, 40, 9]
    """
    how, steps = BY.check("by", by), int(REMOVE.check("remove", remove))
    if steps >= chosen.records:
        rule = f"remove must be below the {chosen.records} records of the table, got {steps}"
        raise OutOfDomainError(f"{rule}; pass a smaller number")
    distinct = distinct_values(chosen, memory_mb)
    whole = fit(highest(distinct, level)[None], chosen.records, len(chosen), level)
    if whole.certain[0] or np.isnan(whole.risk[0]):
        return [
            Removal(
                0, None, number(whole.risk[0]), None, STAYS if whole.certain[0] else "; ".join(no_fit(whole))
            )
        ]
    bounds = lowest(chosen, distinct, level, steps, memory_mb)
    if how == "exact":
        records, risks = eliminate(chosen, level, steps, memory_mb)
        return _stepwise(records, [float(whole.risk[0]), *risks], bounds, chosen, steps)
    order = _order(chosen, level, how, memory_mb)[:steps]
    fits = risk_along(chosen, level, order, memory_mb)
    return _along(order, fits, bounds, chosen)


def _stepwise(
    records: list[int], risks: list[float], bounds: Floats, chosen: QuasiIdentifiers, steps: int
) -> list[Removal]:
    status = "; ".join(chosen.remark) or OK
    rows = zip(range(len(risks)), [None, *records], risks, bounds.tolist()[: len(risks)], strict=True)
    found = [Removal(step, record, risk, bound, status) for step, record, risk, bound in rows]
    if len(records) < steps:
        last = found.pop()
        found.append(
            Removal(last.step, last.record, last.risk, last.bound, "; ".join([STOPPED, *chosen.remark]))
        )
    return found


def _order(chosen: QuasiIdentifiers, level: Level, by: str, memory_mb: int) -> Integers:
    """The records from the highest score on; ties in the order of the table."""
    found = contributions(chosen, level, memory_mb)
    quick = {"dt": found.contribution, "u_star": found.u_star, "u_plus": found.u_plus}
    if by in quick:
        return np.argsort(-quick[by], kind="stable")
    proxies = by_order(chosen, found.contribution, memory_mb)
    score = proxies.entropy if by == "entropy" else proxies.pls
    if score is None:
        raise OutOfDomainError(f"by must be an order that the table has, got '{by}'; {proxies.remarks[0]}")
    return np.argsort(-score, kind="stable")


def _along(order: Integers, fits: list[Fits], bounds: Floats, chosen: QuasiIdentifiers) -> list[Removal]:
    found: list[Removal] = []
    records = [None, *order.tolist()]
    for part in fits:
        for row in range(len(part.risk)):
            risk, step = number(part.risk[row]), len(found)
            problems = [STAYS] if risk == CERTAIN else no_fit(part, row)
            found.append(
                Removal(
                    step,
                    records[step],
                    risk,
                    float(bounds[step]),
                    "; ".join([*problems, *chosen.remark]) or OK,
                )
            )
    return found
