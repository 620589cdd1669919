"""Tables that were appended to themselves, by an oracle that goes through the rows."""

from collections import Counter
from math import gcd

import numpy as np

from reid_sql.models.classes.repeats import MIN_CLASSES, count_copies
from tests.cells import each_cell


@each_cell("copies", [1, 2, 3, 10])
@each_cell("seed", range(5))
def test_the_number_divides_the_rows_of_each_value(copies: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 60, 400).tolist() * copies
    sizes = Counter(Counter(rows).values())
    found = count_copies(list(sizes), list(sizes.values()))
    assert found == gcd(*sizes)
    assert found == copies  # so many random classes have no other divisor


def test_few_classes_are_no_evidence() -> None:
    assert count_copies([2], [MIN_CLASSES - 1]) == 1
    assert count_copies([2], [MIN_CLASSES]) == 2
    assert count_copies([], []) == 1
