"""Fit a Gaussian copula to what an engine counted.

'paper' is the model of Rocher, Hendrickx & de Montjoye 2019: mutual information corrected for chance, nominal
columns in no order. 'calibrated' is the same, with cell probabilities multiplied by a factor by which the
sample's own records repeat as often as they do. 'sharp' puts the values of nominal columns in an order from
the data, takes the likeliest correlation of each pair, and is calibrated where there are no weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.models.classes.repeats import STATUS_FEWER_REPEATS, STATUS_NO_REPEATS, is_below_chance
from reid_sql.models.classes.uniqueness import correctness_from_probability
from reid_sql.models.copula.calibration import calibrate
from reid_sql.models.copula.gaussian_copula import GaussianCopula, draw_cells
from reid_sql.models.copula.marginals import Marginal, fit_marginal, marginal_from_shares
from reid_sql.models.evidence import CLASS_SIZE, PAIR, EvidenceRows
from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import join_status, refuse_one_record
from reid_sql.models.numerics import special_functions
from reid_sql.models.numerics.rectangle import Precision, nearest_correlation
from reid_sql.models.numerics.special_functions import gammaln, ndtr, ndtri, xlogy
from reid_sql.parameters import Floats, Integers, order_by_name

# How strongly two columns go together: mutual information beyond chance, and as a correlation.
# It is corrected for chance; the correlation is that of normal variables which have as much of it. Source:
# Rocher, Hendrickx & de Montjoye 2019, eq. 8 and 10; Vinh, Epps & Bailey 2010 (expected mutual
# information). Information is in nats.

MAX_CORRELATION: Final = 0.999  # correlation of two columns that determine each other
TERMS_PER_BLOCK: Final = 1 << 20  # of the hypergeometric sums that are worked on together
MAX_HYPERGEOMETRIC_SIGMAS: Final = 12  # standard deviations of a hypergeometric count that matter
NODES, WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(8))
MAX_INTERVALS: Final = 192  # beyond, neighbouring intervals are taken together


def entropy(counts: Floats) -> float:
    """Entropy of the shares of these counts.

    >>> round(entropy(np.array([1.0, 1.0])), 4)
    0.6931
    """
    counts = np.sort(counts)  # the same digits whatever order an engine counts in
    total = counts.sum()
    return float(np.log(total) - xlogy(counts, counts).sum() / total)


def adjusted_information(first: Floats, second: Floats, cells: Floats) -> float:
    """Mutual information of two columns beyond chance, scaled so that full dependence stays whole.

    `first` and `second` are the counts of the columns' values, `cells` those of the pairs. Equation 10, times
    the larger entropy; below 0 where the columns share less than chance would have them share.

    >>> round(adjusted_information(np.array([50.0, 50.0]), np.array([50.0, 50.0]), np.array([50.0, 50.0])), 4)
    0.6931
    """
    larger = max(entropy(first), entropy(second))
    chance = expected_information(first, second)
    if larger - chance <= 0:
        return 0.0
    return (entropy(first) + entropy(second) - entropy(cells) - chance) / (larger - chance) * larger


def expected_information(first: Floats, second: Floats) -> float:
    """Mutual information to expect of columns with these counts if their values were shuffled, exactly.

    >>> round(expected_information(np.array([1.0, 1.0]), np.array([1.0, 1.0])), 4)
    0.6931
    """
    rows, columns = _tally(first), _tally(second)
    total = round(float(first.sum()))
    a, b = (grid.ravel() for grid in np.meshgrid(rows[0], columns[0], indexing="ij"))
    times = np.outer(rows[1], columns[1]).ravel()
    mean = a * b / total
    spread = MAX_HYPERGEOMETRIC_SIGMAS * np.sqrt(mean) + MAX_HYPERGEOMETRIC_SIGMAS
    low = np.maximum(np.maximum(1, a + b - total), np.floor(mean - spread))
    high = np.minimum(np.minimum(a, b), np.ceil(mean + spread))
    terms = np.maximum(high - low + 1, 0).astype(np.int64)
    information, start = 0.0, 0
    while start < len(a):  # as many pairs of counts at a time as fit
        stop = start + max(
            1, int(np.searchsorted(np.cumsum(terms[start:]), TERMS_PER_BLOCK, side="right"))
        )
        some = slice(start, stop)
        information += _sum_shared((a[some], b[some]), low[some], terms[some], times[some], total)
        start = stop
    return information


def _tally(counts: Floats) -> tuple[Floats, Floats]:
    """Distinct counts, and how many values have each; fractions of weights are rounded."""
    counts_once, times = np.unique(np.maximum(1, np.round(counts)), return_counts=True)
    return counts_once, times.astype(np.float64)


def _sum_shared(
    counts: tuple[Floats, Floats], low: Floats, terms: Integers, times: Floats, total: int
) -> float:
    """Sum of n/N log(N n/(a b)) over the chances of n common records of values with a and b records."""
    which = np.repeat(np.arange(len(terms)), terms)
    first = np.repeat(np.cumsum(terms) - terms, terms)
    n = low[which] + np.arange(len(which)) - first
    a, b = (count[which] for count in counts)
    margins = (
        gammaln(a + 1)
        + gammaln(b + 1)
        + gammaln(total - a + 1)
        + gammaln(total - b + 1)
        - gammaln(total + 1)
    )
    rest = total - a - b + n
    valid = rest >= 0
    inner = (
        gammaln(n + 1) + gammaln(a - n + 1) + gammaln(b - n + 1) + gammaln(np.maximum(rest, 0) + 1)
    )
    chance = np.where(valid, np.exp(margins - inner), 0.0)
    return float((times[which] * chance * n / total * np.log(total * n / (a * b))).sum())


def normal_information(first: Floats, second: Floats, correlation: float) -> float:
    """Mutual information of two normal variables of this correlation, cut into intervals of these shares.

    >>> shares = np.full(64, 1 / 64)
    >>> round(normal_information(shares, shares, 0.5), 3), round(-0.5 * np.log(0.75), 3)
    (0.143, np.float64(0.144))
    """
    first, second = _join_intervals(first), _join_intervals(second)
    cells = normal_table(first, second, correlation)
    independent = np.outer(first, second)
    return float(xlogy(cells, np.maximum(cells, 1e-300) / independent).sum())


def normal_table(first: Floats, second: Floats, correlation: float) -> Floats:
    """Probability of each pair of intervals of these shares, for normal variables of this correlation."""
    checkpoint()
    start = np.cumsum(first) - first
    nodes = ndtri(
        np.clip(start[:, None] + first[:, None] * (NODES + 0.5), 1e-15, 1 - 1e-15)
    )  # (first, nodes)
    ends = ndtri(np.clip(np.cumsum(second)[:-1], 1e-15, 1 - 1e-15))
    below = ndtr((ends - correlation * nodes[:, :, None]) / np.sqrt(1 - correlation**2))
    summed = np.einsum("k,ikj->ij", WEIGHTS, below)
    table: Floats = np.diff(summed, axis=1, prepend=0, append=1) * first[:, None]
    return table


def _join_intervals(shares: Floats) -> Floats:
    """Take neighbouring intervals together where there are too many to distinguish in the copula."""
    if len(shares) <= MAX_INTERVALS:
        return np.asarray(shares / shares.sum())
    ends = np.cumsum(shares) / shares.sum()
    group = np.minimum((ends * MAX_INTERVALS).astype(np.int64), MAX_INTERVALS - 1)
    joined: Floats = np.bincount(group, shares, MAX_INTERVALS) / shares.sum()
    return joined[joined > 0]


def matching_correlation(pairs: Sequence[tuple[Floats, Floats]], information: float) -> float:
    """Correlation, from 0 to below 1, at which normal variables have this mutual information (equation 8).

    `pairs` are the shares of the two columns' values in one or more orders; their mean information is
    matched.

    >>> halves = np.array([0.5, 0.5])
    >>> round(matching_correlation([(halves, halves)], normal_information(halves, halves, 0.6)), 4)
    0.6
    """

    def excess(correlation: float) -> float:
        return (
            float(np.mean([normal_information(*pair, correlation) for pair in pairs])) - information
        )

    if information <= 0:
        return 0.0
    if excess(MAX_CORRELATION) <= 0:
        return MAX_CORRELATION
    return special_functions.find_root(excess, 0.0, MAX_CORRELATION, xtol=1e-5)


# An order from the data for columns that have none: values that go with the same values lie together.
# The same values are those of the other columns. Source: reciprocal averaging, the first axis of multiple
# correspondence analysis (Hirschfeld 1935; Greenacre 2017); the correlation of ordered categories by
# maximum likelihood (Olsson 1979).

MAX_ROUNDS: Final = 60
MAX_PAIR_CORRELATION: Final = 0.99
MIN_PROBABILITY: Final = 1e-12
PairTables = Mapping[tuple[int, int], tuple[Integers, Integers, Floats]]


def order_categories(
    shares: Sequence[Floats], pairs: PairTables, fixed: Sequence[bool]
) -> list[Integers]:
    """Places of each column's values in order; `fixed` columns retain theirs, and order the others.

    `pairs` are, for two columns by number, the codes of the pairs of values that occur, and their numbers of
    records.
    """
    rng = np.random.default_rng(0)
    scores = [
        np.arange(float(len(p))) if is_fixed else rng.normal(size=len(p))
        for p, is_fixed in zip(shares, fixed, strict=True)
    ]
    scores = [
        _standardize(column_scores, p) for column_scores, p in zip(scores, shares, strict=True)
    ]
    for _ in range(MAX_ROUNDS):
        scores = [
            column_scores if fixed[c] else _pull_scores(c, scores, shares, pairs)
            for c, column_scores in enumerate(scores)
        ]
    return [
        np.arange(len(column_scores)) if is_fixed else np.argsort(column_scores, kind="stable")
        for column_scores, is_fixed in zip(scores, fixed, strict=True)
    ]


def _pull_scores(
    column: int, scores: Sequence[Floats], shares: Sequence[Floats], pairs: PairTables
) -> Floats:
    """Scores of a column's values from those they go with, each column by how well it agrees."""
    checkpoint()
    pulled = scores[column].copy()
    count = len(pulled)
    for (one, other), (first, second, weight) in pairs.items():
        if column not in (one, other):
            continue
        codes, partner_codes, scored = (
            (first, second, scores[other]) if column == one else (second, first, scores[one])
        )
        column_weight = np.maximum(np.bincount(codes, weight, count), MIN_PROBABILITY)
        mean = np.bincount(codes, weight * scored[partner_codes], count) / column_weight
        pulled += mean * float((shares[column] * mean) @ scores[column])
    return _standardize(pulled, shares[column])


def _standardize(scores: Floats, shares: Floats) -> Floats:
    centred: Floats = scores - scores @ shares
    spread = float(np.sqrt(centred**2 @ shares))
    return centred / spread if spread > 0 else centred


def fit_pair_correlation(
    first: Floats, second: Floats, pairs: tuple[Integers, Integers, Floats]
) -> float:
    """Correlation under which the table of two ordered columns, of these shares, is likeliest.

    >>> halves = np.array([0.5, 0.5])
    >>> table = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([2.0, 1, 1, 2])
    >>> round(fit_pair_correlation(halves, halves, table), 2)
    0.5
    """
    one, other, weight = pairs

    def unlikely(correlation: float) -> float:
        table = np.maximum(normal_table(first, second, correlation), MIN_PROBABILITY)
        return -float(xlogy(weight, table[one, other]).sum())

    return special_functions.minimize(
        unlikely, -MAX_PAIR_CORRELATION, MAX_PAIR_CORRELATION, xatol=1e-4
    )


POINTS_OF_REPEATS: Final = 128  # of the integration of a record, when repeats are expected
RECORDS_OF_REPEATS: Final = 64  # drawn in each order of the nominal columns
# random orders of nominal columns over which a pair's information is averaged
AVERAGED_ORDERS: Final = 3
# of a column, for method 'sharp', whose tables are as large as the product
MAX_VALUES: Final = 2000


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
    names = tuple(name for name, _ in rows.columns())
    for name in ordered:
        if name not in names:
            raise UnknownNameError(
                f"ordered must name columns of the model, got '{name}'; {suggestion(name, names)}"
            )
    order = order_by_name(names)  # in which random numbers are drawn and sums are taken
    model = _fit_in_order(rows.reorder(order), ordered, method, seed)
    return model.select(np.argsort(order).tolist())


def _fit_in_order(
    rows: EvidenceRows, ordered: Sequence[str], method: str, seed: int
) -> GaussianCopula:
    columns = rows.columns()
    total = int(rows.records[columns[0][1]].sum())
    refuse_one_record(total)
    weight = rows.scale_weights(columns[0][1])
    names = tuple(name for name, _ in columns)
    marginals = _fit_marginals(rows, weight, ordered)
    model = GaussianCopula(names, marginals, np.eye(len(names)), total, method, seed)
    if method == "calibrated" and rows.is_weighted:
        raise OutOfDomainError(
            "method 'calibrated' must have records that count the same each, got weights; use method 'paper' or 'sharp', or leave the weights out"
        )
    if method == "sharp":
        model = _sharpen(model, _pair_tables(model, rows, weight))
    else:
        counts = [weight[lines] for _, lines in columns]
        model = replace(model, correlation=_match_correlations(model, rows, weight, counts))
    if method == "calibrated" or (method == "sharp" and not rows.is_weighted):
        # let records repeat as often as in the sample
        precision = Precision(256, 256, absolute_error=1 / total, seed=seed)
        cells = np.concatenate([cell.probability for cell in draw_cells(model, precision)])
        factor = calibrate(cells, total, rows.unique_records)
        model = replace(model, calibration=factor.factor, status=factor.status)
    return _find_doubts(model, rows)


def _match_correlations(
    model: GaussianCopula, rows: EvidenceRows, weight: Floats, counts: Sequence[Floats]
) -> Floats:
    """Correlations of equal information; nominal columns are put in a few random orders for each pair."""
    marginals, rng = model.marginals, np.random.default_rng(model.seed)
    matrix = np.eye(len(marginals))
    pairs = list(combinations(range(len(marginals)), 2))
    for place, (one, other) in enumerate(pairs):
        checkpoint(place / len(pairs))
        cells = weight[rows.select(PAIR, one + 1, other + 1)]
        information = adjusted_information(counts[one], counts[other], cells)
        both = marginals[one], marginals[other]
        times = 1 if all(m.ordered for m in both) else AVERAGED_ORDERS
        orders = [
            [m.shares if m.ordered else rng.permutation(m.shares) for m in both]
            for _ in range(times)
        ]
        shares = [(first, second) for first, second in orders]
        matrix[one, other] = matrix[other, one] = matching_correlation(shares, information)
    return nearest_correlation(matrix)


def _find_doubts(model: GaussianCopula, rows: EvidenceRows) -> GaussianCopula:
    """Compare the records that repeat with those that the copula expects, unless records have weights."""
    sizes = rows.select(CLASS_SIZE)
    if rows.is_weighted or not len(sizes):
        return model
    classes = float((rows.records[sizes] / rows.class_size[sizes]).sum())
    precision = Precision(POINTS_OF_REPEATS, POINTS_OF_REPEATS, absolute_error=1 / model.records)
    drawn = draw_cells(replace(model, seed=0), precision, each=RECORDS_OF_REPEATS)
    q = np.minimum(np.concatenate([cells.probability for cells in drawn]), 1.0)
    alone = float(correctness_from_probability(q, model.records).mean())
    doubts = [STATUS_FEWER_REPEATS] * is_below_chance(
        model.records - classes, model.records * (1 - alone)
    )
    doubts += [STATUS_NO_REPEATS] * (classes == model.records)
    return replace(model, status=join_status(model.status, *doubts))


def _fit_marginals(
    rows: EvidenceRows, weight: Floats, ordered: Sequence[str]
) -> tuple[Marginal, ...]:
    """The distribution of each column's values: those of the sample, or the shares from outside."""
    checkpoint()
    columns = rows.columns()
    outside = rows.marginal_shares([name for name, _ in columns])
    fitted = []
    for place, (name, lines) in enumerate(columns):
        values, is_ordered = [rows.first_value[row] for row in lines.tolist()], name in ordered
        if place in outside:
            listed, shares = zip(*outside[place], strict=True)
            fitted.append(marginal_from_shares(listed, shares, ordered=is_ordered, seen=values))
        else:
            fitted.append(fit_marginal(values, weight[lines].tolist(), ordered=is_ordered))
    return tuple(fitted)


def _pair_tables(model: GaussianCopula, rows: EvidenceRows, weight: Floats) -> PairTables:
    """Codes of the pairs of values of every two columns, with their weights."""
    large = [
        name
        for name, m in zip(model.columns, model.marginals, strict=True)
        if len(m.values) > MAX_VALUES
    ]
    if large:
        raise OutOfDomainError(
            f"columns of method 'sharp' must have at most {MAX_VALUES} values, got more in '{large[0]}'; use method 'paper', or coarsen the column"
        )
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
            m,
            values=tuple(m.values[place] for place in order.tolist()),
            shares=m.shares[order],
            ordered=True,
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
