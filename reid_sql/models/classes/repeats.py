"""Rows that repeat: fewer than a model expects, all equally often, or more often than by chance."""

from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.numerics.special_functions import gammainc
from reid_sql.parameters import Floats, Integers

# of the repeats that a model expects: its own error, beside that of chance
EXPECTED_SHARE: Final = 0.8
MIN_CHANCE_OF_REPEATS: Final = 0.02  # of as few repeats; 188 ordinary tables had 0.17 or more
STATUS_FEWER_REPEATS: Final = (
    "fewer_repeats: fewer records repeat than the model expects, so people may be more unique"
)
STATUS_NO_REPEATS: Final = (
    "no_repeats: no record repeats, so the size of a cell depends on the model alone"
)

# By chance, the sizes of 30 classes are all even with probability 2^-30, which is below 1e-9.
MIN_CLASSES: Final = 30
COPIES: Final = (
    "Every class has a multiple of {0:,} rows, as if the table had each row {0:,} times: remove the copies, "
    "or count people with --entity."
)


def is_below_chance(repeats: float, expected: float) -> bool:
    """Whether a Poisson number of a part of the expected repeats is hardly ever as small.

    A street and a house number are unique together, although each repeats: no model of pairs sees that.

    >>> is_below_chance(0, 10), is_below_chance(3, 10), is_below_chance(100, 200)
    (True, False, True)
    """
    part = EXPECTED_SHARE * expected
    if repeats >= part:
        return False
    return bool(
        gammainc(np.array([repeats + 1.0]), np.array([part]))[0] > 1 - MIN_CHANCE_OF_REPEATS
    )


def count_copies(class_size: npt.ArrayLike, classes: npt.ArrayLike) -> int:
    """Return the greatest number that divides the size of every class; 1 where the classes are too few.

    A file that was appended to itself has 2, a panel whose people all have five like rows has 5.

    >>> count_copies([2, 4, 6], [20, 9, 1])
    2
    >>> count_copies([2, 4, 5], [20, 9, 1]), count_copies([2, 4, 6], [20, 8, 1])
    (1, 1)
    """
    sizes = np.asarray(class_size, dtype=np.int64)
    return int(np.gcd.reduce(sizes)) if np.sum(classes) >= MIN_CLASSES else 1


# Rows that equal another in all columns more often than chance gives: parts of a file written twice.
#
# Other people may have the same values, so that equal rows alone are no copies. Where chance makes them,
# people who differ in one column alone are common, too. So for each of a draw of distinct rows, those that
# differ from it in one column are counted. Times the odds that two people who agree elsewhere agree there,
# they are the equal rows to expect. The odds are those of all pairs, or of pairs of different rows that
# agree in the other column that predicts it best. Only rows of which hardly any equal one is to expect are
# judged, and columns that follow from another are left out: both on the safe side, against a false alarm.

MAX_ROWS: Final = 1500  # distinct rows that are drawn
MAX_COLUMNS: Final = 24  # by which rows are compared, those that distinguish most
DETERMINED: Final = (
    0.95  # agreement of pairs that agree in another column, from which a column follows
)
MIN_PAIRS: Final = 30  # that agree in a column, for it to predict another
MAX_EXPECTED: Final = 0.1  # equal rows of a row that is judged
MIN_COPIES: Final = 5
MIN_SHARE: Final = 0.005  # of the rows, below which copies move no figure
MIN_JUDGED: Final = 0.1  # of the rows, to speak for the table
TIMES_CHANCE: Final = (
    10.0  # as many as expected: two columns may predict a third better than each alone
)


def choose_columns(codes: Integers, counts: Integers) -> tuple[Integers, Floats]:
    """Choose columns of which none follows from another, with the odds that two rows agree in each.

    `codes` are the values of distinct rows (rows, columns), `counts` how often each row occurs.

    >>> codes = np.array([[number % 20, number % 20 // 2, number] for number in range(200)])
    >>> columns, odds = choose_columns(codes, np.ones(200, dtype=int))
    >>> columns.tolist(), odds.round(3).tolist()
    ([0, 2], [0.053, 0.005])
    """
    weights = counts.astype(float)
    every_row = float((weights**2).sum())  # pairs of a row and itself
    pairs = float(weights.sum()) ** 2 - every_row
    numbered = [np.unique(column, return_inverse=True)[1] for column in codes.T]
    alone = [_count_agreeing(column, weights) for column in numbered]
    chosen: list[int] = []
    best = np.zeros(
        len(alone)
    )  # the share of pairs that agree, if they do in the best other column
    for column in np.argsort(alone, kind="stable").tolist():  # those that distinguish most first
        if len(chosen) == MAX_COLUMNS:
            break
        both = {
            other: _count_agreeing(numbered[column] * len(codes) + numbered[other], weights)
            for other in chosen
        }
        follows = [_share(agree, alone[other]) for other, agree in both.items()]
        if max(follows, default=0.0) < DETERMINED and alone[column] < DETERMINED * pairs:
            for other, agree in both.items():
                best[other] = max(best[other], _share(agree, alone[column]))
            best[column] = max(follows, default=0.0)
            chosen.append(column)
    columns = np.array(sorted(chosen), dtype=np.int64)
    of_all = (np.array(alone)[columns] + every_row) / float(weights.sum()) ** 2
    most = np.minimum(np.maximum(best[columns], of_all), DETERMINED)
    return columns, most / (1 - most)


def _count_agreeing(values: Integers, weights: Floats) -> float:
    """The ordered pairs of different rows that have the same value."""
    sums = np.bincount(np.unique(values, return_inverse=True)[1], weights)
    return float((sums**2).sum() - (weights**2).sum())


def _share(both: float, alone: float) -> float:
    """The share of the pairs that agree in one column of those that agree in another; 0 of few pairs."""
    return both / alone if alone >= MIN_PAIRS else 0.0


def share_of_copies(counts: Integers, near: Integers, odds: Floats) -> float:
    """Share of the rows that are copies of another, 0 where chance may explain them.

    `near` counts the other rows that differ from each in one column at most (rows, columns). Where each row
    was written many times, its neighbours were, too.

    >>> none = np.zeros((40, 2), dtype=int)
    >>> share_of_copies(np.full(40, 2), none, np.full(2, 0.1))
    0.5
    >>> share_of_copies(np.full(40, 2), none + 30, np.full(2, 0.1))
    0.0
    """
    expected = (near * odds).max(axis=1, initial=0.0) / float(np.median(counts))
    is_rare = expected < MAX_EXPECTED
    copies, rows = float((counts - 1)[is_rare].sum()), float(counts[is_rare].sum())
    if is_rare.sum() < MIN_CLASSES or rows < MIN_JUDGED * counts.sum():
        return 0.0
    if copies < max(MIN_COPIES, MIN_SHARE * rows, TIMES_CHANCE * expected[is_rare].sum()):
        return 0.0
    return copies / rows
