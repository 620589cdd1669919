"""What each record contributes to the extreme risk, exactly, and how well cheap proxies agree with that."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, isqrt, prod
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.class_keys import require_memory, run_for_each
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.quasi_identifiers import Codes, Integers, QuasiIdentifiers
from reid_sql.models.extreme.extreme_risk import (
    Fits,
    Level,
    explain_missing_fit,
    fit_tail,
    none_if_nan,
    select_highest,
)
from reid_sql.models.extreme.removal import count_uniqueness, risk_without
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Flags, Floats

# How spread a record's places in its quasi-identifiers' joint distributions are (ordinal columns).

CELL_BYTES: Final = 32  # a cell of a grid of counts: its running sums, and a second thread's
BIN_BYTES: Final = 4
STATUS_NOT_ORDINAL: Final = (
    "no_order: '{}' has no order, so pass columns of numbers, dates or ordered categories"
)
STATUS_HAS_NULL: Final = (
    "null_order: '{}' contains NULL, which has no order, so pass nulls := 'drop'"
)
STATUS_TOO_MANY_CELLS: Final = "too_many_cells: entropy needs {} cells, too many for memory_limit"


def explain_unordered(table: Codes) -> str:
    """Say which column has no order, the first by name; nothing where all have.

    >>> explain_unordered(Codes(["zip"], [False], [np.array([1])], np.arange(1)))
    "no_order: 'zip' has no order, so pass columns of numbers, dates or ordered categories"
    """
    columns = zip(table.names, table.ordinal, table.codes, strict=True)
    for column, ordinal, codes in sorted(columns, key=lambda each: each[0]):
        if not ordinal:
            return STATUS_NOT_ORDINAL.format(column)
        if not codes.all():
            return STATUS_HAS_NULL.format(column)
    return ""


def explain_too_many_cells(chosen: QuasiIdentifiers) -> str:
    """Say whether some joint distribution has more cells than there is memory for; nothing where none has."""
    cells = prod(sorted(_count_levels(chosen.table))[-chosen.places.shape[1] :])
    return (
        STATUS_TOO_MANY_CELLS.format(cells)
        if cells * CELL_BYTES > chosen.table.memory_limit
        else ""
    )


def _count_levels(table: Codes) -> list[int]:
    return [int(codes.max()) for codes in table.codes]


def record_entropies(chosen: QuasiIdentifiers) -> Floats:
    """Give each record's entropy E = −Σ p ln p over √N_p equal intervals of its places H(i, j).

    √N_p is rounded down. H(i, j) is the share of records whose joint ecdf F(·, j) is at most that of record
    i. Béra et al. 2023, section 3.4.

    >>> from reid_sql.models.classes.quasi_identifiers import choose_quasi_identifiers
    >>> columns = [np.array([1, 2]), np.array([2, 1]), np.array([1, 1]), np.array([1, 2])]
    >>> table = Codes(list("abcd"), [True] * 4, columns, np.arange(2))
    >>> record_entropies(choose_quasi_identifiers(table, 1)).round(4).tolist()
    [0.6931, 0.5623]
    """
    bins, records = isqrt(len(chosen)), chosen.records
    require_memory(
        records * bins * BIN_BYTES, chosen.table.memory_limit, f"the entropy of {records} records"
    )
    entropies = np.zeros((records, bins), dtype=np.uint32)
    rows, levels, lock = np.arange(records), _count_levels(chosen.table), threading.Lock()

    def count(number: int) -> None:
        checkpoint()
        places = chosen.places[number].tolist()
        shape = [levels[place] for place in places]
        cells = np.ravel_multi_index([chosen.table.codes[place] - 1 for place in places], shape)
        below = np.bincount(cells, minlength=prod(shape)).reshape(shape)
        for axis in range(len(shape)):
            below.cumsum(axis=axis, out=below)
        ecdf = below.ravel()[cells]
        # of each record: how many have a joint ecdf of at most its own
        ranks = np.bincount(ecdf, minlength=records + 1).cumsum()[ecdf]
        with lock:
            entropies[rows, (ranks * bins - 1) // records] += 1

    run_for_each(count, range(len(chosen)), records)
    shares = entropies / len(chosen)
    with np.errstate(divide="ignore", invalid="ignore"):
        answer: Floats = -np.where(entropies > 0, shares * np.log(shares), 0.0).sum(axis=1)
    return np.abs(answer)


# Partial least squares regression of one response, by its factors.


def predict_by_partial_least_squares(
    columns: Sequence[npt.ArrayLike], response: npt.ArrayLike, factors: int = 3
) -> Floats:
    """Give the response as the factors of the standardised columns foresee it (PLS1, NIPALS).

    Each factor is the direction of the columns' covariance with what is left of the response.

    >>> x = np.arange(5)
    >>> predict_by_partial_least_squares([x, x * x], 2 * x + 3, 2).round(6).tolist()
    [3.0, 5.0, 7.0, 9.0, 11.0]
    """
    left = np.stack(
        [_standardize(np.asarray(column, dtype=np.float64)) for column in columns], axis=1
    )  # (records, columns)
    y = np.asarray(response, dtype=np.float64)
    answer = np.full(len(y), y.mean())
    rest = y - y.mean()
    for _ in range(min(factors, left.shape[1])):
        weights = left.T @ rest
        scores = left @ weights
        power = scores @ scores
        if power <= np.finfo(np.float64).tiny:
            break
        answer += scores * (scores @ rest) / power
        rest = rest - scores * (scores @ rest) / power
        left = left - np.outer(scores, scores @ left) / power
    return answer


def _standardize(column: Floats) -> Floats:
    spread = column.std()
    centred: Floats = column - column.mean()
    return centred / spread if spread > 0 else centred


# Proxies of a record's contribution if the columns are ordered: entropy, and a regression.
# The regression is on the columns.

PLS_FACTORS: Final = 3


@dataclass(frozen=True)
class OrderProxies:
    """Entropy, and the chance of a positive contribution by partial least squares.

    Either is None if the remarks give a reason.
    """

    entropy: Floats | None  # (records,)
    pls: Floats | None  # (records,)
    remarks: list[str]


def compute_order_proxies(chosen: QuasiIdentifiers, contribution: Floats) -> OrderProxies:
    """Give both proxies, or the reason why not: all columns must be ordinal and without NULL.

    >>> import numpy as np
    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> zips = Codes(["zip"], [False], [np.array([1])], np.arange(1))
    >>> compute_order_proxies(choose_quasi_identifiers(zips, 1), np.zeros(1)).remarks[0][:30]
    "no_order: 'zip' has no order, "
    """
    disorder = explain_unordered(chosen.table)
    if disorder:
        return OrderProxies(None, None, [disorder])
    width = explain_too_many_cells(chosen)
    remarks = [width] if width else []
    predicted = predict_by_partial_least_squares(chosen.table.codes, contribution > 0, PLS_FACTORS)
    return OrderProxies(None if width else record_entropies(chosen), predicted, remarks)


# What each record contributes to the extreme risk of its table, exactly.

STATUS_NO_FIT_WITHOUT: Final = (
    "no_fit_without: contribution is not available, since without the record there is no fit"
)


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

    Its uniqueness are the number of quasi-identifiers and both sums.
    """

    whole: Fits  # (1,)
    contribution: Floats  # (records,)
    unique: Integers  # (records,)
    u_star: Floats  # (records,)
    u_plus: Floats  # (records,)


def measure_contributions(chosen: QuasiIdentifiers, level: Level) -> Contributions:
    """Give every record's exact contribution DT(i) = T − T(without i), U* = Σ U(1 − θ) and U⁺ = Σ U θ.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> answer = measure_contributions(choose_quasi_identifiers(table, 3), Level(0.1, 0.5))
    >>> round(float(answer.contribution.max()), 4)
    0.0052
    """
    counted = count_uniqueness(chosen)
    whole = fit_tail(
        select_highest(counted.distinct, level)[None], chosen.records, len(chosen), level
    )
    contribution = np.zeros(chosen.records)
    if not whole.certain[
        0
    ]:  # else every record is unique for that quasi-identifier, with or without any other
        contribution = whole.risk[0] - risk_without(chosen, counted.distinct, level)
    u_plus = counted.weighted / chosen.records
    u_star = (counted.unique * chosen.records - counted.weighted) / chosen.records
    return Contributions(whole, contribution, counted.unique, u_star, u_plus)


def list_contributions(chosen: QuasiIdentifiers, level: Level) -> list[Contribution]:
    """Give the contributions record by record, in the order of the table."""
    contributions = measure_contributions(chosen, level)
    proxies = compute_order_proxies(chosen, contributions.contribution)
    none = [None] * chosen.records
    whole = explain_missing_fit(contributions.whole)
    remarks = [*whole, *proxies.remarks, *chosen.remark]
    without = "; ".join(remarks if whole else [STATUS_NO_FIT_WITHOUT, *remarks])
    columns = zip(
        contributions.contribution.tolist(),
        contributions.unique.tolist(),
        contributions.u_star.tolist(),
        contributions.u_plus.tolist(),
        none if proxies.entropy is None else proxies.entropy.tolist(),
        none if proxies.pls is None else proxies.pls.tolist(),
        strict=True,
    )
    status = "; ".join(remarks) or OK
    return [
        Contribution(
            i,
            none_if_nan(value),
            unique,
            star,
            plus,
            ordered,
            predicted,
            without if isnan(value) else status,
        )
        for i, (value, unique, star, plus, ordered, predicted) in enumerate(columns)
    ]


# How well the cheap proxies agree with the exact contributions.

STATUS_CONSTANT: Final = "constant: not available, since all records have the same value"
STATUS_NO_CONTRIBUTION: Final = "no_contribution: no contribution can be computed"


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


def compare_proxies(chosen: QuasiIdentifiers, level: Level) -> list[ProxyAgreement]:
    """Compare u_plus, u_star, entropy and pls with the contributions, over the records that have one.

    >>> from reid_sql.models.classes.quasi_identifiers import Codes, choose_quasi_identifiers
    >>> draw = np.random.default_rng(0)
    >>> table = Codes(list("abcdefg"), [True] * 7, [draw.integers(1, 6, 60) for _ in range(7)], np.arange(60))
    >>> [row.proxy for row in compare_proxies(choose_quasi_identifiers(table, 3), Level(0.1, 0.5))]
    ['u_plus', 'u_star', 'entropy', 'pls']
    """
    contributions = measure_contributions(chosen, level)
    order = compute_order_proxies(chosen, contributions.contribution)
    proxies = {
        "u_plus": contributions.u_plus,
        "u_star": contributions.u_star,
        "entropy": order.entropy,
        "pls": order.pls,
    }
    missing = "; ".join(explain_missing_fit(contributions.whole) or order.remarks)
    return [
        _compare_proxy(name, proxy, contributions.contribution, missing)
        for name, proxy in proxies.items()
    ]


def _compare_proxy(
    name: str, proxy: Floats | None, contribution: Floats, missing: str
) -> ProxyAgreement:
    has_contribution = ~np.isnan(contribution)
    if proxy is None or not has_contribution.any():
        return ProxyAgreement(name, None, None, None, missing or STATUS_NO_CONTRIBUTION)
    x, y = proxy[has_contribution], contribution[has_contribution]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return ProxyAgreement(name, None, None, None, STATUS_CONSTANT)
    from scipy.stats import kendalltau  # noqa: PLC0415 - it takes long to import, and nothing else needs it

    return ProxyAgreement(
        name, float(np.corrcoef(x, y)[0, 1]), float(kendalltau(x, y).statistic), _auc(x, y > 0), OK
    )


def _auc(score: Floats, positive: Flags) -> float | None:
    """Chance that a positive, drawn at random, scores above one of the others; ties count a half."""
    ones = int(positive.sum())
    zeros = len(score) - ones
    if not ones or not zeros:
        return None
    from scipy.stats import rankdata  # noqa: PLC0415 - as above

    return float((rankdata(score)[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))
