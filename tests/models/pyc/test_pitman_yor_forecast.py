from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.pyc.pitman_yor import Prior
from reid_sql.models.pyc.pitman_yor_forecast import (
    Urn,
    _expect_classes,
    _expect_records_of_size,
    forecast_pitman_yor,
)
from tests.cells import each_cell
from tests.urn import histogram_of, population


def seatings(
    sizes: tuple[int, ...], d: float, alpha: float, more: int
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every way in which so many more people can come, with its probability and the sizes it leads to."""
    if more == 0:
        yield 1.0, sizes
        return
    seen = sum(sizes)
    steps = [
        (size - d, (*sizes[:place], size + 1, *sizes[place + 1 :]))
        for place, size in enumerate(sizes)
    ]
    for weight, after in [*steps, (alpha + len(sizes) * d, (*sizes, 1))]:
        for probability, end in seatings(after, d, alpha, more - 1):
            yield weight / (alpha + seen) * probability, end


@pytest.mark.parametrize(("d", "alpha"), [(0.4, 2.0), (0.8, 0.3), (1e-9, 1.5), (-0.5, 4.0)])
def test_expected_classes_and_records_by_size_are_those_of_every_seating(
    d: float, alpha: float
) -> None:
    sample, more = (3, 1, 1), 4
    ways = list(seatings(sample, d, alpha, more))
    urn = Urn(np.array([d]), np.array([alpha]), sum(sample), len(sample))
    people = sum(sample) + more
    mean, spread = _expect_classes(urn, people)
    classes = sum(p * len(end) for p, end in ways)
    assert mean[0] == pytest.approx(classes, rel=1e-6)
    if abs(d) > 1e-3:
        assert spread[0] ** 2 == pytest.approx(
            sum(p * len(end) ** 2 for p, end in ways) - classes**2, rel=1e-6
        )
    histogram = histogram_of(np.array(sample))
    for size in range(1, people + 1):
        expected = sum(p * size * end.count(size) for p, end in ways)
        assert _expect_records_of_size(histogram, urn, people, size)[0][0] == pytest.approx(
            expected, rel=1e-6, abs=1e-9
        )


def test_at_the_samples_own_size_the_forecast_is_what_was_counted() -> None:
    sizes = population(0.4, 20.0, 2_000, seed=4).sizes
    found = forecast_pitman_yor(histogram_of(sizes), [2_000], k=5)[0]
    assert found.correctness_low == found.correctness == found.correctness_high
    assert found.correctness == pytest.approx(len(sizes) / 2_000)
    assert found.uniqueness == pytest.approx((sizes == 1).sum() / 2_000)
    assert found.k_violation == pytest.approx(sizes[sizes < 5].sum() / 2_000)


def test_forecasts_fall_with_the_population_and_stay_ordered() -> None:
    rows = forecast_pitman_yor(
        histogram_of(population(0.4, 20.0, 2_000, seed=4).sizes), [2e3, 1e4, 1e6, 8e9]
    )
    for before, after in pairwise(rows):
        assert 0 < after.correctness < before.correctness <= 1
        assert 0 < after.uniqueness < before.uniqueness
    for row in rows:
        assert row.correctness_low <= row.correctness <= row.correctness_high
        assert row.uniqueness_low <= row.uniqueness <= row.uniqueness_high
        assert row.uniqueness <= row.k_violation <= 1


def test_k_of_one_is_never_violated_and_k_of_two_by_unique_people() -> None:
    histogram = histogram_of(population(0.4, 20.0, 500, seed=4).sizes)
    assert forecast_pitman_yor(histogram, [5_000], k=1)[0].k_violation == 0
    two = forecast_pitman_yor(histogram, [5_000], k=2)[0]
    assert two.k_violation == pytest.approx(two.uniqueness)


def test_a_population_smaller_than_the_sample_is_refused() -> None:
    with pytest.raises(
        OutOfDomainError,
        match="population must be at least the 3 records of the sample, got 2; pass the size",
    ):
        forecast_pitman_yor(histogram_of(np.array([2, 1])), [10, 2])


@each_cell("prior", ["archer", "flat"])
@each_cell("records", [1, 2, 10, 1_000])
def test_where_all_records_are_unique_the_forecast_is_that_they_stay_so_and_the_interval_widens(
    records: int, prior: Prior
) -> None:
    rows = forecast_pitman_yor(
        histogram_of(np.ones(records, dtype=np.int64)),
        [records + 1, 100 * records, 8e9],
        prior=prior,
    )
    for row in rows:
        assert 0.99 < row.correctness <= 1
        assert 0.99 < row.uniqueness <= row.k_violation <= 1
    assert rows[0].correctness_low > rows[1].correctness_low > rows[2].correctness_low
