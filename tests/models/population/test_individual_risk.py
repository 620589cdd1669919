"""Benedetti and Franconi's risk against the sum over scipy's distribution, and sdcMicro's figure.

The figure is published.
"""

import numpy as np
import pytest
from scipy import stats

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.population import individual_risk
from reid_sql.models.population.individual_risk import WeightedRecords


@pytest.mark.parametrize(
    ("seen", "chance"),
    [(1, 0.1), (2, 0.1), (3, 0.5), (12, 0.02), (50, 0.5), (150, 0.1), (400, 0.9)],
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
