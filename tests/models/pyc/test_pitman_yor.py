from math import log
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares

from reid_sql.errors import OutOfDomainError
from reid_sql.models.pyc.pitman_yor import (
    MIN_UNIFORM_PRODUCT,
    correctness,
    k_violation,
    parameters,
    uniqueness,
)
from tests.cells import each_cell
from tests.pitman_yor import entropy_and_tail

MAX_BELOW_ONE = float(np.nextafter(1.0, 0.0))
ENTROPIES = [0.01, 0.7, 5.0, 17.0, 45.0]
TAILS = [
    -20.0,
    -2.5,
    -1.0,
    -1e-3,
    -1e-12,
    -1e-300,
    0.0,
    1e-200,
    1e-9,
    0.3,
    0.9,
    1 - 1e-6,
    1 - 1e-12,
    MAX_BELOW_ONE,
    1.0,
]
POPULATIONS = [1.0, 2.0, 7.25, 1000.0, 7.53e9, 8e9]

entropies = st.floats(log(0.01), log(45)).map(np.exp)
tails = st.one_of(st.floats(-20, 1), st.floats(-12, 0).map(lambda x: 1 - 10**x), st.just(0.0))
populations = st.floats(0, log(8e9)).map(np.exp)


def digits(entropy: float, tail: float) -> int:
    """Digits that textbook equation 13 needs: ln Γ of the concentration over what vanishes.

    That is the discount or the concentration.
    """
    vanishing = sum(-log(x) for x in (abs(tail), 1 - tail) if 0 < x < 1)
    return int(70 + (entropy * (1 - tail) + vanishing + 5) / log(10))


def inverse_digamma(value: Any) -> Any:
    z = mp.exp(value) + mp.mpf(1) / 2 if value > -2 else -1 / (value + mp.euler)
    for _ in range(12):
        z -= (mp.digamma(z) - value) / mp.polygamma(1, z)
    assert mp.almosteq(mp.digamma(z), value, mp.mpf(10) ** (10 - mp.mp.dps))
    return z


def process(entropy: float, tail: float) -> tuple[Any, Any]:
    h, gamma = mp.mpf(entropy), mp.mpf(tail)
    return 1 - inverse_digamma(-mp.euler - h * gamma), inverse_digamma(
        -mp.euler + h - h * gamma
    ) - 1


def equation_13(d: Any, alpha: Any, n: Any) -> Any:
    if d == 0:
        return alpha * (mp.digamma(alpha + n) - mp.digamma(alpha)) / n
    log_ratio = (
        mp.loggamma(1 + alpha)
        - mp.loggamma(d + alpha)
        + mp.loggamma(n + d + alpha)
        - mp.loggamma(n + alpha)
    )
    return (mp.exp(log_ratio) - alpha) / (n * d)


def share_in_classes_of(j: int, d: Any, alpha: Any, n: Any) -> Any:
    """Binomial coefficient and rising factorials spelled as gamma functions; j = 1 is equation 12."""
    up = [n, j - d, alpha + d + n - j, alpha + 1]
    down = [mp.mpf(j), n - j + 1, 1 - d, alpha + d, alpha + n]
    return mp.exp(sum(map(mp.loggamma, up)) - sum(map(mp.loggamma, down)))


@each_cell("entropy", ENTROPIES)
@each_cell("tail", TAILS)
@pytest.mark.first(cells=20)
def test_correctness_and_uniqueness_agree_with_the_textbook_forms_at_high_precision(
    entropy: float, tail: float
) -> None:
    kappas, xis = correctness(entropy, tail, POPULATIONS), uniqueness(entropy, tail, POPULATIONS)
    with mp.workdps(digits(entropy, tail)):
        d, alpha = process(entropy, tail)
        for n, kappa, xi in zip(POPULATIONS, kappas, xis, strict=True):
            assert kappa == pytest.approx(float(equation_13(d, alpha, mp.mpf(n))), rel=1e-9, abs=0)
            assert xi == pytest.approx(
                float(share_in_classes_of(1, d, alpha, mp.mpf(n))), rel=1e-9, abs=1e-300
            )


@pytest.mark.parametrize(
    ("entropy", "tail", "n"),
    [
        (10.0, 0.5, 8e9),
        (3.0, 0.0, 2e4),
        (0.01, 0.7, 5000.5),
        (5.0, -20.0, 1e5),
        (17.0, -1.0, 7.53e9),
        (45.0, MAX_BELOW_ONE, 8e9),
    ],
)
def test_k_violations_agree_with_the_sum_over_class_sizes_at_high_precision(
    entropy: float, tail: float, n: float
) -> None:
    with mp.workdps(digits(entropy, tail)):
        d, alpha = process(entropy, tail)
        terms = [share_in_classes_of(j, d, alpha, mp.mpf(n)) for j in range(1, 1000)]
        for k in (1, 2, 3, 5, 100, 1000):
            assert k_violation(entropy, tail, n, k) == pytest.approx(
                float(mp.fsum(terms[: k - 1])), rel=1e-9, abs=1e-300
            )


@pytest.mark.parametrize("n", [4.5, 4.0001, 12.75])
def test_between_whole_populations_the_k_violation_is_that_of_equation_11(n: float) -> None:
    entropy, tail, k = 2.0, 0.25, 5
    with mp.workdps(30):
        d, alpha = process(entropy, tail)

        def integrand(p: Any) -> Any:
            below_k = mp.betainc(n - k + 1, k - 1, 0, 1 - p, regularized=True)
            return p**-d * (1 - p) ** (d + alpha - 1) * below_k

        exact = mp.quad(integrand, [0, 0.01, 0.1, 0.5, 0.9, 1]) / mp.beta(1 - d, d + alpha)
    assert k_violation(entropy, tail, n, k) == pytest.approx(float(exact), rel=1e-7)


def test_the_published_forecast_from_two_measured_points() -> None:
    sizes, measured = np.array([100.0, 1000.0]), np.array([0.99, 0.80])

    def misfit(point: list[float]) -> Any:
        # equation 4
        return np.sqrt(np.log(sizes)) * (correctness(point[0], point[1], sizes) - measured)

    # No entropy and tail meet both points: equally large sets with κ(1000) = 0.80 have κ(100) = 0.978. The
    # nearest are those.
    entropy, tail = least_squares(
        misfit, [8.0, 0.0], bounds=([1.0, -20.0], [20.0, 0.9]), xtol=1e-12, ftol=1e-12, gtol=1e-12
    ).x
    assert correctness(entropy, tail, sizes) == pytest.approx([0.977, 0.801], abs=1e-3)
    assert correctness(entropy, tail, 1e4) == pytest.approx(0.21, abs=5e-3)
    assert correctness(entropy, tail, 1e4) == pytest.approx(0.2145, abs=1e-4)


def test_the_published_correctness_of_40_bits_among_the_people_of_the_world() -> None:
    assert correctness(40 * log(2), [0.0, MAX_BELOW_ONE], 7.53e9) == pytest.approx(
        [0.99, 0.45], abs=5e-3
    )
    assert correctness(40 * log(2), [0.0, 0.999, MAX_BELOW_ONE], 7.53e9) == pytest.approx(
        [0.9940, 0.4477, 0.4476], abs=5e-5
    )


def test_limits_of_the_parameters() -> None:
    discount, concentration = parameters([1.0, 2.0, 60.0], [0.0, MAX_BELOW_ONE, -20.0])
    assert (discount[0], not np.signbit(discount[0]), concentration[0]) == (
        0.0,
        True,
        pytest.approx(1.0),
    )
    assert concentration[1] == pytest.approx(
        2 * (1 - MAX_BELOW_ONE) * 6 / np.pi**2, rel=1e-14, abs=0
    )
    assert (discount[2], concentration[2]) == (-np.inf, np.inf)


@given(entropies, tails, populations, populations, st.integers(1, 1000))
def test_answers_are_shares_and_fall_with_the_population(
    entropy: float, tail: float, m: float, n: float, k: int
) -> None:
    population = [1.0, *sorted((m, n))]
    kappa, xi = correctness(entropy, tail, population), uniqueness(entropy, tail, population)
    violation = k_violation(entropy, tail, population, [[1], [2], [k]])
    assert kappa[0] == xi[0] == 1.0
    assert ((xi >= 0) & (xi <= kappa * (1 + 1e-9)) & (kappa > 0) & (kappa <= 1)).all()
    assert ((violation >= 0) & (violation <= 1)).all()
    for share in (kappa, xi, violation):
        assert (share[..., 1:] <= share[..., :-1] * (1 + 1e-9)).all()
    assert (violation[0] == 0).all()
    assert violation[1] == pytest.approx(xi, rel=1e-12, abs=0)


@given(st.floats(1, 40), st.floats(0, log(8e9)).map(np.exp))
def test_answers_pass_smoothly_into_equally_large_sets(entropy: float, n: float) -> None:
    tail = -MIN_UNIFORM_PRODUCT / entropy
    if tail > -20 / 1.1:
        for function in (correctness, uniqueness):
            before, after = function(entropy, [tail * (1 - 1e-12), tail * (1 + 1e-12)], n)
            assert before == pytest.approx(after, rel=1e-9, abs=1e-300)
        occupied = -mp.expm1(n * mp.log1p(-mp.exp(-mp.mpf(entropy)))) * mp.exp(entropy) / n
        assert correctness(entropy, 1.1 * tail, n) == pytest.approx(float(occupied), rel=1e-9)


def test_arguments_broadcast() -> None:
    tall = np.array([[5.0], [6.0]])
    assert (
        parameters(tall, [0.1, 0.2, 0.3])[0].shape
        == entropy_and_tail(tall / 10, [1.0, 2.0, 3.0])[1].shape
        == (2, 3)
    )
    assert (
        correctness(tall, 0.1, [1, 10, 100]).shape
        == uniqueness(tall, 0.1, [1, 10, 100]).shape
        == (2, 3)
    )
    assert k_violation(5.0, tall / 10, 1e6, [2, 3, 5]).shape == (2, 3)
    assert k_violation(5.0, [], 1e6, 5).shape == (0,)
    assert (
        {type(f(5.0, 0.1, 1e6)) for f in (correctness, uniqueness)}
        == {type(k_violation(5.0, 0.1, 1e6, 5))}
        == {np.ndarray}
    )


@each_cell(
    "arguments, sentence",
    [
        (
            (1e-4, 0, 10, 5),
            "entropy must be an entropy of at least 0.001 and at most 60 nats, got 0.0001; pass",
        ),
        (
            (float("nan"), 0, 10, 5),
            "entropy must be an entropy of at least 0.001 and at most 60 nats, got nan; pass",
        ),
        (
            (5, 1.1, 10, 5),
            "tail must be a tail complexity of at least -20 and at most 1, got 1.1; pass",
        ),
        (
            (5, -20.5, 10, 5),
            "tail must be a tail complexity of at least -20 and at most 1, got -20.5; pass",
        ),
        ((5, 0, 0.5, 5), "n must be a number of people of at least 1 and at most"),
        ((5, 0, 10, 2.5), "k must be a class size of 1 to 1000, got 2.5; pass"),
        ((5, 0, 10, 1001), "k must be a class size of 1 to 1000, got 1001; pass"),
    ],
)
def test_what_lies_outside_a_domain_is_refused(
    arguments: tuple[float, float, float, float], sentence: str
) -> None:
    with pytest.raises(OutOfDomainError, match=sentence):
        k_violation(*arguments)
    if arguments[3] == 5:
        for function in (correctness, uniqueness):
            with pytest.raises(OutOfDomainError, match=sentence):
                function(*arguments[:3])
