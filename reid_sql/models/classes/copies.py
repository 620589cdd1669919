"""Rows that a table has several times: then every class has a multiple of as many rows."""

from typing import Final

import numpy as np
import numpy.typing as npt

# By chance, the sizes of 30 classes are all even with probability 2^-30, which is below 1e-9.
MIN_CLASSES: Final = 30
COPIES: Final = (
    "Every class has a multiple of {0:,} rows, as if the table had each row {0:,} times: remove the copies, "
    "or count people with --entity."
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
