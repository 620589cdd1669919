import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import (
    correctness_curve,
    default_subset_sizes,
    uniqueness_curve,
)
from reid_sql.models.pyc.extrapolation import (
    STATUS_BEYOND,
    STATUS_FEW_SIZES,
    STATUS_NO_ERRORS,
    extrapolate,
)
from reid_sql.models.pyc.measurements import SURPRISAL, surprisal_kernel
from reid_sql.models.pyc.tilted_curve import tilt_law
from reid_sql.parameters import Floats

BASE = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
KERNEL = np.array([[1.0, 1, 1, 1, 1], [0.9, 0.7, 0.5, 0.2, 0.1], [0.99, 0.9, 0.8, 0.6, 0.2]])
MEASURED = np.array([1.0, 0.55, 0.78])
ERRORS = np.array([1e-3, 2e-2, 5e-2])


def loss(mass: np.ndarray) -> float:
    divergence = mass @ np.log(mass / BASE) - mass.sum() + 1
    return float(divergence + (((KERNEL @ mass / MEASURED - 1) / ERRORS) ** 2).sum() / 2)


def test_no_other_law_is_nearer_by_a_search_of_the_primal() -> None:
    found = tilt_law(BASE, KERNEL, MEASURED, ERRORS)
    primal = minimize(
        loss,
        BASE,
        bounds=[(1e-9, 1)] * 5,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 9999},
    )
    assert found.settled
    assert found.mass == pytest.approx(primal.x, abs=1e-4)
    assert loss(found.mass) <= primal.fun + 1e-9
    assert found.misfit == pytest.approx(
        np.sqrt(np.mean(((KERNEL @ found.mass / MEASURED - 1) / ERRORS) ** 2)), rel=1e-6
    )


def test_a_base_that_meets_the_points_stays() -> None:
    found = tilt_law(BASE, KERNEL, KERNEL @ BASE, ERRORS)
    assert found.mass == pytest.approx(BASE)
    assert found.misfit < 1e-6


def test_influence_is_the_change_that_a_moved_point_makes() -> None:
    found, weights = tilt_law(BASE, KERNEL, MEASURED, ERRORS), np.array([0.0, 0.1, 0.5, 0.8, 1.0])
    for place in range(3):
        moved = MEASURED.copy()
        moved[place] *= 1 + 1e-5
        change = (tilt_law(BASE, KERNEL, moved, ERRORS).mass - found.mass) @ weights / 1e-5
        assert found.influence(weights)[place] == pytest.approx(change, rel=0.08, abs=2e-3)


def test_points_that_no_law_meets_are_missed_and_said() -> None:
    found = tilt_law(BASE, KERNEL[1:], np.array([0.95, 0.3]), np.array([1e-3, 1e-3]))
    assert found.misfit > 10 or not found.settled


def test_points_that_contradict_each_other_beyond_rounding_end_in_a_law() -> None:
    # A curve that hardly falls over six decades and then is gone: drawn at random, it had no inverse
    # curvature.
    kernel = np.exp(-np.outer([1e-8, 1e-6, 1e-2, 1, 1e2], np.geomspace(1e-9, 1, 200)))
    found = tilt_law(
        np.full(200, 1 / 200), kernel, np.array([0.9, 0.9, 0.8, 0.5, 1e-3]), np.full(5, 1e-9)
    )
    assert np.isfinite(found.mass).all()
    assert np.isfinite(found.influence(kernel)).all()


def people() -> Histogram:
    """Make a town of sets of 1, 2, 4, … people, fewer the larger: neither Pitman–Yor nor lognormal."""
    sizes = 2 ** np.arange(10)
    classes = np.round(3000 * sizes**-0.8 * np.linspace(1, 0.2, 10)).astype(np.int64)
    return Histogram(sizes, classes, sizes * classes)


TOWN = people()
RECORDS = int(TOWN.records.sum())


def among(share: float, points: int = 50) -> tuple[Floats, Floats]:
    sizes = default_subset_sizes(round(RECORDS * share), points)[1:].astype(np.float64)
    return sizes, correctness_curve(TOWN, sizes)


def mixture(n: Floats) -> Floats:
    """Three kinds of sets in an endless population, as shares of people: counted from equation 1."""
    share, mass = np.array([1e-2, 1e-4, 1e-6]), np.array([0.3, 0.5, 0.2])
    return np.asarray((1 - (1 - share) ** n[:, None]) / (n[:, None] * share) @ mass)


def test_within_what_any_law_can_say_by_a_linear_programme() -> None:
    n, ahead = np.geomspace(2, 1e4, 9).round(), np.array([1e5])
    kappa = mixture(n)
    expected, target = surprisal_kernel("correctness", n), surprisal_kernel("correctness", ahead)[0]
    slack = 2e-3 * kappa
    ends = [
        linprog(
            sign * target,
            A_ub=np.r_[expected, -expected],
            b_ub=np.r_[kappa + slack, slack - kappa],
            A_eq=np.ones((1, SURPRISAL.size)),
            b_eq=[1.0],
        )
        for sign in (1, -1)
    ]
    found = extrapolate(n, kappa, ahead, standard_errors=[1e-4])
    assert ends[0].fun <= found.correctness[0] <= -ends[1].fun
    answer = found.answers["correctness"]
    assert answer.low[0] <= mixture(ahead)[0] <= answer.high[0]


@pytest.mark.parametrize(("share", "error"), [(0.3, 0.005), (0.1, 0.02)])
def test_a_town_is_predicted_from_a_part_better_than_by_the_papers_curve(
    share: float, error: float
) -> None:
    truth = correctness_curve(TOWN, [RECORDS])[0]
    tilted, pyc = (
        float(extrapolate(*among(share), RECORDS, method).correctness)
        for method in ("tilted", "pyc")
    )
    assert abs(tilted - truth) < error
    assert abs(tilted - truth) < abs(pyc - truth)


def test_uniqueness_and_correctness_tell_each_other() -> None:
    sizes, kappa = among(0.3)
    xi = uniqueness_curve(TOWN, sizes)
    truth = (correctness_curve(TOWN, [RECORDS])[0], uniqueness_curve(TOWN, [RECORDS])[0])
    for shares, measure in ((kappa, "correctness"), (xi, "uniqueness")):
        found = extrapolate(sizes, shares, [RECORDS], measure=measure)
        assert found.answers["correctness"].value[0] == pytest.approx(truth[0], abs=0.02)
        assert found.answers["uniqueness"].value[0] == pytest.approx(truth[1], abs=0.04)
    assert set(extrapolate(sizes, xi, [RECORDS], "exp", measure="uniqueness").answers) == {
        "uniqueness"
    }


def test_the_share_in_small_sets_extrapolates() -> None:
    n = np.geomspace(50, 5e4, 20).round()
    share, mass = np.array([1e-2, 1e-3, 1e-5]), np.array([0.3, 0.5, 0.2])

    def below_3(sizes: Floats) -> Floats:
        others = sizes[:, None] - 1
        none, one = (1 - share) ** others, others * share * (1 - share) ** (others - 1)
        return np.asarray((none + one) @ mass)

    found = extrapolate(n, below_3(n), [2e5], measure="k_violation", k=3)
    assert found.answers["k_violation"].value[0] == pytest.approx(
        below_3(np.array([2e5]))[0], abs=0.02
    )


def test_noise_is_not_followed_and_widens() -> None:
    sizes, kappa = among(0.3, 14)
    noisy = np.minimum(kappa * (1 + 0.01 * np.resize([1, -1], kappa.size)), 1)
    truth = correctness_curve(TOWN, [RECORDS])[0]
    exact, rough = (
        extrapolate(sizes, shares, [RECORDS], standard_errors=errors)
        for shares, errors in ((kappa, [0]), (noisy, [0.01]))
    )
    assert rough.correctness[0] == pytest.approx(truth, abs=0.05)
    widths = [
        found.answers["correctness"].high - found.answers["correctness"].low
        for found in (exact, rough)
    ]
    assert widths[0] < widths[1]


def test_errors_that_nobody_reported_are_found() -> None:
    sizes, kappa = among(0.3, 14)
    noisy = np.minimum(kappa * (1 + 0.01 * np.resize([1, -1], kappa.size)), 1)
    found = extrapolate(sizes, noisy, [RECORDS])
    assert found.status == STATUS_NO_ERRORS
    reported = extrapolate(sizes, noisy, [RECORDS], standard_errors=[1e-6])
    assert "standard errors (root mean square) away from the curve" in reported.status


def test_far_away_and_few_points_are_said() -> None:
    sizes, kappa = among(0.01)
    people = [20 * sizes[-1], 40 * sizes[-1]]
    near, far = extrapolate(sizes, kappa, people, standard_errors=[0.0]).statuses
    assert near == "ok"
    assert far.startswith(STATUS_BEYOND)
    assert extrapolate(sizes, kappa, people).statuses == (
        STATUS_NO_ERRORS,
        f"{STATUS_NO_ERRORS}; {far}",
    )
    assert (
        extrapolate([100, 1000, 2000], [0.98, 0.85, 0.76], 4000).status
        == f"{STATUS_FEW_SIZES}; {STATUS_NO_ERRORS}"
    )


def test_answers_fall_through_the_step_between_near_and_far() -> None:
    sizes, kappa = among(0.01)
    found = extrapolate(sizes, kappa, sizes[-1] * np.geomspace(1, 1e6, 400))
    for answer in found.answers.values():
        assert (np.diff(answer.value) <= 1e-12).all()
        assert (answer.low <= answer.value).all()
        assert (answer.value <= answer.high).all()


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        (
            [2.78, 4.54, 444.5, 378561, 2.37e7, 1.74e8],
            [0.935, 0.8576, 0.816, 0.7298, 0.54408, 0.0037358],
        ),
        ([67.5, 809.5, 9505, 102608, 6.45e7], [0.67095, 0.64754, 0.61573, 0.12516, 0.0292914]),
        (
            [4.5, 413, 14207, 97544, 2.16e8, 2.51e8],
            [0.732246, 0.6147, 0.029337, 0.7195, 0.016976, 0.7582],
        ),
    ],
)
def test_points_that_no_curve_meets_are_answered_and_said(
    sizes: list[float], shares: list[float]
) -> None:
    found = extrapolate(sizes, shares, np.geomspace(1, 8e9, 60))
    assert (np.diff(found.correctness) <= 1e-12).all()
    assert ((found.correctness > 0) & (found.correctness <= 1)).all()
    assert found.status != "ok"
