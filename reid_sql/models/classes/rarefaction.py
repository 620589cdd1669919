"""Correctness and uniqueness of a smaller table: the exact expectation over random subsets.

The class sizes alone decide it. An n-subset drawn without replacement misses a class of size s with
probability C(N − s, n) / C(N, n). Its logarithm is a sum of min(s, n) logarithms of one sign, so nothing
cancels; a long sum is an integral to double precision. Source: Rocher, Hendrickx & de Montjoye 2025, equation
1, with the expectation over subsets taken exactly (rarefaction).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import NO_RECORDS, Histogram, Integers
from reid_sql.parameters import Floats, Number

# Beyond so many terms the sum is an integral: whenever the class can still be missed at all, its terms are
# then small and smooth, and 8 nodes with one end correction leave less than 1e-13 of it.
TERMS: Final = 256
HALF: Final = 0.5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)

OVERLAP: Final = (
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
    records = counted_records(histogram)
    subsets = _subset_sizes(records).check("sizes", sizes)
    size, classes = histogram.class_size.astype(np.float64), histogram.classes
    seen = [classes @ -np.expm1(log_missed(size, n, records)) / n for n in subsets.flat]
    return _curve(seen, subsets)


def uniqueness_curve(histogram: Histogram, sizes: npt.ArrayLike) -> Floats:
    """Expected share of records that are unique in a random subset of `sizes` records.

    Ξ(n) = Σ (s/N) C(N − s, n − 1) / C(N − 1, n − 1): a drawn record is of a class of size s, and the n − 1
    others drawn miss the rest of its class. The answer has the shape of `sizes`; refusals are those of
    correctness_curve.

    >>> two_pairs = Histogram(np.array([2]), np.array([2]), np.array([4]))
    >>> uniqueness_curve(two_pairs, [1, 2, 4]).round(4).tolist()
    [1.0, 0.6667, 0.0]
    """
    records = counted_records(histogram)
    subsets = _subset_sizes(records).check("sizes", sizes)
    others, share = histogram.class_size.astype(np.float64) - 1.0, histogram.records / records
    alone = [share @ np.exp(log_missed(others, n - 1, records - 1)) for n in subsets.flat]
    return _curve(alone, subsets)


def curve(histogram: Histogram, sizes: npt.ArrayLike | None = None) -> list[CurvePoint]:
    """Give both curves at each size; at default_sizes where there are none.

    >>> curve(Histogram(np.array([2]), np.array([2]), np.array([4])), [1, 4])
    [CurvePoint(n=1, correctness=1.0, uniqueness=1.0), CurvePoint(n=4, correctness=0.5, uniqueness=0.0)]
    """
    at = (
        default_sizes(counted_records(histogram))
        if sizes is None
        else np.atleast_1d(np.asarray(sizes, dtype=np.float64))
    )
    both = zip(at, correctness_curve(histogram, at), uniqueness_curve(histogram, at), strict=True)
    return [CurvePoint(int(n), float(kappa), float(xi)) for n, kappa, xi in both]


def default_sizes(records: int, points: int = 50) -> Integers:
    """Whole subset sizes from 1 to `records`, distinct, even in log space: at most `points` of them.

    Source: the protocol of Rocher, Hendrickx & de Montjoye 2025 (50 points). Refuses fewer than 1 record or 2
    points.

    >>> default_sizes(1000, points=4).tolist()
    [1, 10, 100, 1000]
    """
    _number("a whole number of at least 1", "pass the number of records", 1, 1e15).check("records", records)
    _number("a whole number of at least 2", "pass how many sizes to measure at", 2, 1e6).check(
        "points", points
    )
    return np.unique(np.rint(np.geomspace(1, records, points)).astype(np.int64))


def counted_records(histogram: Histogram) -> int:
    """Count the records, refusing an empty histogram and classes that overlap (NULL as a wildcard)."""
    records = int(histogram.records.sum())
    if records == 0:
        raise NoRecordsError(NO_RECORDS)
    inside = int(histogram.class_size @ histogram.classes)
    if inside != records:
        raise OutOfDomainError(OVERLAP.format(got=records, records=inside))
    return records


def _curve(values: list[Floats], subsets: Floats) -> Floats:
    return np.where(subsets == 1, 1.0, np.minimum(np.reshape(values, subsets.shape), 1.0))  # rounding apart


def _subset_sizes(records: int) -> Number:
    return _number(
        f"whole numbers from 1 to the {records} records of the table",
        "pass sizes of subsets of it",
        1,
        records,
    )


def _number(rule: str, remedy: str, low: float, high: float) -> Number:
    return Number(rule, remedy, float(low), float(high), whole=True)


def log_missed(size: Floats, n: float, records: float) -> Floats:
    """Logarithm of C(records − size, n) / C(records, n): none of `n` drawn is of a class of `size`."""
    checkpoint()
    fewer, more = (
        np.minimum(size, n),
        np.maximum(size, n),
    )  # (sizes,), and the ratio is the same with both exchanged
    missed = np.full(size.shape, -np.inf)  # a class larger than what is left out is always met
    short = (size + n <= records) & (fewer <= TERMS)
    long = (size + n <= records) & (fewer > TERMS)
    missed[short] = _by_terms(fewer[short], more[short], records)
    missed[long] = _by_integral(fewer[long], more[long], records)
    return missed


def _by_terms(fewer: Floats, more: Floats, records: float) -> Floats:
    total = np.zeros(fewer.shape)
    for drawn in range(int(fewer.max(initial=0.0))):
        going = fewer > drawn
        total[going] += _log_one_more(more[going], records - drawn)
    return total


def _by_integral(fewer: Floats, more: Floats, records: float) -> Floats:
    """Σ f(j) over 0 ≤ j < fewer as ∫ f from −½ to fewer − ½, less [f′]/24 (Euler–Maclaurin at midpoints)."""
    left = records - fewer[:, None] * (NODES + 1) / 2 + 0.5  # (sizes, nodes): records not yet drawn
    integral = fewer * (_log_one_more(more[:, None], left) @ WEIGHTS) / 2
    first, last = records + 0.5, records - fewer + 0.5
    slope = more / ((first - more) * first) - more / ((last - more) * last)
    return integral - slope / 24


def _log_one_more(more: Floats, left: Floats | float) -> Floats:
    """Logarithm of 1 − more/left, accurate at both ends: the next of `left` records is none of `more`."""
    share = more / left
    return np.where(
        share < HALF, np.log1p(-np.minimum(share, HALF)), np.log(np.maximum(left - more, HALF) / left)
    )
