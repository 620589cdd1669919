"""Scores under a copula against sums over the binomial law of the people outside the sample."""

import mpmath as mp
import numpy as np
import pytest

from reid_sql.models.copula.calibration import record_risk
from reid_sql.models.copula.gaussian_copula import CopulaCells
from tests.cells import each_cell


def cells(q: float, records: int, count: int = 1) -> CopulaCells:
    return CopulaCells(np.full(count, q), np.zeros(count), np.full(count, "ok"), records)


def by_summing(q: float, seen: int, unseen: int) -> tuple[float, float]:
    """P(F = 1) and E[1/F], F = seen + Binomial(unseen, q), term by term."""
    mp.mp.dps = 30
    of_size = [
        mp.binomial(unseen, x) * mp.mpf(q) ** x * (1 - mp.mpf(q)) ** (unseen - x)
        for x in range(unseen + 1)
    ]
    unique = of_size[0] if seen == 1 else mp.mpf(0)
    return float(unique), float(sum(chance / (seen + x) for x, chance in enumerate(of_size)))


@each_cell("q", [1e-9, 0.01, 0.3, 0.999])
@each_cell("seen", [1, 2, 40])
@each_cell("people", [50, 51, 350])
def test_scores_of_a_known_sample_are_those_of_the_people_outside_it(
    q: float, seen: int, people: int
) -> None:
    xi, kappa = cells(q, 50).known(np.array([seen]), people)
    want_xi, want_kappa = by_summing(q, seen, people - 50)
    assert xi[0] == pytest.approx(want_xi, rel=1e-9, abs=1e-300)
    assert kappa[0] == pytest.approx(want_kappa, rel=1e-9)


@pytest.mark.parametrize("people", [10, 50])
def test_a_sample_that_is_the_population_is_counted(people: int) -> None:
    seen = np.array([1, 2, 5])
    risk = record_risk(cells(0.2, 50, 3), seen, people, "known")
    np.testing.assert_allclose(risk.uniqueness_xi, [1, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(risk.correctness_kappa, 1 / seen, rtol=1e-12)


def test_a_sample_of_the_person_alone_is_the_case_in_which_nothing_is_known() -> None:
    alone = cells(0.01, 1)
    xi, kappa = alone.known(np.array([1]), 300)
    assert xi == pytest.approx(alone.uniqueness(300))
    assert kappa == pytest.approx(alone.correctness(300))


@pytest.mark.parametrize("sample", ["ignored", "known"])
def test_the_error_of_uniqueness_is_its_slope_times_that_of_the_probability(sample: str) -> None:
    step, people, size = 1e-7, 350.0, np.array([1])
    low, high = (
        record_risk(cells(q, 50), size, people, sample) for q in (0.01 - step, 0.01 + step)
    )
    slope = (low.uniqueness_xi - high.uniqueness_xi) / (2 * step)
    inexact = CopulaCells(np.array([0.01]), np.array([1e-4]), np.array(["ok"]), 50)
    error = record_risk(inexact, size, people, sample).uniqueness_xi_error
    assert error == pytest.approx(1e-4 * slope, rel=1e-5)
