from fractions import Fraction
from itertools import combinations
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import (
    correctness_curve,
    correctness_from_probability,
    correctness_from_uniqueness,
    default_subset_sizes,
    uniqueness_curve,
    uniqueness_from_probability,
)
from tests.cells import each_cell


@given(st.floats(0, 1), st.floats(1, 8e9))
def test_probabilities_stay_probabilities_and_uniqueness_never_exceeds_correctness(
    p: float, n: float
) -> None:
    xi, kappa = float(uniqueness_from_probability(p, n)), float(correctness_from_probability(p, n))
    assert 0 <= xi <= kappa * (1 + 1e-12) <= 1 + 1e-12
    assert kappa * (1 + 1e-12) >= 1 / n


@given(st.floats(1e-6, 0.5), st.floats(2, 1e4))
def test_correctness_by_either_way_is_the_same(p: float, n: float) -> None:
    xi = uniqueness_from_probability(p, n)
    if xi > 1e-300:
        assert correctness_from_uniqueness(xi, n) == pytest.approx(
            float(correctness_from_probability(p, n)), rel=1e-6
        )


def test_arguments_broadcast() -> None:
    assert uniqueness_from_probability(np.array([[0.1], [0.2]]), [1, 2, 3]).shape == (2, 3)


@pytest.mark.parametrize("bad", [-1e-9, 1.0000001, float("nan"), float("inf")])
def test_what_is_no_probability_is_refused(bad: float) -> None:
    for function in (
        uniqueness_from_probability,
        correctness_from_probability,
        correctness_from_uniqueness,
    ):
        with pytest.raises(OutOfDomainError, match="must be a probability between 0 and 1, got"):
            function(bad, 10)
        with pytest.raises(OutOfDomainError, match="n must be a number of people of at least 1"):
            function(0.5, 0.99)


MILLION, BILLION = 10**6, 10**9
# Class sizes with their numbers of classes: all unique, mostly unique, one giant, many sizes, few equal ones.
HUGE = [
    {1: BILLION},
    {1: 9 * 10**8, 10**8: 1},
    {1: 1, 255: 1000, 256: 1000, 257: 1000, 258: 1000, 10**8: 9, 99_000_000: 1},
    {2: 5 * 10**8},
    {1000: MILLION},
    {10**8: 10},
    {3: 100_000_000, 12_345: 1000, 687_655: 1000},
]
SUBSETS = [
    1,
    2,
    17,
    255,
    256,
    257,
    300,
    5000,
    31_623,
    MILLION,
    44_444_444,
    500_000_000,
    899_999_999,
]

few_counts = st.dictionaries(st.integers(1, 60), st.integers(1, 3), min_size=1, max_size=4)
class_counts = st.dictionaries(st.integers(1, 400), st.integers(1, 5), min_size=1, max_size=5)


def histogram(classes: dict[int, int]) -> Histogram:
    sizes = np.array(sorted(classes))
    counts = np.array([classes[size] for size in sizes])
    return Histogram(sizes, counts, sizes * counts)


def fractions(classes: dict[int, int], n: int) -> tuple[Fraction, Fraction]:
    records = sum(size * count for size, count in classes.items())
    every = comb(records, n)
    seen = sum(count * (every - comb(records - size, n)) for size, count in classes.items())
    alone = sum(count * size * comb(records - size, n - 1) for size, count in classes.items())
    return Fraction(seen, every * n), Fraction(alone, every * n)


def many_digits(classes: dict[int, int], n: int) -> tuple[float, float]:
    records = sum(size * count for size, count in classes.items())

    def ways(people: int, drawn: int) -> mpmath.mpf:
        if drawn > people:
            return mpmath.mpf(0)
        return mpmath.exp(
            mpmath.loggamma(people + 1)
            - mpmath.loggamma(people - drawn + 1)
            - mpmath.loggamma(drawn + 1)
        )

    with mpmath.workdps(60):
        every = ways(records, n)
        seen = sum(count * (1 - ways(records - size, n) / every) for size, count in classes.items())
        alone = sum(
            count * size * ways(records - size, n - 1) / every for size, count in classes.items()
        )
        return float(seen / n), float(alone / n)


def test_is_the_mean_over_all_subsets() -> None:
    people = "aaaabbcd"
    table = histogram({4: 1, 2: 1, 1: 2})
    for n in range(1, len(people) + 1):
        drawn = list(combinations(people, n))
        correct = np.mean([len(set(subset)) / n for subset in drawn])
        unique = np.mean([sum(subset.count(one) == 1 for one in subset) / n for subset in drawn])
        assert correctness_curve(table, n) == pytest.approx(correct, rel=1e-13)
        assert uniqueness_curve(table, n) == pytest.approx(unique, rel=1e-13)


@given(class_counts, st.data())
def test_agrees_with_fractions(classes: dict[int, int], data: st.DataObject) -> None:
    table = histogram(classes)
    n = data.draw(st.integers(1, int(table.records.sum())))
    correct, unique = fractions(classes, n)
    assert correctness_curve(table, n) == pytest.approx(float(correct), rel=1e-12)
    assert uniqueness_curve(table, n) == pytest.approx(float(unique), rel=1e-10, abs=1e-17)


@each_cell("classes", HUGE)
def test_keeps_ten_digits_of_a_billion_records(classes: dict[int, int]) -> None:
    table = histogram(classes)
    records = int(table.records.sum())
    subsets = [n for n in SUBSETS if n <= records] + [
        records - 1000,
        records - 2,
        records - 1,
        records,
    ]
    correct, unique = zip(*[many_digits(classes, n) for n in subsets], strict=True)
    assert correctness_curve(table, subsets) == pytest.approx(np.array(correct), rel=1e-12)
    assert uniqueness_curve(table, subsets) == pytest.approx(np.array(unique), rel=1e-10, abs=1e-17)


@settings(max_examples=12)
@given(few_counts)
def test_the_next_record_adds_a_class_as_often_as_it_is_unique(classes: dict[int, int]) -> None:
    table = histogram(classes)
    n = np.arange(1, int(table.records.sum()) + 1)
    kappa, xi = correctness_curve(table, n), uniqueness_curve(table, n)
    assert np.diff(n * kappa) == pytest.approx(xi[1:], abs=1e-9)
    assert (np.diff(kappa) <= 1e-12).all()
    assert (xi <= kappa + 1e-12).all()


@given(class_counts)
def test_begins_at_one_and_ends_at_the_table(classes: dict[int, int]) -> None:
    table = histogram(classes)
    records = int(table.records.sum())
    assert correctness_curve(table, [1, records]).tolist() == [
        1.0,
        pytest.approx(table.classes.sum() / records, rel=1e-12),
    ]
    assert uniqueness_curve(table, [1, records]).tolist() == [
        1.0,
        pytest.approx(classes.get(1, 0) / records, rel=1e-12),
    ]


def test_has_the_shape_of_the_sizes() -> None:
    table = histogram({1: 3, 2: 2})
    assert correctness_curve(table, 3).shape == ()
    assert uniqueness_curve(table, [[1, 2, 3], [4, 5, 6]]).shape == (2, 3)
    assert correctness_curve(table, []).shape == (0,)


@pytest.mark.parametrize("bad", [0, -1, 1.5, 8, float("nan"), float("inf")])
def test_what_is_no_size_of_a_subset_is_refused(bad: float) -> None:
    table = histogram({1: 3, 2: 2})
    for curve in (correctness_curve, uniqueness_curve):
        with pytest.raises(
            OutOfDomainError,
            match=r"sizes must be whole numbers from 1 to the 7 records .*, got .*; pass",
        ):
            curve(table, [1, bad])


def test_no_records_and_classes_that_overlap_are_refused() -> None:
    none = np.array([], dtype=np.int64)
    with pytest.raises(NoRecordsError, match="at least one record"):
        correctness_curve(Histogram(none, none, none), [1])
    overlapping = Histogram(
        np.array([3]), np.array([2]), np.array([5]), blank_records=np.array([0])
    )
    with pytest.raises(
        OutOfDomainError, match=r"classes that do not overlap.*got 5 for 6; use nulls"
    ):
        uniqueness_curve(overlapping, [1])


@given(st.integers(1, 10**12), st.integers(2, 200))
def test_default_sizes_span_the_table_and_are_distinct(records: int, points: int) -> None:
    sizes = default_subset_sizes(records, points)
    assert sizes[0] == 1
    assert sizes[-1] == records
    assert (np.diff(sizes) > 0).all()
    assert sizes.size <= points


def test_default_sizes_refuse_nothing_to_measure() -> None:
    with pytest.raises(
        OutOfDomainError, match="records must be a whole number of at least 1, got 0"
    ):
        default_subset_sizes(0)
    with pytest.raises(
        OutOfDomainError, match="points must be a whole number of at least 2, got 1"
    ):
        default_subset_sizes(10, points=1)
