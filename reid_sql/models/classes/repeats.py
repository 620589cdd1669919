"""Whether fewer records of a sample repeat than a model expects, as where columns are a key together."""

from typing import Final

import numpy as np

from reid_sql.models.numerics.special_functions import gammainc

EXPECTED_SHARE: Final = 0.8  # of the repeats that a model expects: its own error, beside that of chance
MIN_CHANCE_OF_REPEATS: Final = 1e-3  # of as few repeats
STATUS_FEWER_REPEATS: Final = (
    "fewer_repeats: fewer records repeat than the model expects, so people may be more unique"
)
STATUS_NO_REPEATS: Final = "no_repeats: no record repeats, so the size of a cell depends on the model alone"


def is_below_chance(repeats: float, expected: float) -> bool:
    """Whether a Poisson number of a part of the expected repeats is hardly ever as small.

    A street and a house number are unique together, although each repeats: no model of pairs sees that.

    >>> is_below_chance(0, 10), is_below_chance(3, 10), is_below_chance(100, 200)
    (True, False, True)
    """
    part = EXPECTED_SHARE * expected
    if repeats >= part:
        return False
    return bool(gammainc(np.array([repeats + 1.0]), np.array([part]))[0] > 1 - MIN_CHANCE_OF_REPEATS)
