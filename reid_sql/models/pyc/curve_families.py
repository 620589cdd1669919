"""Curves of one or two parameters fitted to shares at some sizes: PYC-MB, and rules of thumb.

The shares are measured. Source: Rocher, Hendrickx & de Montjoye 2025, equation 4 and table 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from reid_sql.models.numerics.special_functions import digamma
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.measurements import Measurements, measure_at_share
from reid_sql.parameters import COUNT, Floats

Curve = Callable[[Floats], Floats]
Law = Callable[[str, Floats], Floats]

# Where the search for entropy and tail starts, from at most so many of the points.
ENTROPY_GRID: Final = np.concatenate([[0.01, 0.1, 0.3], np.arange(0.7, 60.0, 0.7)])
TAIL_GRID: Final = np.concatenate(
    [[-19.0, -10, -5, -2, -1, -0.5, -0.2], np.arange(0, 1, 0.1), [0.95, 0.99]]
)
SEARCH_STARTS: Final = 3
MAX_START_POINTS: Final = 50
# ln(1 − d) and ln(1 + α): together they cover the domain of entropy and tail, as far as it makes a
# difference.
LOWER_BOUNDS: Final = np.array([-4.2, 1e-9])
UPPER_BOUNDS: Final = np.array([40.0, 100.0])
EDGE_TOLERANCE: Final = 1e-6

STATUS_UNCONVERGED: Final = "not_converged: the search stopped before it converged"
STATUS_AT_EDGE: Final = (
    "at_edge: {name} is at the end of its domain ({value:.4g}), and the fit improves beyond"
)
STATUS_TURNS: Final = (
    "turns_upwards: the polynomial rises beyond {size:.4g} people, where its lowest value is used"
)


@dataclass(frozen=True)
class Task:
    """The points, which measure they are of, and the k of k_violation."""

    points: Measurements
    measure: str = "correctness"
    k: int = 5

    def residuals(self, curve: Curve) -> Floats:
        """Roots of the terms ln(n) (κ − Eκ(n))² of equation 4."""
        return np.asarray(
            np.sqrt(self.points.weights) * (curve(self.points.sizes) - self.points.shares)
        )


@dataclass(frozen=True)
class Fit:
    """A curve of the measure, its parameters and what went wrong; `law`, if any, gives every measure."""

    curve: Curve
    parameters: dict[str, float]
    problems: list[str] = field(default_factory=list)
    law: Law | None = None


def fit_pyc_curve(task: Task) -> Fit:
    """Fit entropy and tail complexity of a Pitman–Yor process: equation 13, or 12 and 14.

    12 and 14 are those of the other measures.
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 - see numerics/special_functions

    scale = float(np.ptp(task.points.shares))  # so that shares near 1 converge as well as others

    def residuals(place: Floats) -> Floats:
        law = _pyc_law(*_entropy_and_tail(place), task.k)
        return np.asarray(task.residuals(lambda n: law(task.measure, n)) / scale)

    fine = 1e-12
    fits = [
        least_squares(
            residuals,
            start,
            bounds=(LOWER_BOUNDS, UPPER_BOUNDS),
            method="dogbox",
            xtol=fine,
            ftol=fine,
            gtol=fine,
            max_nfev=200,
        )
        for start in _pyc_starts(task)
    ]
    best = min(fits, key=lambda result: float(result.cost))
    entropy, tail = _entropy_and_tail(best.x)
    law = _pyc_law(entropy, tail, task.k)
    problems = [] if best.success else [STATUS_UNCONVERGED]
    problems += _describe_edge("entropy", entropy, pitman_yor.ENTROPY.low, pitman_yor.ENTROPY.high)
    # At the low end it makes no difference
    problems += _describe_edge("tail", tail, -np.inf, pitman_yor.TAIL.high)
    return Fit(lambda n: law(task.measure, n), {"entropy": entropy, "tail": tail}, problems, law)


def _pyc_law(entropy: float, tail: float, k: int) -> Law:
    def law(measure: str, n: Floats) -> Floats:
        if measure == "k_violation":
            return pitman_yor.k_violation(entropy, tail, n, k)
        if measure == "uniqueness":
            return pitman_yor.uniqueness(entropy, tail, n)
        return pitman_yor.correctness(entropy, tail, n)

    return law


def _entropy_and_tail(place: Floats) -> tuple[float, float]:
    """Entropy and tail, equation 2, from ln(1 − d) and ln(1 + α).

    Entropy and tail make up for each other along a curved valley, in which a search is lost; these two do
    not: their difference is the chance that two people share a set, which a few points fix, and what is left
    is the shape.
    """
    few, many = (float(value) for value in digamma(np.exp(place)))
    entropy = min(max(many - few, pitman_yor.ENTROPY.low), pitman_yor.ENTROPY.high)
    tail = (float(digamma(1.0)) - few) / entropy
    return entropy, min(max(tail, pitman_yor.TAIL.low), pitman_yor.TAIL.high)


def _pyc_starts(task: Task) -> list[Floats]:
    """Give the best entropy of each tail complexity on a fixed grid, for the best few tails."""
    some = slice(None, None, -(-task.points.sizes.size // MAX_START_POINTS))
    law = _pyc_law(ENTROPY_GRID[:, None, None], TAIL_GRID[:, None], task.k)  # type: ignore[arg-type]
    expected = law(task.measure, task.points.sizes[some])  # (entropies, tails, sizes)
    # an array of shape (entropies, tails)
    loss = (expected - task.points.shares[some]) ** 2 @ task.points.weights[some]
    tails = np.argsort(loss.min(axis=0), kind="stable")[:SEARCH_STARTS]
    discount, concentration = pitman_yor.parameters(
        ENTROPY_GRID[loss.argmin(axis=0)[tails]], TAIL_GRID[tails]
    )
    places = np.stack([np.log1p(-discount), np.log1p(concentration)], axis=1)  # (starts, 2)
    return list(np.clip(places, LOWER_BOUNDS + EDGE_TOLERANCE, UPPER_BOUNDS - EDGE_TOLERANCE))


def fit_equal_sets(task: Task) -> Fit:
    """Fit m = e^h equally large sets, one parameter: κ = m/n (1 − (1 − 1/m)^n)."""

    def law(entropy: float) -> Law:
        return lambda measure, n: measure_at_share(measure, n, np.exp(-entropy), task.k)

    def curve(entropy: float) -> Curve:
        return lambda n: law(entropy)(task.measure, n)

    entropy, problems = _minimize_on_grid(
        "entropy", np.linspace(pitman_yor.ENTROPY.low, 60.0, 301), task, curve
    )
    return Fit(curve(entropy), {"entropy": entropy}, problems, law(entropy))


# The paper names exp and pol without their formulas. Its references for pol find κ linear in the logarithm of
# the gallery size (Friedman et al. 2022) with a quadratic correction (Baveja, Yuan & Wein 2010); κ(1) = 1
# leaves two parameters. Of five decaying forms tried for exp on other tables, this one came closest to the
# errors of table 1: 0.16 from a tenth of the data and 0.06 from all, published 0.155 and 0.037; for pol 0.15
# and 0.05, published 0.146 and 0.028.


def fit_exponential(task: Task) -> Fit:
    """Fit an exponential decay towards a floor: κ = floor + (1 − floor) exp of −rate (n − 1)."""
    points = task.points

    def floor(log_rate: float) -> float:
        # given the rate, κ is linear in the floor
        fallen = -np.expm1(-np.exp(log_rate) * (points.sizes - 1))
        most = float(points.weights @ (fallen * (points.shares - 1 + fallen))) / float(
            points.weights @ fallen**2
        )
        return min(max(most, 0.0), 1.0)

    def curve(log_rate: float) -> Curve:
        level = floor(log_rate)
        return lambda n: level + (1 - level) * np.exp(-np.exp(log_rate) * (n - 1))

    slow, fast = -np.log(points.sizes[-1] - 1) - 9.0, -np.log(points.sizes[0] - 1) + 4.0
    log_rate, problems = _minimize_on_grid(
        "the logarithm of the rate", np.linspace(slow, fast, 301), task, curve
    )
    return Fit(
        curve(log_rate), {"floor": floor(log_rate), "rate": float(np.exp(log_rate))}, problems
    )


def fit_polynomial(task: Task) -> Fit:
    """Fit a polynomial in the logarithm of the size, 1 − linear ln n − quadratic (ln n)²."""
    points = task.points
    logs, roots = np.log(points.sizes), np.sqrt(points.weights)
    terms = (roots * np.stack([logs, logs**2])).T  # (sizes, 2)
    linear, quadratic = (
        float(value) for value in np.linalg.lstsq(terms, roots * (1 - points.shares), rcond=None)[0]
    )
    turn = max(-linear / (2 * quadratic), 0.0) if quadratic < 0 else np.inf

    def curve(n: Floats) -> Floats:
        x = np.minimum(np.log(n), turn)
        return np.asarray(1 - linear * x - quadratic * x**2)

    problems = [STATUS_TURNS.format(size=np.exp(turn))] if turn < np.log(COUNT.high) else []
    return Fit(curve, {"linear": linear, "quadratic": quadratic}, problems)


def fit_half(task: Task) -> Fit:
    """Give the mean of the baseline RND of table 1, a guess uniform between 0 and the last share.

    The paper prints "between 0 and n⁽⁰⁾", which is 1: no such guess has the errors of the table.
    """
    middle = float(task.points.shares[-1]) / 2
    return Fit(lambda n: np.full(n.shape, middle), {"middle": middle})


def _minimize_on_grid(
    name: str, grid: Floats, task: Task, curve: Callable[[float], Curve]
) -> tuple[float, list[str]]:
    """Search one parameter: the best on the grid, then between its neighbours."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - see numerics/special_functions

    def loss(value: float) -> float:
        return float((task.residuals(curve(value)) ** 2).sum())

    place = int(np.argmin([loss(value) for value in grid]))
    around = (grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)])
    minimum = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-11})
    value = float(minimum.x) if minimum.fun < loss(grid[place]) else float(grid[place])
    problems = [] if minimum.success else [STATUS_UNCONVERGED]
    return value, problems + _describe_edge(name, value, grid[0], grid[-1])


def _describe_edge(name: str, value: float, least: float, most: float) -> list[str]:
    return (
        [STATUS_AT_EDGE.format(name=name, value=value)]
        if min(value - least, most - value) < EDGE_TOLERANCE
        else []
    )


FAMILIES: Final[dict[str, Callable[[Task], Fit]]] = {
    "pyc": fit_pyc_curve,
    "ent": fit_equal_sets,
    "exp": fit_exponential,
    "pol": fit_polynomial,
    "rnd": fit_half,
}
