"""Ratios of gamma functions that lose no digits at populations of billions, and the functions of scipy.

Sources: NIST Digital Library of Mathematical Functions, 5.5.1 and 5.5.2 (recurrences), 5.11.1 and 5.11.2
(asymptotic series).
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Floats

# Ratios of gamma functions without the digits that differences of ln Γ lose at populations of billions.
# Each is a difference written out term by term, so that its relative accuracy remains when an increment
# vanishes. Source: NIST Handbook of Mathematical Functions, 5.5.1 and 5.5.2 (recurrences), 5.11.1 and
# 5.11.2 (asymptotic series).

RECURRENCE_STEPS: Final = 12  # at z + 12 the series below is exact to the last digit
BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B₂, B₄, …, B₁₄
DERIVATIVE_STEPS: Final = 5
HALLEY_STEPS: Final = 2  # each cubes the error, at first below 3 %
GOLDEN_SECTION: Final = (3 - 5**0.5) / 2
MIN_LOGARITHMIC: Final = 40.0  # where ψ(z) = ln z to the last digit


def as_floats(*values: npt.ArrayLike) -> tuple[Floats, ...]:
    """Arrays of doubles.

    >>> [array.tolist() for array in as_floats(1, [2, 3])]
    [1.0, [2.0, 3.0]]
    """
    return tuple(np.asarray(value, dtype=np.float64) for value in values)


def log_rising_ratio(z: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Logarithm of the ratio of two rising factorials of `x` factors, from `z` + `y` and from `z`.

    ln (z+y)ₓ / (z)ₓ = ln Γ(z+x+y) Γ(z) / (Γ(z+x) Γ(z+y)), symmetric in x and y, never negative.
    For z > 0, x ≥ 0 and y ≥ 0, which are not checked; the three broadcast.

    >>> round(float(np.exp(log_rising_ratio(3.0, 2.0, 1.0))), 12)  # 4·5 / 3·4
    1.666666666667
    """
    z, x, y = as_floats(z, x, y)
    total = np.zeros(())
    for step in range(RECURRENCE_STEPS):  # Γ(z + 1) = z Γ(z), 5.5.1
        total = total - _logarithm_bend(z + step, x, y)
    z = z + RECURRENCE_STEPS
    # 5.11.1: (z − ½) ln z bends as follows; z itself and ½ ln 2π do not bend.
    leading = (
        (z - 0.5) * _logarithm_bend(z, x, y) + x * np.log1p(y / (z + x)) + y * np.log1p(x / (z + y))
    )
    return np.asarray(total + leading + _remainder_bend(z, x, y))


def _logarithm_bend(z: Floats, x: Floats, y: Floats) -> Floats:
    """ln(z+x+y) − ln(z+x) − ln(z+y) + ln z."""
    return np.asarray(np.log1p(-(x / (z + x)) * (y / (z + y))))


def _remainder_bend(z: Floats, x: Floats, y: Floats) -> Floats:
    """Give that second difference of Σ B₂ₖ / (2k (2k−1) z²ᵏ⁻¹), 5.11.1, by powers, without cancellation."""
    bend, along_x, along_y = _logarithm_bend(z, x, y), np.log1p(x / z), np.log1p(y / (z + x))
    total = np.zeros(())
    for k, bernoulli in enumerate(BERNOULLI, start=1):
        power = 2 * k - 1
        fall = np.expm1(-power * along_y)
        difference = np.expm1(-power * along_x) * fall - (1 + fall) * np.expm1(power * bend)
        total = total + bernoulli / (2 * k * power) * z ** float(-power) * difference
    return total


def digamma_difference(z: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    """Difference ψ(z + x) − ψ(z), to full relative accuracy also for small `x`.

    For z > 0 and x > −z, which are not checked; the two broadcast.

    >>> digamma_difference(1.0, [1.0, 2.0, 3.0]).round(12).tolist()  # the harmonic numbers
    [1.0, 1.5, 1.833333333333]
    """
    z, x = as_floats(z, x)
    total = np.zeros(())
    for step in range(RECURRENCE_STEPS):  # ψ(z + 1) = ψ(z) + 1/z, 5.5.2
        total = total + x / (z + step + x) / (z + step)
    near, far = 1 / (z + RECURRENCE_STEPS), 1 / (z + RECURRENCE_STEPS + x)
    # 5.11.2, each power of 1/z as its own difference, near − far = x · near · far taken out.
    series = 0.5 + (near + far) * _divided_difference(near**2, far**2)
    return np.asarray(total + np.log1p(x * near) + x * near * far * series)


def _divided_difference(near: Floats, far: Floats) -> Floats:
    """Give (P(near) − P(far)) / (near − far) for P(t) = Σ B₂ₖ tᵏ / 2k, by Horner's rule."""
    value, slope = np.zeros(()), np.zeros(())
    for k in range(len(BERNOULLI), -1, -1):
        slope = slope * near + value
        value = value * far + (BERNOULLI[k - 1] / (2 * k) if k else 0.0)
    return slope


def inverse_harmonic(y: npt.ArrayLike) -> Floats:
    """Number x > −1 whose harmonic number ψ(x + 1) − ψ(1) is `y`; 1 + x is the inverse digamma of y + ψ(1).

    Keeps its relative accuracy as y → 0, where x → 0. Infinite where x is too large for a double (y above
    710).

    >>> inverse_harmonic([0.0, 1.0, 1.5]).round(12).tolist()
    [0.0, 1.0, 2.0]
    """
    y = np.asarray(y, dtype=np.float64)
    up, down = np.clip(y, 0.0, MIN_LOGARITHMIC), np.minimum(y, 0.0)
    x = _start_from_expansions(up, down)
    for _ in range(HALLEY_STEPS):
        slope, curvature = _harmonic_derivatives(x)
        step = (up + down - digamma_difference(1.0, x)) / slope
        x = x + step / (1 + step * curvature / (2 * slope))
    with np.errstate(over="ignore"):
        return np.where(y > MIN_LOGARITHMIC, np.exp(y - np.euler_gamma), x)


def _start_from_expansions(up: Floats, down: Floats) -> Floats:
    """First x for `inverse_harmonic`, of which x and 1 + x are right to 3 %; one of the arguments is 0."""
    # Where y is large, 5.11.2 gives x = E − 1/2 − 1/(24 E) + O(E⁻³), E = exp(y − C), C Euler's constant. A
    # term in E⁻³ makes it 0 at y = 0; written in expm1, x loses no digits there.
    scale = np.exp(-np.euler_gamma)
    first = 1 / (24 * scale)
    rising = (
        scale * np.expm1(up) - first * np.expm1(-up) + (first + 0.5 - scale) * np.expm1(-3 * up)
    )
    # Below 0, 1 + x = 1/|y| + O(|y|⁻³) as y → −∞, and x = y/ζ(2) + O(y²) as y → 0. The quotient of two
    # quadratics below has both: b = ζ(2) / (ζ(2) − 1).
    b = 1 / (1 - 6 / np.pi**2)
    return np.asarray(rising + down * (b - 1 - down) / (down**2 - b * down + b))


def _harmonic_derivatives(x: Floats) -> tuple[Floats, Floats]:
    """ψ′(1 + x) and ψ″(1 + x) to 1e-7, by 5.15.5 (recurrence) and 5.15.8 (asymptotic series).

    It takes a quarter of the time of scipy's polygamma, which is exact.
    """
    slope, cubes = np.zeros(()), np.zeros(())
    for step in range(1, DERIVATIVE_STEPS + 1):
        inverse = 1 / (x + step)
        square = inverse * inverse
        slope, cubes = slope + square, cubes + square * inverse
    far = 1 / (x + (1 + DERIVATIVE_STEPS))
    square = far * far
    slope = slope + far * (1 + far / 2 + square * (1 / 6 - square * (1 / 30 - square / 42)))
    return slope, -2 * cubes - square * (1 + far + square * (1 / 2 - square / 6))


# ln Γ(x + a) − ln Γ(x), where subtracting two log-gammas would lose what matters.
# Source: NIST Digital Library of Mathematical Functions, 5.5.1 (recurrence) and 5.11.1 (Stirling's series).

STIRLING_STEPS: Final = 12  # Stirling's series below is exact to 1e-17 from here on
STIRLING_COEFFICIENTS: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def log_gamma_ratio(x: npt.ArrayLike, a: npt.ArrayLike) -> Floats:
    """Logarithm of Γ(x + a)/Γ(x), the rising factorial of a factors where a is whole.

    For x > 0 and x + a > 0, which are not checked; the two broadcast.

    >>> float(np.exp(log_gamma_ratio(3.0, 2.0)).round(12))  # 3 · 4
    12.0
    """
    x, a = as_floats(x, a)
    low = np.zeros(())
    for step in range(STIRLING_STEPS):  # Γ(x + 1) = x Γ(x)
        low = low + np.log1p(a / (x + step))
    return log_gamma_ratio_asymptotic(x + STIRLING_STEPS, a) - low


def log_gamma_ratio_asymptotic(x: Floats, a: Floats) -> Floats:
    """Logarithm of Γ(x + a)/Γ(x) where x and x + a are at least 12.

    >>> float(np.exp(log_gamma_ratio_asymptotic(np.array(12.0), np.array(2.0))).round(12))  # 12 · 13
    156.0
    """
    far = x + a
    stirling = (x - 0.5) * np.log1p(a / x) + a * np.log(far) - a
    return np.asarray(stirling + _stirling_series(far) - _stirling_series(x))


def _stirling_series(z: Floats) -> Floats:
    total, square = np.zeros(z.shape), 1 / (z * z)
    for coefficient in reversed(STIRLING_COEFFICIENTS):
        total = total * square + coefficient
    return total / z


# scipy's special functions and searches, imported at the first call.
#
# `scipy.special` takes a tenth of a second to import, `scipy.optimize` longer than all models together,
# and most calls need neither. So `minimize`, which many need, is not scipy's.


Special = Callable[..., Any]


@cache
def _import_function(name: str) -> Special:
    from scipy import special  # noqa: PLC0415 - see the docstring

    return getattr(special, name)  # type: ignore[no-any-return]


def _lazy(name: str) -> Special:
    """Give a function that imports scipy's function of this name at the first call.

    >>> round(float(_lazy("expit")(0.0)), 3)
    0.5
    """

    def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - those of scipy's function
        return _import_function(name)(*arguments, **options)

    call.__name__ = name
    return call


betainc: Final = _lazy("betainc")
betaincc: Final = _lazy("betaincc")
betaincinv: Final = _lazy("betaincinv")
digamma: Final = _lazy("digamma")
expit: Final = _lazy("expit")
gammainc: Final = _lazy("gammainc")
gammaincinv: Final = _lazy("gammaincinv")
gammaln: Final = _lazy("gammaln")
log_expit: Final = _lazy("log_expit")
logit: Final = _lazy("logit")
ndtr: Final = _lazy("ndtr")
ndtri: Final = _lazy("ndtri")
psi: Final = _lazy("psi")
xlogy: Final = _lazy("xlogy")
zeta: Final = _lazy("zeta")


def find_root(
    excess: Callable[[float], float], low: float, high: float, xtol: float = 2e-12
) -> float:
    """Find where the function is zero, between two ends at which its signs differ (Brent).

    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0), 9)
    1.414213562
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - see the docstring

    return float(brentq(_add_checkpoints(excess), low, high, xtol=xtol))


def minimize(loss: Callable[[float], float], low: float, high: float, xatol: float = 1e-5) -> float:
    """Find where the function is least between two ends, by parabolas and golden sections (Brent 1973).

    >>> round(minimize(lambda x: (x - 1) ** 2, 0.0, 3.0), 4)
    1.0
    """
    value, tolerance = _add_checkpoints(loss), xatol / 3
    best = low + GOLDEN_SECTION * (high - low)
    points = [(value(best), best)] * 3  # the least values so far, ascending
    step = last_step = 0.0
    while max(best - low, high - best) > 2 * tolerance:
        step_before, last_step = last_step, step
        step = _step_to_vertex(points)
        if (
            abs(step) >= abs(step_before) / 2
            or not low + tolerance < best + step < high - tolerance
        ):
            last_step = (low if best > (low + high) / 2 else high) - best
            step = GOLDEN_SECTION * last_step
        place = best + math.copysign(max(abs(step), tolerance), step)
        points = sorted([(value(place), place), *points[:2]])
        inner = sorted((points[0][1], best if points[0][1] == place else place))
        outer = points[0][1]
        low, high = (low, inner[1]) if outer == inner[0] else (inner[0], high)
        best = outer
    return best


def _step_to_vertex(points: Sequence[tuple[float, float]]) -> float:
    """From the first point to the vertex of the parabola through three; infinite where there is none."""
    (at_one, one), (at_two, two), (at_three, three) = points
    left, right = (one - two) * (at_one - at_three), (one - three) * (at_one - at_two)
    below = 2 * (left - right)
    return ((one - three) * right - (one - two) * left) / below if below else math.inf


def minimize_point(loss: Callable[[Floats], float], start: Floats) -> Floats:
    """Find the point near the start at which the function is least (Nelder & Mead).

    >>> import numpy as np
    >>> minimize_point(lambda point: float(((point - 1) ** 2).sum()), np.zeros(2)).round(4).tolist()
    [1.0, 1.0]
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - see the docstring

    ends = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 400}
    point: Floats = minimize(_add_checkpoints(loss), start, method="Nelder-Mead", options=ends).x
    return point


def _add_checkpoints(function: Callable[[Any], float]) -> Callable[[Any], float]:
    """Make the function interruptible: a checkpoint comes before each of its values."""

    def value(place: Any) -> float:  # noqa: ANN401 - a number, or an array of them
        checkpoint()
        return function(place)

    return value
