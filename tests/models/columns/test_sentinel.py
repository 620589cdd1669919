"""Marks for missing values, held against a loop over the numbers of small columns."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.columns.sentinel import CODES, NINES, NUMBERS, Numbers, Sentinel, sentinels

HIGH = {float(each) for each in (*NINES, *CODES)}
BELOW = {float(each) for each in NUMBERS if float(each) < 0}


def found(values: list[float]) -> set[float]:
    """What the rule gives, from the figures that an engine counts."""
    counts = Counter(values)
    others = sorted({value for value in values if value not in HIGH | BELOW})
    numbers = Numbers(len(others), others[0], others[-1]) if others else Numbers(0, 0, 0)
    candidates = [Sentinel(f"{v:g}", n) for v, n in counts.items() if v in HIGH | BELOW]
    return {float(mark.text) for mark in sentinels(candidates, numbers)}


def looked_for(values: list[float]) -> set[float]:
    """The same by going through the values in their order, and looking at the gap below each."""
    counts = Counter(values)
    plain = sorted({value for value in values if value not in HIGH | BELOW})
    if not plain:
        return set()
    gaps = [after - before for before, after in pairwise(plain)]
    usual = max([1.0, sum(gaps) / len(gaps)] if gaps else [1.0])
    marks: set[float] = set()
    for value in sorted(set(values)):
        if value in BELOW and min(plain) >= 0:
            marks.add(value)
        below = [other for other in set(values) - marks if other < value and other not in BELOW]
        alone = counts[value] == 1 or value in set(map(float, CODES))
        if (
            value in HIGH
            and value > max(plain)
            and value - max(below) > usual
            and not (len(plain) > 20 and alone)
        ):
            marks.add(value)
    return marks


@given(st.lists(st.sampled_from([0, 1, 2, 3, 5, 8, 9, 10, 40, 96, 97, 98, 99, 999, -1, -9, -3]), max_size=25))
def test_numbers_beyond_a_gap_are_those_that_a_loop_finds(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert found(numbers) == looked_for(numbers)


@given(st.lists(st.integers(0, 99), min_size=60, max_size=90))
def test_among_many_numbers_a_mark_is_repeated(values: list[int]) -> None:
    numbers = [float(value) for value in values]
    assert found(numbers) == looked_for(numbers)


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([1, 2, 3, 4, 5, 9], {9}),  # codes, and one for unknown
        ([*range(1, 10)], set()),  # 9 ends no gap
        ([1, 3, 5, 7, 9], set()),  # nor here, where all are two apart
        ([*range(1, 100)], set()),  # hours of a week
        ([*range(17, 91), 99, 99], {99}),  # ages, and a code
        ([1, 2, 97, 98, 99], {97, 98, 99}),  # yes, no, and why there is no answer
        ([1, 2, 3, -1], {-1}),
        ([-3, 1, 2, -1], set()),  # numbers below zero are usual
        ([9, 99], set()),  # nothing that they would be marks beside
    ],
)
def test_figures_by_hand(values: list[int], marks: set[int]) -> None:
    assert found([float(value) for value in values]) == marks


@pytest.mark.parametrize(
    "text", ["?", "N/A", " unknown ", "", "  ", "NaN", "9999-99-99", "1900-01-01 00:00:00"]
)
def test_words_and_dates_are_told_by_themselves(text: str) -> None:
    assert sentinels([Sentinel(text, 3)], None) == [Sentinel(text, 3)]
