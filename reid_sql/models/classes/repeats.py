"""Rows that repeat: fewer than a model expects, as of columns that are a key, or all equally often."""

from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.numerics.special_functions import gammainc

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
