"""Correctness of identification in a large population, extrapolated from measurements in small ones.

A measurement is a share of right matches (κ, the rank-1 identification rate) among n people; four families of
curves are fitted to it: the Pitman–Yor one (PYC-MB) and the three rules of thumb that the same paper reports
beside it. Source: Rocher, Hendrickx & de Montjoye 2025, equation 4 and table 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult, least_squares, minimize_scalar
from scipy.special import digamma

from reid_sql.domains import COUNT, Choice, Floats, Number, plain
from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.uniqueness import correctness_from_probability
from reid_sql.models.pyc import pitman_yor

Curve = Callable[[Floats], Floats]

MEASURED: Final = Number(
    "a share of right matches above 0 and at most 1",
    "pass measured shares such as 0.8, and leave out sizes at which no match was right",
    float(np.nextafter(0.0, 1.0)),
    1.0,
)
METHOD: Final = Choice(("pyc", "ent", "exp", "pol"))

LEAST_SIZES: Final = 2  # t ≥ 2 in the paper
# Where the search for entropy and tail starts, from at most so many of the points.
ENTROPIES: Final = np.concatenate([[0.01, 0.1, 0.3], np.arange(0.7, 60.0, 0.7)])
TAILS: Final = np.concatenate([[-19.0, -10, -5, -2, -1, -0.5, -0.2], np.arange(0, 1, 0.1), [0.95, 0.99]])
STARTS: Final = 3
START_POINTS: Final = 50
# ln(1 − d) and ln(1 + α): together they cover the domain of entropy and tail, as far as it makes a
# difference.
LEAST: Final = np.array([-4.2, 1e-9])
MOST: Final = np.array([40.0, 100.0])
EDGE: Final = 1e-6
MISFIT: Final = 0.05

NEVER_FALLS: Final = (
    "not fitted: the measured correctness does not fall with the size, so that it cannot tell how far identification reaches; "
    "held at the highest measured share, which is the safe side"
)
UNCONVERGED: Final = "the search stopped before it settled"
AT_EDGE: Final = "{name} lies at the edge of its domain ({value:.4g}), and the points would have it further"
TURNS: Final = "the polynomial turns upwards at {size:.4g} people and is held at its lowest beyond"
POOR: Final = "the points lie up to {gap:.2g} away from the fitted curve"


@dataclass(frozen=True)
class Extrapolation:
    """Correctness at each population, what was fitted, and "ok" or what stands against relying on it."""

    correctness: Floats  # (populations,)
    status: str
    parameters: dict[str, float]


@dataclass(frozen=True)
class Extrapolated:
    """Correctness forecast to one population, and what stands against relying on it."""

    population: float
    correctness: float
    status: str


@dataclass(frozen=True)
class Measurements:
    """Mean correctness at distinct ascending sizes above 1, with the weights of equation 4."""

    sizes: Floats  # (sizes,)
    correctness: Floats  # (sizes,)
    weights: Floats  # (sizes,)

    def residuals(self, curve: Curve) -> Floats:
        """Roots of the terms ln(n) (κ − Eκ(n))² of equation 4."""
        return np.sqrt(self.weights) * (curve(self.sizes) - self.correctness)


@dataclass(frozen=True)
class Fit:
    """A curve of the family, its parameters, and what went wrong."""

    curve: Curve
    parameters: dict[str, float]
    problems: list[str]


def extrapolate(
    sizes: npt.ArrayLike, correctness: npt.ArrayLike, populations: npt.ArrayLike, method: str = "pyc"
) -> Extrapolation:
    """Forecast the share of right matches in larger populations from the shares measured in galleries of some sizes.

    Every method minimises Σ ln(n) (κ − Eκ(n))², equation 4, from fixed starts, so that the same points give the same answer:
    - pyc: equation 13, of entropy h (nats) and tail complexity γ; where h γ < −14 the sets are equally large, whatever γ.
    - ent: m equally large anonymity sets, κ = m/n (1 − (1 − 1/m)^n) with m = e^h, one parameter.
    - exp: exponential decay towards a floor, κ = floor + (1 − floor) exp(−rate (n − 1)).
    - pol: a polynomial in the logarithm of the size, κ = 1 − linear ln n − quadratic (ln n)².
    The paper names the last two without their formulas. Its references for pol find κ linear in the logarithm of the gallery
    size (Friedman et al. 2022) with a quadratic correction (Baveja, Yuan & Wein 2010); κ(1) = 1 leaves two parameters. For exp
    no formula was at hand: of five decaying forms tried on other tables, this one came closest to the errors of table 1 (0.16
    from a tenth of the data and 0.06 from all, published 0.155 and 0.037; pol 0.15 and 0.05, published 0.146 and 0.028).

    Points come in any order. A size measured more than once counts as its mean with the weight of all its
    measurements, which is the same minimum; size 1 has weight 0. Answers never rise with the population, are
    at least 1/n, and from the largest size on at most what was measured there, unless the points themselves
    rise somewhere: then they are noisy, and the curve says more than its last point. Points that do not fall
    on the whole leave the tail open: nothing is fitted, the answer is their highest share (1 below the
    smallest size), and the status says so. Refuses shares outside (0, 1], sizes or populations below 1, and
    fewer than two distinct sizes above 1.

    >>> forecast = extrapolate([100, 1000, 2000], [0.98, 0.85, 0.76], [10_000, 1_000_000])
    >>> forecast.correctness.round(2).tolist(), forecast.status
    ([0.49, 0.07], 'ok')
    """
    family = FAMILIES[METHOD.check("method", method)]
    points, people = _measurements(sizes, correctness), COUNT.check("populations", populations)
    if _never_falls(points):
        held = np.where(people < points.sizes[0], 1.0, points.correctness.max())
        return Extrapolation(held, NEVER_FALLS, {})
    fit = family(points)
    gap = float(np.abs(fit.curve(points.sizes) - points.correctness).max())
    problems = fit.problems + [POOR.format(gap=gap)] * (gap > MISFIT)
    return Extrapolation(_within(points, people, fit.curve), "; ".join(problems) or OK, fit.parameters)


def _measurements(sizes: npt.ArrayLike, correctness: npt.ArrayLike) -> Measurements:
    n, kappa = COUNT.check("sizes", sizes).ravel(), MEASURED.check("correctness", correctness).ravel()
    if n.size != kappa.size:
        got = f"got {n.size} sizes and {kappa.size} shares"
        raise OutOfDomainError(f"sizes and correctness must be as many, {got}; pass one share a size")
    distinct, place, times = np.unique(n, return_inverse=True, return_counts=True)
    mean = np.bincount(place, kappa, distinct.size) / times
    above = distinct > 1  # among one person every match is right: size 1 has weight ln 1 = 0 in equation 4
    if above.sum() < LEAST_SIZES:
        got = ", ".join(plain(size) for size in distinct) or "none"
        raise OutOfDomainError(
            f"sizes must hold at least two distinct sizes above 1, got {got}; measure at a further size"
        )
    return Measurements(
        distinct[above], mean[above], np.asarray(times * np.log(distinct), dtype=np.float64)[above]
    )


def _never_falls(points: Measurements) -> bool:
    """Whether the weighted line through κ over ln n is flat or rises; exact for points that are all alike."""
    rise, run = points.correctness - points.correctness[0], np.log(points.sizes / points.sizes[0])
    return bool(points.weights @ (rise * (run - np.average(run, weights=points.weights))) >= 0)


def _within(points: Measurements, people: Floats, curve: Curve) -> Floats:
    answer = np.clip(curve(people), 1 / people, 1.0)  # whoever names anyone is right once in n
    noisy = bool((np.diff(points.correctness) > 0).any())
    cap = 1.0 if noisy else points.correctness[-1]
    return np.where(people >= points.sizes[-1], np.minimum(answer, cap), answer)


def _pyc(points: Measurements) -> Fit:
    scale = float(np.ptp(points.correctness))  # so that shares near 1 settle as well as others

    def residuals(place: Floats) -> Floats:
        return points.residuals(_pyc_curve(*_entropy_and_tail(place))) / scale

    found = [_settle(residuals, start) for start in _pyc_starts(points)]
    best = min(found, key=lambda result: float(result.cost))
    entropy, tail = _entropy_and_tail(best.x)
    problems = [] if best.success else [UNCONVERGED]
    problems += _at_edge("entropy", entropy, pitman_yor.ENTROPY.low, pitman_yor.ENTROPY.high)
    problems += _at_edge("tail", tail, -np.inf, pitman_yor.TAIL.high)  # at the low end it makes no difference
    return Fit(_pyc_curve(entropy, tail), {"entropy": entropy, "tail": tail}, problems)


def _pyc_curve(entropy: float, tail: float) -> Curve:
    return lambda n: pitman_yor.correctness(entropy, tail, n)


def _settle(residuals: Curve, start: Floats) -> OptimizeResult:
    fine = 1e-12
    return least_squares(
        residuals, start, bounds=(LEAST, MOST), method="dogbox", xtol=fine, ftol=fine, gtol=fine, max_nfev=200
    )


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


def _pyc_starts(points: Measurements) -> list[Floats]:
    """Give the best entropy of each tail complexity on a fixed grid, for the best few tails."""
    some = slice(None, None, -(-points.sizes.size // START_POINTS))
    expected = pitman_yor.correctness(
        ENTROPIES[:, None, None], TAILS[:, None], points.sizes[some]
    )  # (entropies, tails, sizes)
    loss = (expected - points.correctness[some]) ** 2 @ points.weights[some]  # (entropies, tails)
    tails = np.argsort(loss.min(axis=0), kind="stable")[:STARTS]
    discount, concentration = pitman_yor.parameters(ENTROPIES[loss.argmin(axis=0)[tails]], TAILS[tails])
    places = np.stack([np.log1p(-discount), np.log1p(concentration)], axis=1)  # (starts, 2)
    return list(np.clip(places, LEAST + EDGE, MOST - EDGE))


def _ent(points: Measurements) -> Fit:
    def curve(entropy: float) -> Curve:
        return lambda n: correctness_from_probability(np.exp(-entropy), n)

    entropy, problems = _best("entropy", np.linspace(pitman_yor.ENTROPY.low, 60.0, 301), points, curve)
    return Fit(curve(entropy), {"entropy": entropy}, problems)


def _exp(points: Measurements) -> Fit:
    def floor(log_rate: float) -> float:
        fallen = -np.expm1(-np.exp(log_rate) * (points.sizes - 1))  # given the rate, κ is linear in the floor
        most = float(points.weights @ (fallen * (points.correctness - 1 + fallen))) / float(
            points.weights @ fallen**2
        )
        return min(max(most, 0.0), 1.0)

    def curve(log_rate: float) -> Curve:
        level = floor(log_rate)
        return lambda n: level + (1 - level) * np.exp(-np.exp(log_rate) * (n - 1))

    slow, fast = -np.log(points.sizes[-1] - 1) - 9.0, -np.log(points.sizes[0] - 1) + 4.0
    log_rate, problems = _best("the logarithm of the rate", np.linspace(slow, fast, 301), points, curve)
    return Fit(curve(log_rate), {"floor": floor(log_rate), "rate": float(np.exp(log_rate))}, problems)


def _pol(points: Measurements) -> Fit:
    logs, roots = np.log(points.sizes), np.sqrt(points.weights)
    terms = (roots * np.stack([logs, logs**2])).T  # (sizes, 2)
    linear, quadratic = (
        float(value) for value in np.linalg.lstsq(terms, roots * (1 - points.correctness), rcond=None)[0]
    )
    turn = max(-linear / (2 * quadratic), 0.0) if quadratic < 0 else np.inf

    def curve(n: Floats) -> Floats:
        x = np.minimum(np.log(n), turn)
        return 1 - linear * x - quadratic * x**2

    problems = [TURNS.format(size=np.exp(turn))] if turn < np.log(COUNT.high) else []
    return Fit(curve, {"linear": linear, "quadratic": quadratic}, problems)


def _best(
    name: str, grid: Floats, points: Measurements, curve: Callable[[float], Curve]
) -> tuple[float, list[str]]:
    """Search one parameter: the best on the grid, then between its neighbours."""

    def loss(value: float) -> float:
        return float((points.residuals(curve(value)) ** 2).sum())

    place = int(np.argmin([loss(value) for value in grid]))
    around = (grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)])
    found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-11})
    value = float(found.x) if found.fun < loss(grid[place]) else float(grid[place])
    problems = [] if found.success else [UNCONVERGED]
    return value, problems + _at_edge(name, value, grid[0], grid[-1])


def _at_edge(name: str, value: float, least: float, most: float) -> list[str]:
    return [AT_EDGE.format(name=name, value=value)] if min(value - least, most - value) < EDGE else []


FAMILIES: Final[dict[str, Callable[[Measurements], Fit]]] = {
    "pyc": _pyc,
    "ent": _ent,
    "exp": _exp,
    "pol": _pol,
}


def rows(
    sizes: npt.ArrayLike, correctness: npt.ArrayLike, populations: npt.ArrayLike, method: str = "pyc"
) -> list[Extrapolated]:
    """Extrapolate, one row a population.

    >>> rows([100, 1000], [0.99, 0.80], [10_000])[0].status
    'ok'
    """
    found = extrapolate(sizes, correctness, populations, method)
    people = np.atleast_1d(np.asarray(populations, dtype=np.float64))
    return [
        Extrapolated(float(n), float(kappa), found.status)
        for n, kappa in zip(people, found.correctness, strict=True)
    ]
