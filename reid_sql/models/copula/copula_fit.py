"""Fit a Gaussian copula to what an engine counted.

'paper' is the model of Rocher, Hendrickx & de Montjoye 2019: mutual information corrected for chance, nominal
columns in no order. 'calibrated' is the same, with cell probabilities multiplied by a factor by which the
sample's own records repeat as often as they do. 'sharp' puts the values of nominal columns in an order from
the data, takes the likeliest correlation of each pair, and is calibrated where there are no weights.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.interruption import checkpoint
from reid_sql.models.copula.association import (
    PairTables,
    adjusted_information,
    fit_pair_correlation,
    matching_correlation,
    order_categories,
)
from reid_sql.models.copula.calibration import calibrate
from reid_sql.models.copula.gaussian_copula import GaussianCopula, draw_cells
from reid_sql.models.copula.marginals import Marginal, fit_marginal, given_marginal
from reid_sql.models.evidence import PAIR, EvidenceRows
from reid_sql.models.marginals.column import refuse_one_record
from reid_sql.models.numerics.rectangle import Precision, nearest_correlation
from reid_sql.parameters import Floats
from reid_sql.suggestion import suggestion

AVERAGED_ORDERS: Final = 3  # random orders of nominal columns over which a pair's information is averaged
MAX_VALUES: Final = 2000  # of a column, for method 'sharp', whose tables are as large as the product


def fit_copula(
    rows: EvidenceRows, ordered: Sequence[str] = (), method: str = "paper", seed: int = 0
) -> GaussianCopula:
    """Fit the model to counted values and pairs; `ordered` names the columns whose values have an order.

    Refuses an empty table, names that are no columns and weights that are missing or below zero.

    >>> from reid_sql.models.evidence import rows_from_columns
    >>> sexes = rows_from_columns({"sex": ["F"] * 60 + ["M"] * 40})
    >>> fit_copula(sexes).cell_probability([["M"]]).probability
    array([0.4])
    """
    columns = rows.columns()
    total = int(rows.records[columns[0][1]].sum())
    refuse_one_record(total)
    weight = rows.scaled_weights(columns[0][1])
    names = tuple(name for name, _ in columns)
    for name in ordered:
        if name not in names:
            raise UnknownNameError(
                f"ordered must name columns of the model, got '{name}'; {suggestion(name, names)}"
            )
    marginals = _fit_marginals(rows, weight, ordered)
    model = GaussianCopula(names, marginals, np.eye(len(names)), total, method, seed)
    if method == "calibrated" and rows.is_weighted:
        rule = "method 'calibrated' must have records that count the same each"
        raise OutOfDomainError(
            f"{rule}, got weights; use method 'paper' or 'sharp', or leave the weights out"
        )
    if method == "sharp":
        model = _sharpen(model, _pair_tables(model, rows, weight))
        return model if rows.is_weighted else _calibrate_model(model, rows.unique_records)
    matrix, rng = np.eye(len(names)), np.random.default_rng(seed)
    pairs = list(combinations(range(len(names)), 2))
    for place, (one, other) in enumerate(pairs):
        checkpoint(place / len(pairs))
        cells = weight[rows.select(PAIR, one + 1, other + 1)]
        information = adjusted_information(weight[columns[one][1]], weight[columns[other][1]], cells)
        shares = _random_orders(marginals[one], marginals[other], rng)
        matrix[one, other] = matrix[other, one] = matching_correlation(shares, information)
    model = replace(model, correlation=nearest_correlation(matrix))
    return _calibrate_model(model, rows.unique_records) if method == "calibrated" else model


def _calibrate_model(model: GaussianCopula, unique_records: int) -> GaussianCopula:
    """Let records repeat as often as in the sample."""
    precision = Precision(256, 256, absolute_error=1 / model.records, seed=model.seed)
    cells = np.concatenate([cell.probability for cell in draw_cells(model, precision)])
    factor = calibrate(cells, model.records, unique_records)
    return replace(model, calibration=factor.factor, status=factor.status)


def _fit_marginals(rows: EvidenceRows, weight: Floats, ordered: Sequence[str]) -> tuple[Marginal, ...]:
    """The distribution of each column's values: those of the sample, or the shares from outside."""
    checkpoint()
    columns = rows.columns()
    outside = rows.marginal_shares([name for name, _ in columns])
    fitted = []
    for place, (name, own) in enumerate(columns):
        values, is_ordered = [rows.first_value[row] for row in own.tolist()], name in ordered
        if place in outside:
            known, shares = zip(*outside[place], strict=True)
            fitted.append(given_marginal(known, shares, ordered=is_ordered, seen=values))
        else:
            fitted.append(fit_marginal(values, weight[own].tolist(), ordered=is_ordered))
    return tuple(fitted)


def _random_orders(one: Marginal, other: Marginal, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Shares of two columns, nominal ones in a few random orders."""
    if one.ordered and other.ordered:
        return [(one.shares, other.shares)]
    ordered_shares = [
        [m.shares if m.ordered else rng.permutation(m.shares) for m in (one, other)]
        for _ in range(AVERAGED_ORDERS)
    ]
    return [(first, second) for first, second in ordered_shares]


def _pair_tables(model: GaussianCopula, rows: EvidenceRows, weight: Floats) -> PairTables:
    """Codes of the pairs of values of every two columns, with their weights."""
    large = [
        name for name, m in zip(model.columns, model.marginals, strict=True) if len(m.values) > MAX_VALUES
    ]
    if large:
        rule = f"columns of method 'sharp' must have at most {MAX_VALUES} values, got more in '{large[0]}'"
        raise OutOfDomainError(f"{rule}; use method 'paper', or coarsen the column")
    by_pair = {}
    for one, other in combinations(range(len(model.columns)), 2):
        lines = rows.select(PAIR, one + 1, other + 1).tolist()
        codes = [
            model.column_codes(column, [values[line] for line in lines])
            for column, values in ((one, rows.first_value), (other, rows.second_value))
        ]
        order = np.lexsort(codes)  # the same digits whatever order an engine counts in
        by_pair[one, other] = codes[0][order], codes[1][order], weight[lines][order]
    return by_pair


def _sharpen(model: GaussianCopula, tables: PairTables) -> GaussianCopula:
    """Order the values of nominal columns by the data, and take each pair's likeliest correlation."""
    orders = order_categories(
        [m.shares for m in model.marginals], tables, [m.ordered for m in model.marginals]
    )
    marginals = tuple(
        replace(
            m, values=tuple(m.values[place] for place in order.tolist()), shares=m.shares[order], ordered=True
        )
        for m, order in zip(model.marginals, orders, strict=True)
    )
    places = [np.argsort(order) for order in orders]
    matrix = np.eye(len(marginals))
    for (one, other), (first, second, weight) in tables.items():
        placed = places[one][first], places[other][second], weight
        correlation = fit_pair_correlation(marginals[one].shares, marginals[other].shares, placed)
        matrix[one, other] = matrix[other, one] = correlation
    return replace(model, marginals=marginals, correlation=nearest_correlation(matrix))
