"""Risk of all records against partial knowledge, compared with the worst case, and by the four parameters.

Source: Xia et al. 2021, Tables 3 and 4: quartiles of the reduction of each subject's risk against the worst
case.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError
from reid_sql.models.attacker.adversary import (
    MEASURES,
    KnownRecords,
    compute_expectations,
    compute_worst_case,
    uses_estimate,
)
from reid_sql.models.attacker.scenario import PARAMETERS, scenario
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.fitted_model import FittedModel
from reid_sql.models.numerics.quantiles import quantiles_by_count
from reid_sql.parameters import PROBABILITY, THRESHOLD, Floats, Integers, Numbers, plain

LEVELS: Final = Numbers(PROBABILITY, optional=True)
Levels = Annotated[npt.ArrayLike | None, LEVELS]
DEFAULT_LEVELS: Final = (0.2, 0.5, 0.8)
MAX_LEVELS: Final = 6  # 1,296 settings
QUARTILES: Final = (0.25, 0.5, 0.75)
STATUS_NO_REDUCTION: Final = (
    "no_reduction: reduction is not available, since no record is at risk in the worst case"
)


@dataclass(frozen=True)
class AdversarySummary:
    """One measure over all records: quartiles, who is above the threshold, reduction from the worst case."""

    measure: str
    lower_quartile: float
    median: float
    upper_quartile: float
    average: float
    highest: float
    records_at_risk: float
    worst_median: float
    worst_average: float
    worst_records_at_risk: float
    reduction_lower_quartile: float | None
    reduction_median: float | None
    reduction_upper_quartile: float | None
    records_compared: int
    records: int
    threshold: float
    standard_error: float
    status: str


@dataclass(frozen=True)
class AdversarySetting:
    """Overall risk under one setting of the four parameters, and its reduction against the worst case.

    The worst case is taken under the same setting.
    """

    presence_disclosed: float
    presence_discovered: float
    uniqueness_confirmed: float
    link_confirmed: float
    lower_quartile: float
    median: float
    upper_quartile: float
    average: float
    reduction_lower_quartile: float | None
    reduction_median: float | None
    reduction_upper_quartile: float | None
    records_compared: int
    status: str


@dataclass(frozen=True)
class Compared:
    """Risk of distinct records and in the worst case, and how many records have each."""

    risk: Floats  # (distinct,)
    worst: Floats  # (distinct,)
    records: Integers  # (distinct,)

    @property
    def compared(self) -> int:
        """Records that the worst case puts at risk at all."""
        return int(self.records[self.worst > 0].sum())

    @property
    def reduction(self) -> tuple[float | None, float | None, float | None]:
        """Quartiles of 1 − risk/worst over these."""
        at_risk = self.worst > 0
        if not at_risk.any():
            return None, None, None
        reduced = 1 - self.risk[at_risk] / self.worst[at_risk]
        lower, median, upper = quantiles_by_count(reduced, self.records[at_risk], QUARTILES)
        return lower, median, upper


def summarize_adversary(
    distinct: KnownRecords,
    source: Any,  # noqa: ANN401 - what a scenario may be read from
    threshold: float = 0.2,
    nulls: str = "value",
    *,
    trials: int = 10_000,
    seed: int = 0,
    model: FittedModel | None = None,
) -> list[AdversarySummary]:
    """Summarise prosecutor, journalist, marketer and overall risk over the records.

    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> half = {"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}
    >>> prosecutor = summarize_adversary(people, half)[0]
    >>> prosecutor.median, prosecutor.records_at_risk
    (0.25, 0.5)
    >>> prosecutor.reduction_median, prosecutor.records_compared
    (0.5, 2)
    """
    attacker, limit = scenario(source), float(THRESHOLD.check("threshold", threshold))
    expectations = compute_expectations(
        distinct, attacker, nulls, trials=trials, seed=seed, model=model
    )
    worst = compute_worst_case(distinct, attacker, nulls, model)
    error = float(expectations.standard_error(attacker.parameters).max())
    risks, worsts = (
        dict(zip(MEASURES, each.risks(attacker.parameters), strict=True))
        for each in (expectations, worst)
    )
    compared = {
        name: Compared(risks[name], worsts[name], distinct.of_table.records) for name in MEASURES
    }
    statuses = {
        name: expectations.status_of(estimate=uses_estimate(name, attacker.parameters))
        for name in MEASURES
    }
    return [
        _summarize_measure(name, compared[name], limit, error, statuses[name]) for name in MEASURES
    ]


def summarize_settings(
    distinct: KnownRecords,
    source: Any,  # noqa: ANN401 - what a scenario may be read from
    levels: npt.ArrayLike | None = None,
    nulls: str = "value",
    *,
    trials: int = 10_000,
    seed: int = 0,
    model: FittedModel | None = None,
) -> list[AdversarySetting]:
    """Overall risk for every setting of the four parameters to the levels: 0.2, 0.5 and 0.8 unless given.

    The knowledge sets are counted once: overall risk is linear in the three other measures.

    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> half = {"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]}
    >>> settings = summarize_settings(people, half)
    >>> len(settings), settings[-1].link_confirmed, round(settings[-1].median, 4)
    (81, 0.8, 0.4464)
    """
    chosen = sorted(
        set(
            DEFAULT_LEVELS
            if levels is None
            else np.asarray(LEVELS.check("levels", levels)).tolist()
        )
    )
    if len(chosen) > MAX_LEVELS:
        shown = ", ".join(plain(level) for level in chosen)
        raise OutOfDomainError(
            f"levels must be at most {MAX_LEVELS} numbers, got {shown}; pass fewer, such as [0.2, 0.5, 0.8]"
        )
    attacker = scenario(source)
    expectations = compute_expectations(
        distinct, attacker, nulls, trials=trials, seed=seed, model=model
    )
    worst = compute_worst_case(distinct, attacker, nulls, model)
    settings = product(chosen, repeat=len(PARAMETERS))
    return [
        _summarize_setting(
            setting,
            Compared(
                expectations.overall(setting), worst.overall(setting), distinct.of_table.records
            ),
            expectations.status_of(estimate=uses_estimate("overall", setting)),
        )
        for setting in settings
    ]


def _summarize_measure(
    name: str, compared_runs: Compared, limit: float, error: float, status: str
) -> AdversarySummary:
    risk, worst, records = compared_runs.risk, compared_runs.worst, compared_runs.records
    total = int(records.sum())
    lower, median, upper = quantiles_by_count(risk, records, QUARTILES)
    reduced_lower, reduced_median, reduced_upper = compared_runs.reduction
    return AdversarySummary(
        measure=name,
        lower_quartile=lower,
        median=median,
        upper_quartile=upper,
        average=_average_over_records(risk, records),
        highest=float(risk.max()),
        records_at_risk=float(records[risk > limit].sum() / total),
        worst_median=quantiles_by_count(worst, records, [0.5])[0],
        worst_average=_average_over_records(worst, records),
        worst_records_at_risk=float(records[worst > limit].sum() / total),
        reduction_lower_quartile=reduced_lower,
        reduction_median=reduced_median,
        reduction_upper_quartile=reduced_upper,
        records_compared=compared_runs.compared,
        records=total,
        threshold=limit,
        standard_error=error,
        status=_join_status(status, compared_runs.compared),
    )


def _summarize_setting(
    setting: Sequence[float], compared_runs: Compared, status: str
) -> AdversarySetting:
    lower, median, upper = quantiles_by_count(compared_runs.risk, compared_runs.records, QUARTILES)
    reduced_lower, reduced_median, reduced_upper = compared_runs.reduction
    disclosed, discovered, confirmed, link = setting
    return AdversarySetting(
        presence_disclosed=disclosed,
        presence_discovered=discovered,
        uniqueness_confirmed=confirmed,
        link_confirmed=link,
        lower_quartile=lower,
        median=median,
        upper_quartile=upper,
        average=_average_over_records(compared_runs.risk, compared_runs.records),
        reduction_lower_quartile=reduced_lower,
        reduction_median=reduced_median,
        reduction_upper_quartile=reduced_upper,
        records_compared=compared_runs.compared,
        status=_join_status(status, compared_runs.compared),
    )


def _average_over_records(values: Floats, records: Integers) -> float:
    """Mean over the records, added up in one order whatever theirs."""
    return float(np.sort(values * records).sum() / records.sum())


def _join_status(status: str, compared: int) -> str:
    parts = [*([] if status == OK else [status]), *([] if compared else [STATUS_NO_REDUCTION])]
    return "; ".join(parts) or OK
