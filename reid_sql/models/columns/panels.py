"""A panel: rows are repeated records of people. Its structure shows the column of people, whatever its name.

Within each value of such a column, columns that describe a person are constant.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from reid_sql.models.columns.column_profile import MAX_CATEGORIES
from reid_sql.parameters import Integers

MIN_REPEATS: Final = 20  # rows that share a value with an earlier row
MIN_SHARE_REPEATED: Final = 0.5  # of the rows share their value with another
MAX_ROWS_OF_PERSON: Final = 50  # on average; a value of more rows is rather a place or a category
MIN_AGREEMENT: Final = 0.9  # beyond chance, of a column that is constant within the values
MIN_EXPECTED_DISAGREEMENTS: Final = 10  # were the rows of a value drawn from all rows


def find_people_columns(codes: Mapping[str, Integers], candidates: Sequence[str]) -> list[str]:
    """Find the candidates within whose values two other columns are constant that describe no place or kind.

    `codes` number the values of each column, −1 for NULL. Of a city that determines its state, both are
    constant within a postcode; so neither of the two columns may determine the other.

    >>> person = np.repeat(np.arange(60), 3)
    >>> columns = {"nr": person, "sex": person % 2, "origin": person // 2 % 3, "year": np.arange(180) % 3}
    >>> find_people_columns(columns, ["nr"])
    ['nr']
    """
    return [name for name in candidates if _identifies_people(name, codes)]


def _identifies_people(name: str, codes: Mapping[str, Integers]) -> bool:
    known = codes[name] >= 0
    _, first, person, sizes = np.unique(
        codes[name][known], return_index=True, return_inverse=True, return_counts=True
    )
    people, rows = len(sizes), int(sizes.sum())
    repeats = rows - people
    if people <= MAX_CATEGORIES or repeats < MIN_REPEATS or rows > MAX_ROWS_OF_PERSON * people:
        return False
    if sizes[sizes > 1].sum() < MIN_SHARE_REPEATED * rows:
        return False
    others = (values[known] for other, values in codes.items() if other != name)
    constant = [values[first] for values in others if _is_constant(values, first, person, repeats)]
    return any(_are_independent(*pair) for pair in combinations(constant, 2))


def _is_constant(values: Integers, first: Integers, person: Integers, repeats: int) -> bool:
    """Whether the rows of a person agree with their first one, and would not by chance."""
    of_people = values[first]
    counts = np.bincount(of_people + 1)
    by_chance = float(np.sum((counts / len(of_people)) ** 2))
    is_unique = int(np.count_nonzero(counts)) == len(of_people)
    if is_unique or (1 - by_chance) * repeats < MIN_EXPECTED_DISAGREEMENTS:
        return False
    agreeing = (int(np.sum(values == of_people[person])) - len(of_people)) / repeats
    return (agreeing - by_chance) / (1 - by_chance) >= MIN_AGREEMENT


def _are_independent(one: Integers, other: Integers) -> bool:
    """Whether neither of two columns determines the other."""
    pairs = len(np.unique(np.stack([one, other]), axis=1).T)
    return pairs > max(len(np.unique(one)), len(np.unique(other)))
