"""The curve of a law of the surprisal: a smooth base, tilted as little as the measured points require."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics.special_functions import expit
from reid_sql.models.pyc.curve_families import Fit, Task
from reid_sql.models.pyc.measurements import (
    EXACT_RELATIVE_ERROR,
    Measurements,
    equal_sets_law,
    pitman_yor_law,
    skew_lognormal_law,
    surprisal_kernel,
)
from reid_sql.models.pyc.pitman_yor import parameters
from reid_sql.parameters import Floats

# The law nearest to a given one that reproduces measured averages, each as closely as it was measured.

MAX_NEWTON_STEPS: Final = 200
MAX_SLOPE: Final = 1e-9
MAX_UNSETTLED_SLOPE: Final = 1e-6  # of the measured averages: what an unsettled search may leave
MAX_LOG_FACTOR: Final = 50.0  # |ln| of the factor by which a point of the lattice may be tilted
ARMIJO_SHARE: Final = 1e-4  # of the fall that the slope promises (Armijo)
MIN_STEP_LENGTH: Final = 1e-7


@dataclass(frozen=True)
class Tilted:
    """A law on a lattice, the multiplier of each measured average, and whether their search converged."""

    mass: Floats  # (lattice,)
    multipliers: Floats  # (measured,)
    settled: bool
    scaled: Floats  # (measured, lattice): what each average is made of, over the measured
    errors: Floats  # (measured,), relative

    @property
    def misfit(self) -> float:
        """Root mean square of the law's misses of measured averages, in standard errors: errors · λ."""
        return float(np.sqrt(np.mean((self.errors * self.multipliers) ** 2)))

    def influence(self, weights: Floats) -> Floats:
        """Give the change of the average of `weights` (…, lattice) with each measured average: (…, measured).

        By the implicit function theorem: A m(λ) + errors² λ = 1 + δ moves λ by H⁻¹ δ, and Σ w m by (A diag(m)
        w)ᵀ H⁻¹ δ, per relative change δ of the measured, H the Hessian of the dual.
        """
        curvature = (self.scaled * self.mass) @ self.scaled.T + np.diag(self.errors**2)
        return np.asarray(_solve_scaled(curvature, self.scaled @ (self.mass * weights).T).T)


def tilt_law(base: Floats, kernel: Floats, measured: Floats, errors: Floats) -> Tilted:
    """Minimise KL(m‖base) + Σ (K m / measured − 1)² / 2 errors² over laws m.

    `kernel` is (measured, lattice), `errors` are relative. With A = kernel / measured, the minimum m and its
    dual, which λ minimises, are

        m = base · exp(Aᵀλ)
        Σ m − Σ λ + Σ errors² λ² / 2

    The dual is convex, and has as many unknowns as there are measured averages; Newton's method with halved
    steps finds λ.

    >>> answer = tilt_law(np.full(3, 1 / 3), np.array([[1.0, 2.0, 3.0]]), np.array([2.5]), np.array([1e-6]))
    >>> float((answer.mass @ [1.0, 2.0, 3.0]).round(4)), answer.settled
    (2.5, True)
    """
    # Lagrange: KL(m‖base) = Σ m ln(m/base) − m + base has the gradient ln(m/base). With r = A m − 1 as
    # variables of their own and multipliers λ, the minimum has ln(m/base) = Aᵀλ and r = −errors² λ, and λ
    # minimises the dual, of which
    #
    #     gradient = A m(λ) − 1 + errors² λ
    #     Hessian  = A diag(m) Aᵀ + diag(errors²)
    scaled, variance = kernel / measured[:, None], errors**2

    def law(place: Floats) -> Floats:
        return np.asarray(base * np.exp(np.clip(scaled.T @ place, -MAX_LOG_FACTOR, MAX_LOG_FACTOR)))

    def dual(place: Floats) -> float:
        return float(law(place).sum() - place.sum() + variance @ place**2 / 2)

    place, mass = np.zeros(measured.size), base
    slope = scaled @ mass - 1
    for _ in range(MAX_NEWTON_STEPS):
        checkpoint()
        if np.abs(slope).max() < MAX_SLOPE:
            break
        curvature = (scaled * mass) @ scaled.T + np.diag(variance)
        step = _solve_scaled(curvature, -slope)
        length, here, fall = 1.0, dual(place), ARMIJO_SHARE * float(slope @ step)
        while length > MIN_STEP_LENGTH and dual(place + length * step) > here + length * fall:
            length /= 2
        place = place + length * step
        mass = law(place)
        slope = scaled @ mass - 1 + variance * place
    return Tilted(mass, place, bool(np.abs(slope).max() < MAX_UNSETTLED_SLOPE), scaled, errors)


def _solve_scaled(curvature: Floats, right: Floats) -> Floats:
    """Solve for the least step: with no law near the points the curvature is singular to rounding."""
    scale = np.sqrt(np.diag(curvature))
    solution = np.linalg.lstsq(curvature / np.outer(scale, scale), (right.T / scale).T, rcond=None)[
        0
    ]
    return np.asarray((solution.T / scale).T)


# The curve of a law of the surprisal: a smooth base, tilted as little as the measured points ask for.
# Three bases: the Pitman–Yor process, a lognormal law of the sets' shares, and a skew one. The last (of
# rough points the second) is the answer up to 30 times the largest size that was measured; how far the
# three differ shows how much of the answer is the base's own.

MIN_POINTS: Final = 4  # so many points determine three parameters and a tilt
# times the largest size: beyond, no one base is better than their mean
MAX_TIMES_MEASURED: Final = 30.0
LOG_ODDS_FLOOR: Final = 1e-4  # of log-odds
# from this −d on the shares differ by less than the lattice resolves
MIN_EQUAL_SETS_DISCOUNT: Final = 1e6

LOCATIONS: Final = np.arange(0.5, 36.0)
LOG_SCALES: Final = np.array([-1.4, -0.7, 0, 0.5, 1, 1.4, 1.8])
SLANTS: Final = (0.5, -0.5)  # where the search for the shape starts
TILT_STARTS: Final = 2
LOWER_BOUNDS: Final = np.array([-30.0, -2.5, -8.0])
UPPER_BOUNDS: Final = np.array([60.0, 3.0, 8.0])
MAX_EVALUATIONS: Final = 100
ERROR_GROWTH: Final = 3.0  # factor by which errors grow that the caller did not give
MAX_ERROR: Final = 0.3
START_GRID: Final = np.stack(np.meshgrid(LOCATIONS, LOG_SCALES, indexing="ij"), axis=-1).reshape(
    -1, 2
)


@cache
def _law_grid() -> Floats:
    """The laws where the search looks first, (places, bins)."""
    return np.stack(
        [skew_lognormal_law(location, np.exp(scale), 0.0) for location, scale in START_GRID]
    )


def log_odds(share: Floats) -> Floats:
    """Logarithm of the odds, bounded at shares of 0 and 1."""
    inside = np.clip(share, 0.0, 1.0)
    return np.asarray(np.log((inside + LOG_ODDS_FLOOR) / (1 - inside + LOG_ODDS_FLOOR)))


def from_log_odds(value: Floats) -> Floats:
    """Give the share of these log-odds back."""
    return np.asarray(np.clip((1 + 2 * LOG_ODDS_FLOOR) * expit(value) - LOG_ODDS_FLOOR, 0.0, 1.0))


@dataclass(frozen=True)
class Reach:
    """The three laws by one measure: the answer, their distance, and the noise, in log-odds.

    The distance is how far they differ, the noise what it makes of the answer.
    """

    answer: Floats  # (populations,), a share
    distance: Floats  # (populations,)
    noise: Floats  # (populations,)


@dataclass(frozen=True)
class TiltedCurve:
    """Three tilted laws of the surprisal and the points they were tilted to."""

    task: Task
    fitted: Fit  # the Pitman–Yor curve
    laws: tuple[Tilted, ...]  # the first answers: skew lognormal, lognormal, Pitman–Yor

    @property
    def few(self) -> bool:
        """Whether the points are too few to determine a shape."""
        return self.task.points.sizes.size < MIN_POINTS

    def reach(self, measure: str, populations: Floats) -> Reach:
        """Answer for this measure in each population.

        Up to 30 times the largest size the first law answers; beyond, its log-odds there and the mean fall
        of all three from there on. Of fewer than four sizes the Pitman–Yor curve answers.
        """
        edge = np.full(1, MAX_TIMES_MEASURED * self.task.points.sizes[-1])
        both = surprisal_kernel(measure, np.concatenate([populations, edge]), self.task.k)
        odds = np.stack([log_odds(both @ law.mass) for law in self.laws])  # (laws, populations + 1)
        here, there = odds[:, :-1], odds[:, -1:]
        answer = np.where(populations > edge, there[0] + (here - there).mean(axis=0), here[0])
        if self.few and self.fitted.law is not None:
            answer = log_odds(self.fitted.law(measure, populations))
        apart = np.abs(here - answer).max(axis=0)
        # the standard deviation by the points' errors, whether these are independent or all one
        errors = self.task.points.errors / self.task.points.shares
        moved = self.laws[0].influence(both[:-1])[:, 1:] * errors
        spread = np.maximum(np.sqrt((moved**2).sum(axis=-1)), np.abs(moved.sum(axis=-1)))
        share = from_log_odds(answer)
        noise = spread / ((share + LOG_ODDS_FLOOR) * (1 - share + LOG_ODDS_FLOOR))
        return Reach(share, apart, noise)


def fit_tilted_curve(task: Task, fitted: Fit) -> TiltedCurve:
    """Fit the three bases and tilt them; `fitted` is the Pitman–Yor curve of the same points.

    The skew and the lognormal base minimise Σ ln(n) n (κ − Eκ(n))², which looks at the far end of the curve
    more than equation 4 does. Errors that the caller did not give start from those of rounding, and grow
    until a law meets the points within them. Rough points do not determine a third parameter: of them the
    lognormal law answers.
    """
    expected = surprisal_kernel(task.measure, task.points.sizes, task.k)
    entropy, tail = fitted.parameters["entropy"], fitted.parameters["tail"]
    d, alpha = map(float, parameters(entropy, tail))
    has_equal_sets = -d > MIN_EQUAL_SETS_DISCOUNT
    third = equal_sets_law(entropy) if has_equal_sets else pitman_yor_law(d, alpha)
    if task.points.sizes.size < MIN_POINTS:
        both = (_fit_lognormal_base(task, expected, 2), third)
        return TiltedCurve(
            task, fitted, tuple(_leave_untilted(task, expected, base) for base in both)
        )
    bases = (_fit_lognormal_base(task, expected, 3), _fit_lognormal_base(task, expected, 2), third)
    task = _widen_errors(task, expected, bases[0])
    first = bases if task.points.exact else (bases[1], bases[0], third)
    laws = tuple(_tilt_to_points(base, expected, task.points) for base in first)
    return TiltedCurve(task, fitted, laws)


def _widen_errors(task: Task, expected: Floats, base: Floats) -> Task:
    """Let errors that the caller did not give grow until the tilted base meets the points within them."""
    points = task.points
    while True:
        law = _tilt_to_points(base, expected, points)
        if (
            points.errors_given
            or (law.settled and law.misfit <= 1)
            or points.relative.max() > MAX_ERROR
        ):
            return replace(task, points=points)
        points = replace(points, errors=ERROR_GROWTH * points.relative * points.shares)


def _tilt_to_points(base: Floats, expected: Floats, points: Measurements) -> Tilted:
    """Tilt to the points, and to a law's mass of 1: among one person every measure is 1."""
    one = np.ones((1, base.size))
    return tilt_law(
        base,
        np.r_[one, expected],
        np.r_[1.0, points.shares],
        np.r_[EXACT_RELATIVE_ERROR, points.relative],
    )


def _leave_untilted(task: Task, expected: Floats, base: Floats) -> Tilted:
    points = task.points
    scaled = np.r_[np.ones((1, base.size)), expected / points.shares[:, None]]
    errors = np.r_[EXACT_RELATIVE_ERROR, points.relative]
    return Tilted(base, np.zeros(errors.size), settled=True, scaled=scaled, errors=errors)


def _fit_lognormal_base(task: Task, expected: Floats, parameters: int) -> Floats:
    """Fit location and scale, and with a third parameter the shape, from the best points of a grid."""
    points = task.points
    roots = np.sqrt(points.weights * points.sizes / points.sizes[-1])

    def law(place: Floats) -> Floats:
        location, log_scale, shape = np.r_[place, 0.0][:3]
        return skew_lognormal_law(location, np.exp(log_scale), shape)

    from scipy.optimize import least_squares  # noqa: PLC0415 - see numerics/special_functions

    def residuals(place: Floats) -> Floats:
        checkpoint()
        return np.asarray(roots * (expected @ law(place) - points.shares))

    loss = (_law_grid() @ expected.T - points.shares) ** 2 @ roots**2
    starts = START_GRID[np.argsort(loss, kind="stable")[:TILT_STARTS]]
    places = [
        np.r_[start, slant][:parameters]
        for start in starts
        for slant in SLANTS[: max(1, parameters - 1)]
    ]
    bounds = LOWER_BOUNDS[:parameters], UPPER_BOUNDS[:parameters]
    fits = [
        least_squares(residuals, place, bounds=bounds, max_nfev=MAX_EVALUATIONS) for place in places
    ]
    return law(min(fits, key=lambda result: float(result.cost)).x)
