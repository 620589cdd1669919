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
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import NO_RECORDS, Integers
from reid_sql.models.copula.association import (
    PairTables,
    adjusted_information,
    fit_pair_correlation,
    matching_correlation,
    order_categories,
)
from reid_sql.models.copula.calibration import calibrate
from reid_sql.models.copula.gaussian_copula import GaussianCopula, PairCounts, draw_cells
from reid_sql.models.copula.marginals import Marginal, fit_marginal, given_marginal
from reid_sql.models.evidence_kinds import MARGINAL_SHARE, UNIQUE_RECORDS
from reid_sql.models.marginals.record_cells import refuse_one_record
from reid_sql.models.numerics.rectangle import Precision, nearest_correlation
from reid_sql.parameters import MAX_PEOPLE, Floats
from reid_sql.suggestion import suggestion

AVERAGED_ORDERS: Final = 3  # random orders of nominal columns over which a pair's information is averaged
MAX_VALUES: Final = 2000  # of a column, for method 'sharp', whose tables are as large as the product


def fit_copula(
    counts: PairCounts, ordered: Sequence[str] = (), method: str = "paper", seed: int = 0
) -> GaussianCopula:
    """Fit the model to counted values and pairs; `ordered` names the columns whose values have an order.

    Refuses an empty table, names that are no columns and weights that are missing or below zero.

    >>> sexes = PairCounts(np.arange(2), np.ones(2, int), np.zeros(2, int), ["sex"] * 2, ["F", "M"],
    ...                    [None] * 2, np.array([60, 40]), [60.0, 40.0])
    >>> fit_copula(sexes).cell_probability([["M"]]).probability
    array([0.4])
    """
    first, second = np.asarray(counts.first, dtype=np.int64), np.asarray(counts.second, dtype=np.int64)
    total = int(np.asarray(counts.records, dtype=np.int64)[(first == 1) & (second == 0)].sum())
    refuse_one_record(total)
    weight = _count_weights(counts.mass, (first == 1) & (second == 0), second >= 0, total)
    alone = [
        np.flatnonzero((first == column) & (second == 0)).tolist()
        for column in range(1, int(first.max()) + 1)
    ]
    names = tuple(str(counts.label[lines[0]]) for lines in alone)
    for name in ordered:
        if name not in names:
            raise UnknownNameError(
                f"ordered must name columns of the model, got '{name}'; {suggestion(name, names)}"
            )
    outside = _list_outside(counts, second, names)
    marginals = tuple(
        _column_marginal(counts, weight, lines, outside[place], ordered=names[place] in ordered)
        for place, lines in enumerate(alone)
    )
    model = GaussianCopula(names, marginals, np.eye(len(names)), total, method, seed)
    alone_in_all = np.asarray(counts.records)[second == UNIQUE_RECORDS]
    if method == "calibrated" and not len(alone_in_all):
        rule = "method 'calibrated' must have records that count the same each"
        raise OutOfDomainError(
            f"{rule}, got weights; use method 'paper' or 'sharp', or leave the weights out"
        )
    if method == "sharp":
        model = _sharpen(model, _pair_tables(model, counts, first, second, weight))
        return _calibrate_model(model, alone_in_all)
    matrix, rng = np.eye(len(names)), np.random.default_rng(seed)
    pairs = list(combinations(range(len(names)), 2))
    for place, (one, other) in enumerate(pairs):
        checkpoint(place / len(pairs))
        cells = weight[(first == one + 1) & (second == other + 1)]
        information = adjusted_information(weight[alone[one]], weight[alone[other]], cells)
        shares = _random_orders(marginals[one], marginals[other], rng)
        matrix[one, other] = matrix[other, one] = matching_correlation(shares, information)
    model = replace(model, correlation=nearest_correlation(matrix))
    return _calibrate_model(model, alone_in_all) if method == "calibrated" else model


def _calibrate_model(model: GaussianCopula, alone: Integers) -> GaussianCopula:
    """Let records repeat as often as in the sample, if it is known how many of them are alone."""
    if not len(alone):
        return model
    precision = Precision(256, 256, absolute_error=1 / model.records, seed=model.seed)
    cells = np.concatenate([cell.probability for cell in draw_cells(model, precision)])
    found = calibrate(cells, model.records, int(alone[0]))
    return replace(model, calibration=found.factor, status=found.status)


def _list_outside(counts: PairCounts, second: Integers, names: Sequence[str]) -> list[list[int]]:
    """Lines of the shares from outside, for each column."""
    checkpoint()
    lines = np.flatnonzero(second == MARGINAL_SHARE).tolist()
    for line in lines:
        if counts.first[line] == 0:
            rule = "marginals must name columns of the model in column_name"
            raise UnknownNameError(f"{rule}, got another; the columns are {', '.join(names)}")
    return [[line for line in lines if counts.first[line] == place] for place in range(1, len(names) + 1)]


def _column_marginal(
    counts: PairCounts, weight: Floats, lines: list[int], outside: list[int], *, ordered: bool
) -> Marginal:
    values = [counts.first_value[line] for line in lines]
    if not outside:
        return fit_marginal(values, weight[lines].tolist(), ordered=ordered)
    values_outside = [counts.first_value[line] for line in outside]
    return given_marginal(
        values_outside, [counts.mass[line] for line in outside], ordered=ordered, seen=values
    )


def _count_weights(
    mass: Sequence[float],
    values_of_first: npt.NDArray[np.bool_],
    counted: npt.NDArray[np.bool_],
    records: int,
) -> Floats:
    """Scale the weights so that they add up to the number of records; what was not counted weighs nothing."""
    if records == 0:
        raise NoRecordsError(NO_RECORDS)
    weight = np.where(counted, np.asarray(mass, dtype=np.float64), 0.0)
    total = float(np.sort(weight[values_of_first]).sum())
    if not np.isfinite(weight).all() or (weight < 0).any() or total == 0:
        rule = "weight must be a number of at least 0 for every record, and not 0 for all"
        raise OutOfDomainError(f"{rule}, got {total:g} altogether; mend the weight column")
    if total > MAX_PEOPLE:
        rule = f"weight must add up to at most {MAX_PEOPLE:g} people"
        raise OutOfDomainError(f"{rule}, got {total:g}; mend the weight column")
    return np.asarray(weight * (records / total))


def _random_orders(one: Marginal, other: Marginal, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Shares of two columns, nominal ones in a few random orders."""
    if one.ordered and other.ordered:
        return [(one.shares, other.shares)]
    found = [
        [m.shares if m.ordered else rng.permutation(m.shares) for m in (one, other)]
        for _ in range(AVERAGED_ORDERS)
    ]
    return [(first, second) for first, second in found]


def _pair_tables(
    model: GaussianCopula, counts: PairCounts, first: Integers, second: Integers, weight: Floats
) -> PairTables:
    """Codes of the pairs of values of every two columns, with their weights."""
    large = [
        name for name, m in zip(model.columns, model.marginals, strict=True) if len(m.values) > MAX_VALUES
    ]
    if large:
        rule = f"columns of method 'sharp' must have at most {MAX_VALUES} values, got more in '{large[0]}'"
        raise OutOfDomainError(f"{rule}; use method 'paper', or coarsen the column")
    found = {}
    for one, other in combinations(range(len(model.columns)), 2):
        lines = np.flatnonzero((first == one + 1) & (second == other + 1)).tolist()
        codes = [
            model.column_codes(column, [values[line] for line in lines])
            for column, values in ((one, counts.first_value), (other, counts.second_value))
        ]
        order = np.lexsort(codes)  # the same digits whatever order an engine counts in
        found[one, other] = codes[0][order], codes[1][order], weight[lines][order]
    return found


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
        found = fit_pair_correlation(marginals[one].shares, marginals[other].shares, placed)
        matrix[one, other] = matrix[other, one] = found
    return replace(model, marginals=marginals, correlation=nearest_correlation(matrix))
