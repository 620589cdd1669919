import mpmath
import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError, ReidError, UnknownNameError
from reid_sql.models.pyc.extrapolation import STATUS_NEVER_FALLS, STATUS_NO_ERRORS, extrapolate
from reid_sql.parameters import Floats
from tests.cells import each_cell

METHODS = ("tilted", "pyc", "ent", "exp", "pol", "rnd")
PEOPLE = np.geomspace(1, 8e9, 60)


def pyc(entropy: float, tail: float, n: float) -> float:
    """Equation 13 in many digits, from entropy and tail by equation 2 solved in many digits."""
    with mpmath.workdps(50):
        one = mpmath.psi(0, 1)

        def inverse(value: mpmath.mpf) -> mpmath.mpf:
            guess = mpmath.exp(value) + 0.5 if value > -2 else -1 / (value - one)  # asymptotes of ψ
            return mpmath.findroot(
                lambda x: mpmath.psi(0, mpmath.exp(x)) - value, mpmath.log(guess)
            )

        d = 1 - mpmath.exp(inverse(one - mpmath.mpf(entropy) * tail))
        alpha = mpmath.exp(inverse(one + entropy - mpmath.mpf(entropy) * tail)) - 1
        ratio = mpmath.gammaprod([1 + alpha, n + d + alpha], [d + alpha, n + alpha])
        return float((ratio - alpha) / (n * d))


def measured(entropy: float, tail: float, most: float) -> tuple[Floats, list[float]]:
    sizes = np.unique(np.rint(np.geomspace(1, most, 50)))
    return sizes, [pyc(entropy, tail, n) for n in sizes]


def test_published_figure() -> None:
    # Rocher, Hendrickx & de Montjoye 2025, introduction: 0.99 among 100 and 0.80 among 1000 is 0.21 among
    # 10000.
    assert extrapolate([100, 1000], [0.99, 0.80], 10_000).correctness == pytest.approx(
        0.214, abs=5e-4
    )


@each_cell(
    "entropy, tail, most",
    [
        (5, -0.3, 1e3),
        (8, 0.2, 1e3),
        (8, 0.95, 1e5),
        (12, -1, 1e3),
        (12, 0.5, 1e4),
        (12, -0.2, 1e6),
        (18, 0.3, 1e4),
        (18, 0.1, 1e6),
        (25, 0.8, 1e4),
        (40, 0.5, 1e6),
    ],
)
def test_recovers_a_pitman_yor_curve_a_hundred_times_further(
    entropy: float, tail: float, most: float
) -> None:
    found = extrapolate(*measured(entropy, tail, most), [most, 100 * most], "pyc")
    assert found.correctness == pytest.approx(
        [pyc(entropy, tail, most), pyc(entropy, tail, 100 * most)], abs=1e-3
    )
    assert found.status == STATUS_NO_ERRORS


def test_recovers_entropy_and_tail_where_the_points_tell_them() -> None:
    found = extrapolate(*measured(9.0, 0.4, 1e6), 1e8, "pyc")
    assert found.parameters == {
        "entropy": pytest.approx(9.0, abs=1e-5),
        "tail": pytest.approx(0.4, abs=1e-5),
    }


@pytest.mark.parametrize(
    ("method", "curve", "parameters"),
    [
        # Among m equally large sets, n people fill m (1 − (1 − 1/m)^n) of them.
        (
            "ent",
            lambda n: np.minimum(500 / n * (1 - (1 - 1 / 500) ** n), 1),
            {"entropy": np.log(500)},
        ),
        ("exp", lambda n: 0.3 + 0.7 * np.exp(-0.01 * (n - 1)), {"floor": 0.3, "rate": 0.01}),
        (
            "pol",
            lambda n: 1 - 0.02 * np.log(n) - 0.004 * np.log(n) ** 2,
            {"linear": 0.02, "quadratic": 0.004},
        ),
    ],
)
def test_rules_of_thumb_recover_their_own_curves(
    method: str, curve: object, parameters: dict[str, float]
) -> None:
    assert callable(curve)
    sizes = np.unique(np.rint(np.geomspace(1, 1000, 30)))
    found = extrapolate(sizes, curve(sizes), 5000, method)
    assert found.status == STATUS_NO_ERRORS
    assert extrapolate(sizes, curve(sizes), 5000, method, standard_errors=[0.0]).status == "ok"
    assert found.parameters == {
        name: pytest.approx(value, rel=1e-5) for name, value in parameters.items()
    }
    assert found.correctness == pytest.approx(curve(5000.0), rel=1e-5)


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 2.0])
def test_a_decay_is_recovered_that_is_nearly_over_at_the_first_size(rate: float) -> None:
    sizes = [4, 5, 6, 8, 100]
    shares = [float(0.3 + 0.7 * mpmath.exp(-rate * (n - 1))) for n in sizes]
    found = extrapolate(sizes, shares, [7, 10_000], "exp")
    assert found.status == STATUS_NO_ERRORS
    assert found.parameters == {"floor": pytest.approx(0.3), "rate": pytest.approx(rate, rel=1e-4)}
    assert found.correctness == pytest.approx(
        [0.3 + 0.7 * float(mpmath.exp(-6 * rate)), 0.3], rel=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_order_and_repeats_and_size_one_make_no_difference(method: str) -> None:
    once = extrapolate([10, 100, 1000], [0.95, 0.8, 0.55], PEOPLE, method).correctness
    mixed = extrapolate([1000, 1, 10, 100], [0.55, 1, 0.95, 0.8], PEOPLE, method).correctness
    twice = extrapolate(
        [10, 100, 1000] * 2, [0.95, 0.78, 0.55, 0.95, 0.82, 0.55], PEOPLE, method
    ).correctness
    assert mixed.tolist() == once.tolist()
    assert twice == pytest.approx(once, rel=1e-5)


def test_a_size_measured_more_often_weighs_more() -> None:
    even = extrapolate([10, 100, 1000], [0.95, 0.7, 0.6], 1000, "ent").correctness
    more = extrapolate(
        [10, 100, 1000, *[100] * 9], [0.95, 0.7, 0.6, *[0.7] * 9], 1000, "ent"
    ).correctness
    assert more < even


@pytest.mark.parametrize("method", METHODS)
def test_the_same_points_give_the_same_answer(method: str) -> None:
    first, second = (extrapolate([20, 90, 400], [0.9, 0.7, 0.41], PEOPLE, method) for _ in range(2))
    assert first.correctness.tolist() == second.correctness.tolist()
    assert first.parameters == second.parameters


@each_cell("method", METHODS)
@each_cell(
    "kappa, members",
    [([1, 1, 1], 1.0), ([0.8, 0.8, 0.8], 0.8), ([0.7, 0.8, 0.9], 0.9), ([0.9, 0.6, 0.95], 0.95)],
)
def test_points_that_never_fall_leave_the_safe_answer(
    method: str, kappa: list[float], members: float
) -> None:
    found = extrapolate([10, 100, 1000], kappa, [2, 10, 1000, 8e9], method)
    assert found.correctness.tolist() == [1.0, members, members, members]
    assert found.status == STATUS_NEVER_FALLS
    assert found.parameters == {}


def test_noisy_points_let_the_curve_say_more_than_the_last_of_them() -> None:
    sizes, kappa = [10, 100, 1000, 1100, 1200], [0.99, 0.9, 0.6, 0.62, 0.5]
    for method in ("tilted", "pyc"):
        assert extrapolate(sizes, kappa, 1200, method).correctness > kappa[-1]
        assert (
            extrapolate(sizes, sorted(kappa, reverse=True), 1200, method).correctness <= kappa[-1]
        )


def test_a_status_says_what_stands_against_the_answer() -> None:
    assert (
        "misfit: the points are up to"
        in extrapolate([2, 10, 1e6], [0.9, 0.3, 0.25], 1e7, "ent").status
    )
    assert (
        "turns_upwards: the polynomial rises beyond"
        in extrapolate([10, 100, 1e6], [0.8, 0.6, 0.5], 1e9, "pol").status
    )
    assert (
        "at_edge: tail is at the end of its domain"
        in extrapolate([10, 1e6], [0.51, 0.5], 1e7).status
    )


@each_cell(
    "sizes, kappa, sentence",
    [
        ([0.5, 10], [0.9, 0.8], "sizes must be a number of people of at least 1 .*, got 0.5; pass"),
        (
            [10, 100],
            [0.9, 0],
            "correctness must be a share of right matches above 0 and at most 1, got 0; pass",
        ),
        ([10, 100], [1.01, 0.8], "at most 1, got 1.01; pass"),
        ([10, 100], [0.9, float("nan")], "at most 1, got nan; pass"),
        (
            [10, 100, 1000],
            [0.9, 0.8],
            "sizes and correctness must be as many, got 3 sizes and 2 shares; pass",
        ),
        (
            [10, 10],
            [0.9, 0.8],
            "sizes must contain at least two distinct sizes above 1, got 10; measure",
        ),
        ([1, 10], [1, 0.8], "at least two distinct sizes above 1, got 1, 10; measure"),
        ([], [], "at least two distinct sizes above 1, got none; measure"),
    ],
)
@each_cell("method", METHODS)
def test_points_that_say_nothing_are_refused(
    method: str, sizes: list[float], kappa: list[float], sentence: str
) -> None:
    with pytest.raises(OutOfDomainError, match=sentence):
        extrapolate(sizes, kappa, 1e4, method)


def test_populations_and_methods_outside_their_domain_are_refused() -> None:
    with pytest.raises(
        OutOfDomainError, match="populations must be a number of people of at least 1"
    ):
        extrapolate([10, 100], [0.9, 0.8], [1000, 0])
    with pytest.raises(
        UnknownNameError,
        match="method must be one of 'tilted', 'pyc', 'ent', 'exp', 'pol', 'rnd', got 'poly'",
    ):
        extrapolate([10, 100], [0.9, 0.8], 1000, "poly")
    assert issubclass(OutOfDomainError, ReidError)
