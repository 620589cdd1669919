"""What the first tier leaves of tests/models/pyc/test_pitman_yor.py."""

from collections.abc import Iterator
from fractions import Fraction
from math import prod

import mpmath as mp
import pytest
from hypothesis import given

from reid_sql.models.pyc.pitman_yor import (
    correctness,
    k_violation,
    parameters,
    uniqueness,
)
from tests.cells import each_cell
from tests.models.pyc.test_pitman_yor import digits, entropies, process, tails
from tests.pitman_yor import entropy_and_tail


def partitions(n: int) -> Iterator[list[int]]:
    """Class sizes of every set partition of n people: each joins a class that there is, or opens one."""
    if n == 0:
        yield []
        return
    for sizes in partitions(n - 1):
        for joined in range(len(sizes)):
            yield [size + (place == joined) for place, size in enumerate(sizes)]
        yield [*sizes, 1]


def partition_probability(sizes: list[int], d: Fraction, alpha: Fraction) -> Fraction:
    """Pitman 1995: the exchangeable partition probability function."""
    classes = prod((alpha + i * d for i in range(1, len(sizes))), start=Fraction(1))
    within = prod((i - d for size in sizes for i in range(1, size)), start=Fraction(1))
    return classes * within / prod((alpha + i for i in range(1, sum(sizes))), start=Fraction(1))


@each_cell(
    "d, alpha",
    [
        ("1/2", "3"),
        ("9/10", "1/7"),
        ("0", "5/2"),
        ("1/100", "40"),
        ("-1/3", "4"),
        ("-7/2", "21"),
        ("-2", "5"),
        ("1/4", "1/1000"),
    ],
)
def test_every_partition_of_a_few_people_counted_one_by_one(d: str, alpha: str) -> None:
    discount, concentration = Fraction(d), Fraction(alpha)
    entropy, tail = entropy_and_tail(float(discount), float(concentration))
    for n in range(1, 9):
        chances = [
            (sizes, partition_probability(sizes, discount, concentration))
            for sizes in partitions(n)
        ]
        assert sum(chance for _, chance in chances) == 1
        classes = sum(len(sizes) * chance for sizes, chance in chances) / n
        assert correctness(entropy, tail, n) == pytest.approx(float(classes), rel=1e-9)
        for k in range(1, 11):
            below = (
                sum(sum(size for size in sizes if size < k) * chance for sizes, chance in chances)
                / n
            )
            assert k_violation(entropy, tail, n, k) == pytest.approx(float(below), rel=1e-9)
        alone = sum(sizes.count(1) * chance for sizes, chance in chances) / n
        assert uniqueness(entropy, tail, n) == pytest.approx(float(alone), rel=1e-9)


@given(entropies, tails)
def test_parameters_solve_equation_2(entropy: float, tail: float) -> None:
    discount, concentration = (float(value) for value in parameters(entropy, tail))
    with mp.workdps(digits(entropy, tail)):
        d, alpha = process(entropy, tail)
        if alpha < mp.mpf("1e308"):
            assert concentration == pytest.approx(float(alpha), rel=1e-12, abs=0)
            assert discount == pytest.approx(
                float(d), rel=1e-12, abs=2e-323
            )  # the smallest doubles have no digits
            assert [
                float(value) for value in entropy_and_tail(discount, concentration)
            ] == pytest.approx([entropy, tail], rel=1e-11)
