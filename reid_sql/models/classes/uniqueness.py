"""Uniqueness ξ and correctness κ: of a record by its probability, of a smaller table by its class sizes."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram, weigh_classes
from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import COUNT, PROBABILITY, Floats, Integers, Number

# From the probability of a record's values to the chance that it is unique, and that a match on it is
# right.
# Source: Rocher, Hendrickx & de Montjoye 2019, equations 2, 4 and 27. All three work in log space: the
# textbook forms lose digits for rare records and can answer more than 1.


def uniqueness_from_probability(p: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Probability ξ that a person of cell probability `p` is the only one of their kind among `n` people.

    ξ(p, n) = (1 − p)^(n−1), equation 2; exact at p = 0 and at p = 1, where it is 1 for n = 1 and 0 beyond.
    `p` and `n` broadcast. Refuses p outside [0, 1] and n below 1.

    >>> round(float(uniqueness_from_probability(0.01, 101)), 6)
    0.366032
    """
    p, n = np.broadcast_arrays(PROBABILITY.check("p", p), COUNT.check("n", n))
    with np.errstate(divide="ignore", invalid="ignore"):
        xi = np.exp((n - 1) * np.log1p(-p))
    return np.where(n == 1, 1.0, xi)  # 0 · log 0 is the limit 0 here: a lone person is unique


def correctness_from_probability(p: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Probability κ that a match on a person of cell probability `p` among `n` people is the right person.

    κ(p, n) = (1 − (1 − p)^n) / (n p), equation 27; κ(0, n) = 1.
    `p` and `n` broadcast. Refuses p outside [0, 1] and n below 1.

    >>> round(float(correctness_from_probability(0.01, 101)), 6)
    0.631315
    """
    p, n = np.broadcast_arrays(PROBABILITY.check("p", p), COUNT.check("n", n))
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = -np.expm1(n * np.log1p(-p)) / (n * p)
    return np.where(n * p == 0, 1.0, np.minimum(kappa, 1.0))


def correctness_from_uniqueness(xi: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Probability κ that a match is right, for a person who is unique among `n` people with probability `xi`.

    κ = (1 − ξ^(n/(n−1))) / (n (1 − ξ^(1/(n−1)))), equation 4; κ = 1 at ξ = 1 and at n = 1, and 1/n at ξ = 0.
    `xi` and `n` broadcast. Refuses xi outside [0, 1] and n below 1.

    >>> round(float(correctness_from_uniqueness(0.58, 54805)), 2)
    0.77
    """
    xi, n = np.broadcast_arrays(PROBABILITY.check("xi", xi), COUNT.check("n", n))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log(xi) / (n - 1)  # log(1 − p)
        kappa = np.expm1(n * step) / (n * np.expm1(step))
    return np.where((xi == 1) | (n == 1) | (step == 0), 1.0, np.minimum(kappa, 1.0))


# The size of a population that a sample was drawn from: at least that of the sample.


def check_population(population: float, records: int) -> float:
    """Give the population as a number of people; refuses one that is smaller than the sample.

    >>> check_population(1000, 50)
    1000.0
    """
    people = float(COUNT.check("population", population))
    if people < records:
        got = f"{people:,}".removesuffix(".0")
        raise OutOfDomainError(
            f"population must be at least the {records:,} records of the sample, got {got}; pass the size of the population that the sample was drawn from"
        )
    return people


# Correctness and uniqueness of a smaller table: the exact expectation over random subsets.
# The class sizes alone decide it. An n-subset drawn without replacement misses a class of size s with
# probability C(N − s, n) / C(N, n). Its logarithm is a sum of min(s, n) logarithms of one sign, so nothing
# cancels; a long sum is an integral to double precision. Source: Rocher, Hendrickx & de Montjoye 2025,
# equation 1, with the expectation over subsets taken exactly (rarefaction).

# Beyond so many terms the sum is an integral: whenever the class can still be missed at all, its terms are
# then small and smooth, and 8 nodes with one end correction leave less than 1e-13 of it.
MAX_TERMS: Final = 256
HALF: Final = 0.5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)

REFUSAL_OVERLAP: Final = (
    "a curve needs classes that do not overlap, as many records as class_size × classes, got {got} for "
    "{records}; use nulls := 'value' or 'drop' in place of 'wildcard'"
)


@dataclass(frozen=True)
class CurvePoint:
    """Expected correctness and uniqueness in a random subset of n records."""

    n: int
    correctness: float
    uniqueness: float


def correctness_curve(histogram: Histogram, sizes: npt.ArrayLike) -> Floats:
    """Expected correctness κ of exact matching in a random subset: its distinct classes per record.

    A subset has one of the `sizes`, in records. κ(n) = Σ [1 − C(N − s, n) / C(N, n)] / n over the classes of
    size s among N records; κ(1) = 1, and κ(N) is classes per record. The answer has the shape of `sizes` and
    is right to 1e-10 of itself up to N = 1e9. Refuses sizes that are not whole numbers from 1 to N, an empty
    histogram, and classes that overlap.

    >>> two_pairs = Histogram(np.array([2]), np.array([2]), np.array([4]))
    >>> correctness_curve(two_pairs, [1, 2, 4]).round(4).tolist()
    [1.0, 0.8333, 0.5]
    """
    histogram = weigh_classes(histogram)
    records = count_records(histogram)
    subsets = _subset_size_domain(records).check("sizes", sizes)
    size, classes = histogram.class_size.astype(np.float64), histogram.classes
    seen = [classes @ -np.expm1(log_miss_probability(size, n, records)) / n for n in subsets.flat]
    return _bound_shares(seen, subsets)


def uniqueness_curve(histogram: Histogram, sizes: npt.ArrayLike) -> Floats:
    """Expected share of records that are unique in a random subset of `sizes` records.

    Ξ(n) = Σ (s/N) C(N − s, n − 1) / C(N − 1, n − 1): a drawn record is of a class of size s, and the n − 1
    others drawn miss the rest of its class. The answer has the shape of `sizes`; refusals are those of
    correctness_curve.

    >>> two_pairs = Histogram(np.array([2]), np.array([2]), np.array([4]))
    >>> uniqueness_curve(two_pairs, [1, 2, 4]).round(4).tolist()
    [1.0, 0.6667, 0.0]
    """
    records = count_records(weigh_classes(histogram))
    subsets = _subset_size_domain(records).check("sizes", sizes)
    rest_of_class = histogram.class_size.astype(np.float64) - 1.0
    share = histogram.records / records
    alone = [
        share @ np.exp(log_miss_probability(rest_of_class, n - 1, records - 1))
        for n in subsets.flat
    ]
    return _bound_shares(alone, subsets)


def rarefy(histogram: Histogram, sizes: npt.ArrayLike | None = None) -> list[CurvePoint]:
    """Give both curves at each size; at default_sizes where there are none.

    >>> rarefy(Histogram(np.array([2]), np.array([2]), np.array([4])), [1, 4])
    [CurvePoint(n=1, correctness=1.0, uniqueness=1.0), CurvePoint(n=4, correctness=0.5, uniqueness=0.0)]
    """
    at = (
        default_subset_sizes(count_records(weigh_classes(histogram)))
        if sizes is None
        else np.atleast_1d(np.asarray(sizes, dtype=np.float64))
    )
    both = zip(at, correctness_curve(histogram, at), uniqueness_curve(histogram, at), strict=True)
    return [CurvePoint(int(n), float(kappa), float(xi)) for n, kappa, xi in both]


def default_subset_sizes(records: int, points: int = 50) -> Integers:
    """Whole subset sizes from 1 to `records`, distinct, even in log space: at most `points` of them.

    Source: the protocol of Rocher, Hendrickx & de Montjoye 2025 (50 points). Refuses fewer than 1 record or 2
    points.

    >>> default_subset_sizes(1000, points=4).tolist()
    [1, 10, 100, 1000]
    """
    _whole_number_domain(
        "a whole number of at least 1", "pass the number of records", 1, 1e15
    ).check("records", records)
    _whole_number_domain(
        "a whole number of at least 2", "pass how many sizes to measure at", 2, 1e6
    ).check("points", points)
    return np.unique(np.rint(np.geomspace(1, records, points)).astype(np.int64))


def count_records(histogram: Histogram) -> int:
    """Count the records, refusing an empty histogram and classes that overlap (NULL as a wildcard)."""
    records = int(histogram.records.sum())
    if records == 0:
        raise NoRecordsError
    inside = round(float(histogram.class_size @ histogram.classes))
    if inside != records:
        raise OutOfDomainError(REFUSAL_OVERLAP.format(got=records, records=inside))
    return records


def _bound_shares(values: list[Floats], subsets: Floats) -> Floats:
    # rounding apart
    return np.where(subsets == 1, 1.0, np.minimum(np.reshape(values, subsets.shape), 1.0))


def _subset_size_domain(records: int) -> Number:
    return _whole_number_domain(
        f"whole numbers from 1 to the {records} records of the table",
        "pass sizes of subsets of it",
        1,
        records,
    )


def _whole_number_domain(rule: str, remedy: str, low: float, high: float) -> Number:
    return Number(rule, remedy, float(low), float(high), whole=True)


def log_miss_probability(size: Floats, n: float, records: float) -> Floats:
    """Logarithm of C(records − size, n) / C(records, n): none of `n` drawn is of a class of `size`."""
    checkpoint()
    fewer = np.minimum(size, n)
    more = np.maximum(size, n)  # (sizes,), and the ratio is the same with both exchanged
    missed = np.full(size.shape, -np.inf)  # a class larger than what is left out is always drawn
    short = (size + n <= records) & (fewer <= MAX_TERMS)
    long = (size + n <= records) & (fewer > MAX_TERMS)
    few, many = fewer[short], more[short]
    total = np.zeros(few.shape)
    for drawn in range(int(few.max(initial=0.0))):
        going = few > drawn
        total[going] += _log_next_missed(many[going], records - drawn)
    missed[short] = total
    missed[long] = _integrate_terms(fewer[long], more[long], records)
    return missed


def _integrate_terms(fewer: Floats, more: Floats, records: float) -> Floats:
    """Σ f(j) over 0 ≤ j < fewer as ∫ f from −½ to fewer − ½, less [f′]/24 (Euler–Maclaurin at midpoints)."""
    left = records - fewer[:, None] * (NODES + 1) / 2 + 0.5  # (sizes, nodes): records not yet drawn
    integral = fewer * (_log_next_missed(more[:, None], left) @ WEIGHTS) / 2
    first, last = records + 0.5, records - fewer + 0.5
    slope = more / ((first - more) * first) - more / ((last - more) * last)
    return integral - slope / 24


def _log_next_missed(more: Floats, left: Floats | float) -> Floats:
    """Logarithm of 1 − more/left, accurate at both ends: the next of `left` records is none of `more`."""
    share = more / left
    return np.where(
        share < HALF,
        np.log1p(-np.minimum(share, HALF)),
        np.log(np.maximum(left - more, HALF) / left),
    )
