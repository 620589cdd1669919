"""What a model of people is fitted to: counts of values, pairs and class sizes, and drawn records.

The draw is bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import NO_RECORDS, Histogram, Integers
from reid_sql.parameters import Floats

MOST_DRAWN: Final = 10_000  # records
MOST_LINES: Final = 20_000  # of one pair of columns
ALL_LINES: Final = 1_000_000  # of all pairs together, so that memory stays bounded
MOST_PAIRED: Final = 32  # columns; of more, all pairs are counted among the drawn
Pairs = Mapping[tuple[int, int], tuple[Integers, Integers, Floats]]


@dataclass(frozen=True)
class PeopleEvidence:
    """What an engine counted of a sample; a value's code is its place among the values of its column.

    `counts` and the counts of `pairs` may be sums of survey weights, scaled to the number of records. Pairs
    of columns with very many combinations are counted among the drawn alone, as whole records: a count that
    was scaled up would look like several records that agree. `drawn` are records of a seeded draw, all of
    them where the sample is small, and `drawn_size` the sizes of their classes in the whole sample. `given`
    are shares of values from outside, for columns by number. A `weighted` sample is told by its tree alone:
    donors and class sizes know of no weights.
    """

    columns: tuple[str, ...]
    ordered: tuple[bool, ...]
    values: tuple[tuple[str | None, ...], ...]
    counts: tuple[Floats, ...]  # by column: (values,)
    pairs: Pairs  # of columns i < j: codes in i, codes in j, counts
    histogram: Histogram
    drawn: Integers  # (drawn, columns)
    drawn_size: Integers  # (drawn,)
    given: Mapping[int, tuple[Sequence[str | None], Floats]] = field(default_factory=dict)
    weighted: bool = False

    @property
    def records(self) -> int:
        """How many records the sample has."""
        return int(self.histogram.records.sum())


def counted(
    codes: Integers,
    columns: Sequence[str],
    values: Sequence[Sequence[str | None]],
    ordered: Sequence[bool],
    *,
    most: int = MOST_DRAWN,
    seed: int = 0,
) -> PeopleEvidence:
    """Count coded records, (records, columns), as an engine does; refuses none.

    >>> found = counted(np.array([[0], [0], [1]]), ["sex"], [["F", "M"]], [False])
    >>> found.counts, found.histogram.class_size.tolist()
    ((array([2., 1.]),), [1, 2])
    """
    if not len(codes):
        raise NoRecordsError(NO_RECORDS)
    _, inverse, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    class_size, classes = np.unique(sizes, return_counts=True)
    rows = np.random.default_rng(seed).permutation(len(codes))[:most]
    return PeopleEvidence(
        tuple(columns),
        tuple(ordered),
        tuple(tuple(some) for some in values),
        tuple(
            np.bincount(own, minlength=len(some)).astype(np.float64)
            for own, some in zip(codes.T, values, strict=True)
        ),
        {
            (i, j): _pair(codes[:, [i, j]], rows, most_lines(len(columns)))
            for i, j in combinations(range(len(columns)), 2)
        },
        Histogram(class_size, classes, class_size * classes),
        codes[rows],
        sizes[inverse.ravel()[rows]],
    )


def most_lines(columns: int) -> int:
    """Combinations that a pair of so many columns may have; beyond, it is counted among the drawn.

    >>> most_lines(10), most_lines(20), most_lines(64)
    (20000, 5263, 0)
    """
    if columns > MOST_PAIRED:
        return 0
    return min(MOST_LINES, ALL_LINES // max(columns * (columns - 1) // 2, 1))


def same_counts(one: PeopleEvidence, other: PeopleEvidence) -> bool:
    """Whether two samples were counted alike, in the same order.

    >>> table = counted(np.array([[0], [0], [1]]), ["sex"], [["F", "M"]], [False])
    >>> other = counted(np.array([[0], [1], [1]]), ["sex"], [["F", "M"]], [False])
    >>> same_counts(table, table), same_counts(table, other)
    (True, False)
    """
    plain = (one.columns, one.ordered, one.values, one.weighted) == (
        *(other.columns, other.ordered, other.values, other.weighted),
    )
    return (
        plain
        and not one.given
        and not other.given
        and one.pairs.keys() == other.pairs.keys()
        and all(np.array_equal(a, b) for a, b in zip(_arrays(one), _arrays(other), strict=True))
    )


def _arrays(evidence: PeopleEvidence) -> Iterator[npt.NDArray[Any]]:
    yield from (*evidence.counts, evidence.drawn, evidence.drawn_size)
    yield from (evidence.histogram.class_size, evidence.histogram.classes)
    for pair in sorted(evidence.pairs):
        yield from evidence.pairs[pair]


def _pair(codes: Integers, drawn: Integers, lines: int) -> tuple[Integers, Integers, Floats]:
    found = pair_counts(*codes.T)
    return found if len(found[0]) <= lines else pair_counts(*codes[drawn].T)


def pair_counts(one: Integers, other: Integers) -> tuple[Integers, Integers, Floats]:
    """Count the pairs of codes that occur."""
    wide = int(other.max()) + 1
    found, counts = np.unique(one * wide + other, return_counts=True)
    return found // wide, found % wide, counts.astype(np.float64)
