"""A copula whose records repeat more often than the sample's is doubted, and heaps have their own shares."""

import numpy as np
import pytest

from reid_sql.models.copula.copula_fit import fit_copula
from reid_sql.models.copula.gaussian_copula import GaussianCopula, forecast_copula
from reid_sql.models.copula.marginals import fit_marginal
from reid_sql.models.evidence import rows_from_columns
from reid_sql.parameters import Integers


def fit_to(codes: Integers, method: str = "paper") -> GaussianCopula:
    columns = {f"c{j}": [str(value) for value in own] for j, own in enumerate(codes.T.tolist())}
    return fit_copula(rows_from_columns(columns), method=method)


def houses(records: int) -> Integers:
    place = np.random.default_rng(2).permutation(10_000)[:records]
    return np.stack([place // 20, place % 20], axis=1)


@pytest.mark.parametrize("method", ["paper", "calibrated", "sharp"])
def test_a_street_and_a_house_number_are_doubted(method: str) -> None:
    codes = houses(800)
    model = fit_to(codes, method)
    assert "fewer_repeats: " in model.status
    assert "no_repeats: " in model.status
    assert "fewer_repeats: " in forecast_copula(model, [10_000])[0].status
    records = [[str(value) for value in own] for own in codes[:3].T.tolist()]
    assert all(
        "fewer_repeats: " in one for one in model.cell_probability(records).status_at(1e4).tolist()
    )


def test_a_few_houses_show_at_least_that_nothing_repeats() -> None:
    assert "no_repeats: " in fit_to(houses(100)).status


def test_columns_that_go_their_own_ways_repeat_as_expected() -> None:
    rng = np.random.default_rng(5)
    codes = np.stack([rng.integers(0, 200, 800), rng.integers(0, 20, 800)], axis=1)
    assert fit_to(codes).status == "ok"


def test_a_heap_of_an_ordered_column_has_its_own_share() -> None:
    """Of 600 incomes 150 are 0; the others are a negative binomial, whose shares are known."""
    rng = np.random.default_rng(8)
    incomes = np.concatenate([np.zeros(150, dtype=int), 5 + rng.negative_binomial(4, 0.08, 450)])
    values, counts = np.unique(incomes, return_counts=True)
    marginal = fit_marginal(
        [str(value) for value in values.tolist()], counts.tolist(), ordered=True
    )
    assert marginal.family == "negative binomial"
    assert marginal.shares[0] == pytest.approx(150 / 600, abs=0.01)
    near = [marginal.shares[marginal.values.index(str(value))] for value in (45, 46)]
    assert near[0] == pytest.approx(near[1], rel=0.1)  # smoothed, and so alike


def test_without_a_heap_a_column_is_smoothed_whole() -> None:
    drawn = np.random.default_rng(9).negative_binomial(4, 0.08, 600)
    values, counts = np.unique(drawn, return_counts=True)
    marginal = fit_marginal(
        [str(value) for value in values.tolist()], counts.tolist(), ordered=True
    )
    assert marginal.family == "negative binomial"
    middle = [marginal.shares[marginal.values.index(str(value))] for value in range(40, 50)]
    assert np.abs(np.diff(np.log(middle))).max() < 0.1
