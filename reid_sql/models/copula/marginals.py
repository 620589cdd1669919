"""The distribution of one column, and the interval of a normal variable that each value has.

Heaps are values of a scale that far more records have than their neighbours, such as an income of 0.
Smoothing spreads a heap over its neighbours: its own share becomes too small, so its records seem to repeat
beyond chance. A heap is therefore a value of its own, without a place on the scale. Candidates are values of
many more records than the values around them; which ratio makes a heap is chosen by likelihood. Source:
Heitjan & Rubin 1990 (heaping of ages and incomes); Schwarz 1978 (the price of a parameter).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

import numpy as np

from reid_sql.errors import OutOfDomainError, count_values
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import special_functions
from reid_sql.models.numerics.rectangle import MAX_SIGMAS
from reid_sql.models.numerics.special_functions import gammaln, ndtri
from reid_sql.parameters import Flags, Floats, Integers, plain

# The distribution of one column: the share of each of its values, and of a value that the sample never saw.
# Source: Rocher, Hendrickx & de Montjoye 2019, eq. 7 (categorical, negative binomial or logarithmic, by
# BIC); Good 1953 and Chao 1984 (values never seen).

CATEGORICAL: Final = "categorical"
KNOWN_SHARES: Final = "given"
FAMILIES: Final = (CATEGORICAL, KNOWN_SHARES, "negative binomial", "logarithmic")
TWICE: Final = 2
MAX_SPAN: Final = 1e6  # an ordered column of integers that are further apart stays categorical

MIN_RECORDS: Final = 3  # of a heap: fewer at one value are common on a scale of small counts
NEIGHBOURS: Final = 6  # values on each side, among which other heaps are a minority
# of a heap's records to the median of its neighbours'
MIN_RATIOS: Final = (32.0, 16.0, 8.0, 4.0, 2.5)


@dataclass(frozen=True)
class Marginal:
    """A column's values as text, in order where there is one; NULL is a value, and comes first.

    `shares` add up to 1; `unseen` is the share of one value that the sample lacks, in addition.
    """

    values: tuple[str | None, ...]
    shares: Floats  # (values,)
    unseen: float
    ordered: bool
    family: str


def fit_marginal(
    values: Sequence[str | None], counts: Sequence[float], *, ordered: bool = False
) -> Marginal:
    """Fit the column by maximum likelihood: the law of the least BIC of three.

    The laws are categorical, negative binomial and logarithmic. The last two count upwards from 0 or 1: the
    integers of an ordered column, from its least; or else the ranks of the values, most frequent first. What
    they leave for values in between and beyond goes to the values seen, in proportion. Heaps of ordered
    integers, such as an income of 0, have their own shares, each for a parameter. Weighted counts may be
    fractions; their sum is the number of records.

    >>> fit_marginal(["F", "M"], [60, 40]).shares
    array([0.6, 0.4])
    """
    weights = np.asarray(counts, dtype=np.float64)
    places = _sort_values(values, weights, ordered=ordered)
    named, weights = tuple(values[place] for place in places), weights[places]
    steps = _integer_steps(named) if ordered else np.arange(len(named))
    family, shares = CATEGORICAL, weights / weights.sum()
    if steps is not None:
        least = _bic(shares, weights, len(weights) - 1)
        for heaps in propose_heaps(steps.astype(np.float64), weights) if ordered else [weights < 0]:
            for name, fitted, parameters in _fit_beside_heaps(steps, weights, heaps):
                bic = _bic(fitted, weights, parameters)
                if bic < least:
                    # what the family leaves for others goes to the values that are no heaps
                    rest = (1 - float(fitted[heaps].sum())) / float(fitted[~heaps].sum())
                    family, least, shares = name, bic, np.where(heaps, fitted, rest * fitted)
    return Marginal(named, shares, _estimate_unseen(weights), ordered, family)


def marginal_from_shares(
    values: Sequence[str | None],
    shares: Sequence[float],
    *,
    ordered: bool = False,
    seen: Sequence[str | None] = (),
) -> Marginal:
    """Take a column's distribution from outside, such as a census: shares or counts of all its values.

    All values that there are must be among them. Values named twice are added up; a number may be spelled in
    another way than in the sample, whose values are `seen`. Refuses shares that are missing or below 0, and
    none for a value that was seen.

    >>> marginal_from_shares(["M", "F"], [49, 51], ordered=True).shares
    array([0.51, 0.49])
    """
    weights = check_shares(shares)
    totals: dict[str | None, float] = dict.fromkeys(seen, 0.0)
    spelled = {parse_number(value): value for value in totals if parse_number(value) is not None}
    for value, weight in zip(values, weights.tolist(), strict=True):
        spelling = value if value in totals else spelled.get(parse_number(value), value)
        totals[spelling] = totals.get(spelling, 0.0) + weight
    lacking = [value for value in dict.fromkeys(seen) if totals[value] == 0]
    if lacking:
        raise OutOfDomainError(
            f"marginals must have a share above 0 for each value of the sample, got none for {count_values(lacking)}; complete the table"
        )
    names, weights = list(totals), np.array(list(totals.values()))
    places = _sort_values(names, weights, ordered=ordered)
    return Marginal(
        tuple(names[p] for p in places), weights[places] / weights.sum(), 0.0, ordered, KNOWN_SHARES
    )


def check_shares(shares: Sequence[float]) -> Floats:
    """Refuse shares from outside that are missing or below 0, or that are all 0."""
    weights = np.asarray(shares, dtype=np.float64)
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise OutOfDomainError(
            f"share of the marginals must be a number of at least 0 for every value, and not 0 for all, got {plain(weights.sum())} altogether; mend the table of marginals"
        )
    return weights


def parse_number(text: str | None) -> float | None:
    """Give the number that the text spells, if it does.

    >>> parse_number("1.50"), parse_number("old")
    (1.5, None)
    """
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None


def parse_numbers(values: Sequence[str | None]) -> Floats | None:
    """Give the numbers that texts spell, all at once, NaN for None; None where one of them spells none.

    >>> parse_numbers(["1.50", None, "1e3"]), parse_numbers(["1.50", "old"])
    (array([   1.5,    nan, 1000. ]), None)
    """
    texts = [value for value in values if value is not None]
    try:
        spelled = np.array(texts, dtype=np.object_).astype(np.float64)
    except ValueError:
        return None
    if not np.isfinite(spelled).all():
        return None
    numbers = np.full(len(values), np.nan)
    numbers[[value is not None for value in values]] = spelled
    return numbers


def order_values(values: Sequence[str | None]) -> list[int]:
    """Places of distinct values in the order of their keys.

    >>> order_values(["10", "9", None]), order_values(["b", "a", "10"])
    ([2, 1, 0], [2, 1, 0])
    """
    numbers = parse_numbers(values)
    if numbers is not None:
        order = np.argsort(np.nan_to_num(numbers, nan=-np.inf), kind="stable")
        places: list[int] = order.tolist()
        # but for the text, one number in two spellings has no order
        if (np.diff(numbers[order]) != 0).all():
            return places
    keys = sort_keys(values)
    return sorted(range(len(values)), key=keys.__getitem__)


def sort_keys(values: Sequence[str | None]) -> list[tuple[int, float, str]]:
    """Keys that order the values: NULL, then numbers by size, then text; ISO dates are in order as text.

    >>> sorted(["10", "9", None], key=dict(zip(["10", "9", None], sort_keys(["10", "9", None]))).get)
    [None, '9', '10']
    """
    spelled = [parse_number(value) for value in values]
    return [
        (0, 0.0, "") if text is None else (2, 0.0, text) if number is None else (1, number, text)
        for text, number in zip(values, spelled, strict=True)
    ]


def _sort_values(values: Sequence[str | None], weights: Floats, *, ordered: bool) -> list[int]:
    """Places of the values in order; without one, most frequent first, equals by their text."""
    checkpoint()
    if ordered:
        return order_values(values)
    keys = sort_keys(values)
    return sorted(range(len(values)), key=lambda place: (-weights[place], keys[place]))


def _integer_steps(values: Sequence[str | None]) -> Integers | None:
    """Give the values as whole steps from the least one; none unless all are integers near each other."""
    spelled = [parse_number(value) for value in values]
    integers = [value for value in spelled if value is not None and value == np.floor(value)]
    if len(integers) < len(values) or integers[-1] - integers[0] > MAX_SPAN:
        return None
    return np.asarray(np.array(integers) - integers[0], dtype=np.int64)


def _bic(shares: Floats, weights: Floats, parameters: int) -> float:
    """Equation 7."""
    positive = weights > 0
    logs = np.log(np.maximum(shares[positive], np.finfo(float).tiny))
    return float(-2 * (weights[positive] @ logs) + parameters * np.log(weights.sum()))


def _fit_beside_heaps(
    steps: Integers, weights: Floats, heaps: Flags
) -> Iterator[tuple[str, Floats, int]]:
    """Each family fitted to the values that are no heaps: its name, all shares, and how many parameters.

    A heap has its own share.
    """
    rest, count = weights[~heaps], int(heaps.sum())
    share = float(rest.sum() / weights.sum())
    if not share:
        return
    places = steps[~heaps] - steps[~heaps].min()
    mean = float(rest @ places / rest.sum())
    if mean == 0:
        return
    grid = np.arange(int(places.max()) + 1)
    for name, parameters, fitted in (
        ("negative binomial", 2, _fit_negative_binomial(grid, places, rest, mean)),
        ("logarithmic", 1, _fit_logarithmic(grid, mean + 1)),
    ):
        shares = weights / weights.sum()
        shares[~heaps] = share * fitted[places]
        yield name, shares, parameters + count


def _fit_negative_binomial(grid: Integers, steps: Integers, weights: Floats, mean: float) -> Floats:
    def log_pmf(log_size: float, at: Integers) -> Floats:
        size = np.exp(log_size)
        chosen = gammaln(size + at) - gammaln(size) - gammaln(at + 1)
        logs: Floats = chosen - size * np.log1p(mean / size) - at * np.log1p(size / mean)
        return logs

    best = special_functions.minimize(
        lambda size: -float(weights @ log_pmf(size, steps)), -7.0, 14.0
    )
    return np.asarray(np.exp(log_pmf(best, grid)))


def _fit_logarithmic(grid: Integers, mean: float) -> Floats:
    # The mean of the law at p = 1 − exp(−odds), by its closed form, less the mean
    def excess(odds: float) -> float:
        return float(np.expm1(odds) / odds - mean)

    odds = special_functions.find_root(excess, 1e-12, 60.0)
    ranks = grid + 1.0
    return np.asarray(np.exp(ranks * np.log(-np.expm1(-odds)) - np.log(ranks) - np.log(odds)))


def _estimate_unseen(weights: Floats) -> float:
    """Share of one value never seen: the mass of all of them over how many there seem to be.

    Good 1953; Chao 1984. None where every value was seen twice or more: there the sample gives no sign that
    there are others.
    """
    once, twice = float((weights <= 1).sum()), float(((weights > 1) & (weights <= TWICE)).sum())
    if once == 0:
        return 0.0
    most = 0.5 / float(weights.sum())
    return min(most, 2 * (twice + 1) / ((once - 1) * float(weights.sum()))) if once > 1 else most


# Where each value of a column lies on the latent normal scale.
# Ordered columns have one place for each value. Nominal columns have no order: at every quasi-random point
# the values lie in another random order, so that the integral over the points averages over orders (Rocher,
# Hendrickx & de Montjoye 2019, "randomize their order").

MAX_PLACED_VALUES: Final = 300  # values: beyond, each lies anywhere, whatever the others do
GOLDEN_RATIO: Final = (5**0.5 - 1) / 2

IntervalEnds = tuple[Floats, Floats]


def cell_ends(marginal: Marginal, codes: Integers, points: int, seed: list[int]) -> IntervalEnds:
    """Latent lower and upper ends of the codes' intervals: (codes, points), or (codes, 1) if ordered.

    A code beyond the values is a value that the sample lacks: the first represents all of them in a nominal
    column; in an ordered one they are the gaps before the first value, between the first two, and so on.
    """
    if marginal.ordered:
        seen, bounds = codes < len(marginal.values), np.append(0.0, np.cumsum(marginal.shares))
        ordered_start = np.concatenate([bounds[:-1], bounds - marginal.unseen / 2])[codes]
        width = np.where(
            seen, np.append(marginal.shares, 0)[np.where(seen, codes, -1)], marginal.unseen
        )
        return _latent_ends(ordered_start[:, None], (ordered_start + width)[:, None])
    rng = np.random.default_rng([*seed, points])
    shares = np.append(marginal.shares, marginal.unseen)[codes][:, None]
    if len(marginal.values) > MAX_PLACED_VALUES:
        start = (codes[:, None] * GOLDEN_RATIO + rng.random(points)) % 1 * (1 - shares)
    else:
        start = np.empty((len(codes), points))
        seen = codes < len(marginal.values)
        start[seen] = shuffle_starts(marginal.shares, points, rng)[codes[seen]]
        start[~seen] = rng.random(points) * (1 - shares[~seen])
    return _latent_ends(start, start + shares)


def shuffle_starts(shares: Floats, points: int, rng: np.random.Generator) -> Floats:
    """What comes before each value where the values are put in a random order: (values, points)."""
    order = np.argsort(rng.random((len(shares), points)), axis=0)
    sorted_shares = shares[order]
    before = np.empty_like(sorted_shares)
    np.put_along_axis(before, order, np.cumsum(sorted_shares, axis=0) - sorted_shares, axis=0)
    return before


def _latent_ends(start: Floats, stop: Floats) -> IntervalEnds:
    return ndtri(start.clip(0, 1)).clip(-MAX_SIGMAS, MAX_SIGMAS), ndtri(stop.clip(0, 1)).clip(
        -MAX_SIGMAS, MAX_SIGMAS
    )


def propose_heaps(located: Floats, counts: Floats) -> Iterator[Flags]:
    """Sets of heaps, each with more values than the one before; the first has none.

    >>> ages = np.arange(20.0)
    >>> records = np.where(ages == 10, 60.0, 6.0)
    >>> [np.flatnonzero(heaps).tolist() for heaps in propose_heaps(ages, records)]
    [[], [10]]
    """
    size, ratio = -1, rate_values(located, counts)
    for least in (np.inf, *MIN_RATIOS):
        heaps = (ratio >= least) & (counts >= MIN_RECORDS)
        if int(heaps.sum()) > size:
            size = int(heaps.sum())
            yield heaps


def rate_values(located: Floats, counts: Floats) -> Floats:
    """Each value's records relative to the median of its neighbours on the scale; 0 without a place."""
    ratio, rows = np.zeros(len(located)), np.flatnonzero(~np.isnan(located))
    order = rows[np.argsort(located[rows], kind="stable")]
    if len(order) > 1:
        around = np.full((len(order) + 2 * NEIGHBOURS), np.nan)
        around[NEIGHBOURS:-NEIGHBOURS] = counts[order]
        windows = np.lib.stride_tricks.sliding_window_view(around, 2 * NEIGHBOURS + 1)
        median = np.nanmedian(np.delete(windows, NEIGHBOURS, axis=1), axis=1)
        ratio[order] = counts[order] / median
    return ratio


def price_heaps(counts: Floats, records: float) -> float:
    """Log-likelihood of the records of heaps, each left out of its own count, less ½ ln n for each heap.

    >>> round(price_heaps(np.array([51.0]), 100.0), 3)
    -37.653
    """
    shares = np.maximum(counts - 1, 1e-300) / records
    return float(counts @ np.log(shares)) - len(counts) * float(np.log(records)) / 2
