"""How well what is quick to compute stands for the exact contributions."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.extreme.extreme_risk import Level
from reid_sql.models.extreme.extreme_risk_estimate import no_fit
from reid_sql.models.extreme.quasi_identifiers import QuasiIdentifiers
from reid_sql.models.extreme.record_contributions import contributions
from reid_sql.models.extreme.record_order import by_order
from reid_sql.parameters import Floats

CONSTANT: Final = "not available: all records have the same value"
NO_CONTRIBUTION: Final = "not available: no contribution can be computed"


@dataclass(frozen=True)
class ProxyAgreement:
    """Correlations of a proxy with the contributions, and its chance to rank a raising record first.

    A raising record is one that raises the risk; it is ranked above another.
    """

    proxy: str
    pearson: float | None
    kendall: float | None
    auc: float | None
    status: str


def agreements(chosen: QuasiIdentifiers, level: Level, memory_mb: int = 1024) -> list[ProxyAgreement]:
    """Compare u_plus, u_star, entropy and pls with the contributions, over the records that have one.

    >>> from reid_sql.models.extreme.quasi_identifiers import Codes, choose
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> [row.proxy for row in agreements(choose(table, 3), Level(0.1, 0.5))]
    ['u_plus', 'u_star', 'entropy', 'pls']
    """
    found = contributions(chosen, level, memory_mb)
    order = by_order(chosen, found.contribution, memory_mb)
    proxies = {"u_plus": found.u_plus, "u_star": found.u_star, "entropy": order.entropy, "pls": order.pls}
    missing = "; ".join(no_fit(found.whole) or order.remarks)
    return [_agreement(name, proxy, found.contribution, missing) for name, proxy in proxies.items()]


def _agreement(name: str, proxy: Floats | None, contribution: Floats, missing: str) -> ProxyAgreement:
    known = ~np.isnan(contribution)
    if proxy is None or not known.any():
        return ProxyAgreement(name, None, None, None, missing or NO_CONTRIBUTION)
    x, y = proxy[known], contribution[known]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return ProxyAgreement(name, None, None, None, CONSTANT)
    from scipy.stats import kendalltau  # noqa: PLC0415 - it takes long to import, and nothing else needs it

    return ProxyAgreement(
        name, float(np.corrcoef(x, y)[0, 1]), float(kendalltau(x, y).statistic), _auc(x, y > 0), OK
    )


def _auc(score: Floats, positive: npt.NDArray[np.bool_]) -> float | None:
    """Chance that a positive, drawn at random, scores above one of the others; ties count a half."""
    ones = int(positive.sum())
    others = len(score) - ones
    if not ones or not others:
        return None
    from scipy.stats import rankdata  # noqa: PLC0415 - as above

    return float((rankdata(score)[positive].sum() - ones * (ones + 1) / 2) / (ones * others))
