"""Benedetti and Franconi's risk against the sum over scipy's distribution, and sdcMicro's figure.

The figure is published.
"""

import numpy as np
import pytest
from scipy import stats

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.population import individual_risk, loglinear
from reid_sql.models.population.individual_risk import WeightedRecords
from tests.cells import each_cell


@each_cell(
    "seen, chance", [(1, 0.1), (2, 0.1), (3, 0.5), (12, 0.02), (50, 0.5), (150, 0.1), (400, 0.9)]
)
def test_the_risk_is_the_mean_over_the_people_there_may_be(seen: int, chance: float) -> None:
    others = np.arange(2_000_000)
    exact = float((stats.nbinom.pmf(others, seen, chance) / (seen + others)).sum())
    found = individual_risk.score_weighted_records(
        WeightedRecords(np.array([seen]), np.array([seen / chance], dtype=np.float64))
    ).risk[0]
    assert found == pytest.approx(exact, rel=1e-9)


def test_without_weights_it_is_one_over_the_class() -> None:
    found = individual_risk.score_weighted_records(
        WeightedRecords(np.array([1, 4]), np.array([1.0, 4.0]))
    )
    assert found.risk.tolist() == [1, 0.25]
    assert found.expected_reidentifications == 2


@pytest.mark.parametrize("form", ["exact", "approximate"])
def test_weights_add_up_to_a_population_that_there_may_be(form: individual_risk.Form) -> None:
    """As every function that takes a population: at most 1e15 people. Beyond, 1 - f/F rounds to 1."""
    one = np.array([1])
    allowed = individual_risk.score_weighted_records(
        WeightedRecords(one, np.array([1e15])), form
    ).risk[0]
    assert allowed == pytest.approx(1e-15 * np.log(1e15), rel=1e-12)
    for mass in (np.array([1.01e15]), np.array([1e18]), np.array([1e300]), np.full(3, 4e14)):
        with pytest.raises(
            OutOfDomainError, match=r"weights must add up to at most 1e\+15 people, got more"
        ):
            individual_risk.score_weighted_records(
                WeightedRecords(np.ones(len(mass), int), mass), form
            )


def test_the_approximate_form_is_near() -> None:
    weighted = WeightedRecords(np.arange(1, 200), np.linspace(10, 1990, 199))
    exact, near = (
        individual_risk.score_weighted_records(weighted, form).risk
        for form in ("exact", "approximate")
    )
    assert near[:2].tolist() == pytest.approx(exact[:2].tolist(), rel=1e-12)
    assert (np.abs(near / exact - 1) < 0.04).all()


def test_classes_that_weigh_too_little_count_as_whole() -> None:
    found = individual_risk.score_weighted_records(
        WeightedRecords(np.array([4, 1]), np.array([2.0, 1.0]))
    )
    assert found.risk.tolist() == [0.25, 1]
    assert found.status.startswith("light_weights: 4 records have too small weights")


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_bad_weights_are_refused(weight: float) -> None:
    with pytest.raises(OutOfDomainError, match="weight must be a number above 0 for every record"):
        individual_risk.score_weighted_records(
            WeightedRecords(np.array([4, 1]), np.array([weight, 1.0]))
        )


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(NoRecordsError):
        individual_risk.score_weighted_records(
            WeightedRecords(np.empty(0, dtype=np.int64), np.empty(0))
        )


def drawn(population: np.ndarray, weight: np.ndarray, seed: int) -> tuple[WeightedRecords, float]:
    """A sample of people, each with the chance 1/weight, and the sum of 1/F of its records."""
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(population)) < 1 / weight)
    _, place, size = np.unique(population, axis=0, return_inverse=True, return_counts=True)
    sample = population[rows]
    values, inverse, records = np.unique(sample, axis=0, return_inverse=True, return_counts=True)
    logs = np.zeros(len(values)) - (values.shape[1] - 1) * np.log(len(rows))
    for column, own in zip(values.T, sample.T, strict=True):
        logs += np.log([np.sum(own == value) for value in column])
    mass = np.bincount(inverse.ravel(), weight[rows]).astype(np.float64)
    return WeightedRecords(records, mass, None, logs), float((1 / size[place.ravel()[rows]]).sum())


@pytest.mark.parametrize("values", [(900, 80, 2), (60, 12, 2), (8, 4, 2)])
@pytest.mark.parametrize("strata", [1.0, 4.0])
def test_the_expected_number_is_that_of_right_matches(
    values: tuple[int, ...], strata: float
) -> None:
    """Populations of 50,000 whose classes are few people, some, and hundreds; counted."""
    rng = np.random.default_rng(len(str(values)))
    people = np.stack([rng.integers(0, many, 50_000) for many in values], axis=1)
    weight = np.where(people[:, -1] == 0, 40.0, 40.0 * strata)
    weighted, truth = drawn(people, weight, 3)
    found = individual_risk.score_weighted_records(weighted)
    assert found.expected_reidentifications == pytest.approx(truth, rel=0.25, abs=2)
    assert found.benedetti_franconi_sum == pytest.approx(
        individual_risk.score_weighted_records(
            WeightedRecords(weighted.records, weighted.mass)
        ).expected_reidentifications
    )
    is_lower = found.benedetti_franconi_sum < 0.8 * truth and truth > 5
    assert found.status.startswith("no_upper_bound: ") or not is_lower
    assert (found.status == "ok") == (values[0] < 900)


def test_one_column_of_full_classes_is_ok_and_lone_records_have_no_number() -> None:
    full = WeightedRecords(np.full(5, 100), np.full(5, 1000.0), None, np.log(np.full(5, 100.0)))
    answer = individual_risk.score_weighted_records(full)
    assert answer.status == "ok"
    assert answer.expected_reidentifications == answer.benedetti_franconi_sum < 5
    sizes = np.array([1, 1, 3])
    lone = WeightedRecords(
        sizes, (sizes * 10.0).astype(np.float64), None, np.log(sizes).astype(np.float64)
    )
    answer = individual_risk.score_weighted_records(lone)
    assert answer.status.startswith("no_expected_number: ")
    assert answer.expected_reidentifications is None


def test_the_expected_number_is_the_sum_over_negative_binomial_counts() -> None:
    """Classes of mean a q scatter by a gamma variable of the shape that is likeliest for the sizes."""
    rng = np.random.default_rng(5)
    sizes = 1 + rng.poisson(rng.gamma(0.7, 1 / 0.7, 400) * 3.0)
    weighted = WeightedRecords(
        sizes, (sizes * 8.0).astype(np.float64), None, np.full(400, np.log(3.0))
    )
    shape = loglinear.fit_shape(sizes, np.full(400, 3.0), np.ones(400))
    others = np.arange(4000)
    exact = 0.0
    for size in (
        sizes.tolist()
    ):  # given the class's records, its rate is gamma of shape a + f and rate a + μ
        law = stats.nbinom(shape + size, (shape + 3.0) / (shape + 24.0))
        exact += size * float((law.pmf(others) / (size + others)).sum())
    found = individual_risk.score_weighted_records(weighted).expected_reidentifications
    assert found == pytest.approx(exact, rel=1e-6)
