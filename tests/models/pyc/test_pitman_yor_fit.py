import mpmath
import numpy as np
import pytest

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.numerics.quantiles import quantiles_by_weight
from reid_sql.models.pyc.pitman_yor import (
    Prior,
    fit_groups,
    fit_pitman_yor,
    log_likelihood,
    measure_misfit,
    parameters,
    widen_interval,
)
from reid_sql.models.pyc.pitman_yor_forecast import STATUS_COVERAGE, forecast_pitman_yor
from tests.pitman_yor import entropy_and_tail
from tests.urn import histogram_of, population


def partition_probability(sizes: list[int], d: float, alpha: float) -> mpmath.mpf:
    """Seat the people one by one: each joins a class by its size less d, or opens one."""
    probability, seated = mpmath.mpf(1), 0
    for classes, size in enumerate(sizes):
        for place in range(size):
            weight = alpha + classes * mpmath.mpf(d) if place == 0 else place - mpmath.mpf(d)
            probability *= weight / (alpha + seated)
            seated += 1
    return probability


@pytest.mark.parametrize(
    ("entropy", "tail"),
    [(1.0, 0.0), (2.0, 0.5), (4.0, 0.95), (2.0, -0.5), (3.0, -8.0), (1.0, 1e-9)],
)
def test_the_likelihood_is_that_of_seating_people_one_by_one(entropy: float, tail: float) -> None:
    d, alpha = (float(value) for value in parameters(entropy, tail))
    partitions = [[1, 1, 1], [2, 1], [3], [5, 2, 2, 1, 1]]
    found = [
        float(log_likelihood(histogram_of(np.array(sizes)), entropy, tail)) for sizes in partitions
    ]
    with mpmath.workdps(40):
        exact = [
            float(mpmath.log(partition_probability(sizes, d, mpmath.mpf(alpha))))
            for sizes in partitions
        ]
    assert found == pytest.approx(exact, abs=1e-6)


def test_more_classes_than_there_can_be_are_impossible() -> None:
    five_sets = entropy_and_tail(-1e6, 5e6)
    assert log_likelihood(histogram_of(np.ones(7, dtype=np.int64)), *five_sets) == -np.inf


def test_the_mode_is_no_worse_than_any_point_of_a_fine_grid() -> None:
    histogram = histogram_of(population(0.3, 20.0, 3_000, seed=2).sizes)
    found, _ = fit_pitman_yor(histogram, "flat")
    h, gamma = np.meshgrid(np.linspace(2, 8, 120), np.linspace(-0.5, 0.9, 120))
    best = log_likelihood(histogram, found.entropy, found.tail)
    assert best >= log_likelihood(histogram, h.ravel(), gamma.ravel()).max() - 1e-6


@pytest.mark.parametrize("prior", ["archer", "flat"])
def test_the_posterior_of_a_large_table_lies_around_its_mode(prior: Prior) -> None:
    # Narrow ridges, which a first lattice over the whole box misses: its own points would be far below.
    sizes = 2 ** np.arange(20)
    for histogram in (
        Histogram(sizes, sizes[::-1].copy(), sizes * sizes[::-1]),
        Histogram(np.array([2]), np.array([100_000]), np.array([200_000])),
    ):
        found, posterior = fit_pitman_yor(histogram, prior)
        likely = posterior.weight > 1e-6 * posterior.weight.max()
        values = log_likelihood(histogram, posterior.entropy[likely], posterior.tail[likely])
        assert values.min() > float(log_likelihood(histogram, found.entropy, found.tail)) - 30


def test_the_same_histogram_gives_the_same_fit() -> None:
    histogram = histogram_of(population(0.3, 20.0, 1_000, seed=3).sizes)
    assert fit_pitman_yor(histogram)[0] == fit_pitman_yor(histogram)[0]


GROUPS = [
    histogram_of(np.array(sizes, dtype=np.int64))
    for sizes in ([1] * 22, [3, 3, 4, 10, 69], [34], [2] * 600, [1] * 15 + [2], [500] + [1] * 300)
]


def test_groups_together_are_fitted_as_each_alone_in_any_order() -> None:
    alone = [fit_pitman_yor(group)[0] for group in GROUPS]
    assert fit_groups(GROUPS) == alone
    assert fit_groups(GROUPS[::-1]) == alone[::-1]


@pytest.mark.parametrize("group", GROUPS)
def test_the_interval_has_the_weight_of_the_posterior_also_where_that_ends_at_its_edge(
    group: Histogram,
) -> None:
    """Against a regular grid that closes in on the posterior: flat in h, exp(−10 / (1 − γ)) in γ."""
    box = np.array([[1e-3, 60.0], [0.0, 0.999]])
    for _ in range(5):
        sides = [np.linspace(low, high, 201) for low, high in box]
        middles = [(side[1:] + side[:-1]) / 2 for side in sides]
        h, gamma = np.meshgrid(*middles, indexing="ij")
        density = log_likelihood(group, h, gamma) - 10 / (1 - gamma)
        likely = density > density.max() - 25
        for axis, side in enumerate(sides):
            inside = np.flatnonzero(likely.any(axis=1 - axis))
            box[axis] = side[max(inside[0] - 1, 0)], side[min(inside[-1] + 2, 200)]
    weight = np.exp(density - density.max())
    weight /= weight.sum()
    _, posterior = fit_pitman_yor(group)
    shares = (0.025, 0.975)
    for axis, values in enumerate((posterior.entropy, posterior.tail)):
        ends = quantiles_by_weight(values, posterior.weight, shares)
        below = np.concatenate([[0.0], np.cumsum(weight.sum(axis=1 - axis))])
        assert np.interp(ends, sides[axis], below) == pytest.approx(shares, abs=0.012)


def test_a_billion_records_in_classes_of_up_to_a_hundred_million() -> None:
    sizes = np.array([1, 10, 1_000, 10**8], dtype=np.int64)
    classes = np.array([10**7, 10**6, 10**5, 8], dtype=np.int64)
    found, _ = fit_pitman_yor(Histogram(sizes, classes, sizes * classes))
    assert np.isfinite([found.entropy_low, found.entropy, found.entropy_high]).all()


def test_what_the_data_cannot_bound_is_said() -> None:
    assert fit_pitman_yor(histogram_of(np.ones(500, dtype=np.int64)))[0].status.startswith(
        "all_unique: "
    )
    assert fit_pitman_yor(histogram_of(np.array([500])))[0].status.startswith("all_equal: ")


def test_empty_tables_and_overlapping_classes_are_refused() -> None:
    nothing = np.array([], dtype=np.int64)
    with pytest.raises(NoRecordsError):
        fit_pitman_yor(Histogram(nothing, nothing, nothing))
    overlapping = Histogram(
        np.array([2]), np.array([3]), np.array([3]), blank_records=np.array([0])
    )
    with pytest.raises(OutOfDomainError, match="classes that do not overlap"):
        fit_pitman_yor(overlapping)


def test_quantiles_of_equal_weights_are_those_of_the_values() -> None:
    values = np.arange(1000.0)
    assert quantiles_by_weight(values, np.full(1000, 1e-3), (0.025, 0.5)) == pytest.approx(
        [24.5, 499.5]
    )


TWO_KINDS = np.r_[
    np.full(20, 500), np.ones(9_000, dtype=np.int64)
]  # large classes and unique people: no Pitman–Yor process


def test_a_table_of_the_process_is_fitted_closely_and_one_of_two_kinds_is_not() -> None:
    own, other = histogram_of(population(0.4, 20.0, 20_000, seed=4).sizes), histogram_of(TWO_KINDS)
    assert measure_misfit(own, fit_pitman_yor(own)[0]) < 0.2
    assert measure_misfit(other, fit_pitman_yor(other)[0]) > 0.5


def test_the_forecast_of_a_poor_fit_says_so_and_is_wider() -> None:
    row = forecast_pitman_yor(histogram_of(TWO_KINDS), [1e6])[0]
    assert "misfit: the model differs from the sample's curve" in row.status
    assert row.correctness_high - row.correctness_low > 0.2
    close = forecast_pitman_yor(histogram_of(population(0.4, 20.0, 20_000, seed=4).sizes), [1e6])[0]
    assert close.status == STATUS_COVERAGE
    assert close.correctness_high - close.correctness_low < 0.1


@pytest.mark.parametrize("interval", [(0.5, 0.4, 0.7), (0.001, 0.0, 0.2), (0.99, 0.9, 1.0)])
def test_widening_never_narrows_and_stays_between_0_and_1(
    interval: tuple[float, float, float],
) -> None:
    value, low, high = widen_interval(interval, 0.7, 100.0)
    assert value == interval[0]
    assert 0 <= low <= interval[1] <= interval[2] <= high <= 1


def test_without_growth_or_at_the_ends_nothing_moves() -> None:
    assert widen_interval((0.5, 0.4, 0.7), 0.7, 1.0) == (0.5, 0.4, 0.7)
    assert widen_interval((1.0, 0.4, 1.0), 0.7, 10.0) == (1.0, 0.4, 1.0)
