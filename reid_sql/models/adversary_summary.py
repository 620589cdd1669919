"""Risk against an attacker with partial knowledge over all records, beside the worst case, and by the four parameters.

Source: Xia et al. 2021, Tables 3 and 4: quartiles of the reduction of each subject's risk against the worst case.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.domains import PROBABILITY, THRESHOLD, Floats, Numbers, plain
from reid_sql.errors import OutOfDomainError
from reid_sql.models.adversary import MEASURES, Expectations, KnownRecords, expectations, worst_case
from reid_sql.models.disclosure import OK, Integers
from reid_sql.models.scenario import PARAMETERS, Scenario, scenario

LEVELS: Final = Numbers(PROBABILITY, optional=True)
Levels = Annotated[npt.ArrayLike | None, LEVELS]
DEFAULT: Final = (0.2, 0.5, 0.8)
MOST_LEVELS: Final = 6  # 1,296 settings
QUARTILES: Final = (0.25, 0.5, 0.75)
NO_REDUCTION: Final = "reduction is not available: no record is at risk in the worst case"


@dataclass(frozen=True)
class AdversarySummary:
    """One measure over all records: quartiles, who is above the threshold, and the reduction against the worst case."""

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
    """Overall risk under one setting of the four parameters, and its reduction against the worst case under the same."""

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


def summary(
    known: KnownRecords,
    source: Any,  # noqa: ANN401 - what a scenario may be read from
    threshold: float = 0.2,
    nulls: str = "value",
    trials: int = 10_000,
    seed: int = 0,
) -> list[AdversarySummary]:
    """Summarise prosecutor, journalist, marketer and overall risk over the records.

    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> prosecutor = summary(people, {"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]})[0]
    >>> prosecutor.median, prosecutor.records_at_risk, prosecutor.reduction_median, prosecutor.records_compared
    (0.25, 0.5, 0.5, 2)
    """
    given, limit = scenario(source), float(THRESHOLD.check("threshold", threshold))
    found, worst = expectations(known, given, nulls, trials, seed), worst_case(known, given, nulls)
    error = float(found.standard_error(_parameters(given)).max())
    risks, worsts = (_measures(each, given) for each in (found, worst))
    return [_measure(name, risks[name], worsts[name], known.records, limit, error, found.status) for name in MEASURES]


def sensitivity(
    known: KnownRecords,
    source: Any,  # noqa: ANN401 - what a scenario may be read from
    levels: npt.ArrayLike | None = None,
    nulls: str = "value",
    trials: int = 10_000,
    seed: int = 0,
) -> list[AdversarySetting]:
    """Overall risk for every setting of the four parameters to one of the levels, 0.2, 0.5 and 0.8 unless given.

    The knowledge sets are counted once: overall risk is linear in the three other measures.

    >>> people = KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
    >>> settings = sensitivity(people, {"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]})
    >>> len(settings), settings[-1].link_confirmed, round(settings[-1].median, 4)
    (81, 0.8, 0.6964)
    """
    chosen = sorted(set(DEFAULT if levels is None else np.asarray(LEVELS.check("levels", levels)).tolist()))
    if len(chosen) > MOST_LEVELS:
        shown = ", ".join(plain(level) for level in chosen)
        raise OutOfDomainError(f"levels must be at most {MOST_LEVELS} numbers, got {shown}; pass fewer, such as [0.2, 0.5, 0.8]")
    given = scenario(source)
    found, worst = expectations(known, given, nulls, trials, seed), worst_case(known, given, nulls)
    return [_setting(setting, found, worst, known.records) for setting in product(chosen, repeat=len(PARAMETERS))]


def weighted_quantiles(values: Floats, records: Integers, shares: Sequence[float]) -> list[float]:
    """Quantiles of values that stand for so many records each, between two of them in proportion.

    >>> weighted_quantiles(np.array([3.0, 1.0]), np.array([1, 2]), [0.5, 0.75])
    [1.0, 2.0]
    """
    order = np.argsort(values)
    ordered, last = values[order], np.cumsum(records[order]) - 1  # 0-based places among all records
    places = np.asarray(shares) * last[-1]
    low = ordered[np.searchsorted(last, np.floor(places))]
    high = ordered[np.searchsorted(last, np.ceil(places))]
    return [float(value) for value in low + (places - np.floor(places)) * (high - low)]


def _parameters(given: Scenario) -> list[float]:
    return [getattr(given, name) for name in PARAMETERS]


def _measures(found: Expectations, given: Scenario) -> dict[str, Floats]:
    risks = (found.prosecutor, found.journalist, found.marketer, found.overall(_parameters(given)))
    return dict(zip(MEASURES, risks, strict=True))


def _measure(
    name: str, risk: Floats, worst: Floats, records: Integers, limit: float, error: float, status: str
) -> AdversarySummary:
    reduced, compared = _reduction(risk, worst, records)
    total = int(records.sum())
    return AdversarySummary(
        name,
        *weighted_quantiles(risk, records, QUARTILES),
        average=float(risk @ records / total),
        highest=float(risk.max()),
        records_at_risk=float(records[risk > limit].sum() / total),
        worst_median=weighted_quantiles(worst, records, [0.5])[0],
        worst_average=float(worst @ records / total),
        worst_records_at_risk=float(records[worst > limit].sum() / total),
        reduction_lower_quartile=reduced[0],
        reduction_median=reduced[1],
        reduction_upper_quartile=reduced[2],
        records_compared=compared,
        records=total,
        threshold=limit,
        standard_error=error,
        status=_status(status, compared),
    )


def _setting(
    setting: Sequence[float], found: Expectations, worst: Expectations, records: Integers
) -> AdversarySetting:
    risk = found.overall(setting)
    reduced, compared = _reduction(risk, worst.overall(setting), records)
    average, status = float(risk @ records / records.sum()), _status(found.status, compared)
    return AdversarySetting(*setting, *weighted_quantiles(risk, records, QUARTILES), average, *reduced, compared, status)


def _reduction(risk: Floats, worst: Floats, records: Integers) -> tuple[Sequence[float | None], int]:
    """Quartiles of 1 − risk/worst over the records that the worst case puts at risk at all, and how many these are."""
    at_risk = worst > 0
    if not at_risk.any():
        return (None, None, None), 0
    reduced = 1 - risk[at_risk] / worst[at_risk]
    return weighted_quantiles(reduced, records[at_risk], QUARTILES), int(records[at_risk].sum())


def _status(status: str, compared: int) -> str:
    found = [*([] if status == OK else [status]), *([] if compared else [NO_REDUCTION])]
    return "; ".join(found) or OK
