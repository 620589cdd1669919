"""The curve of a law of the surprisal: a smooth base, tilted as little as the measured points ask for.

Three bases: the Pitman–Yor process, a lognormal law of the sets' shares, and a skew one. The last (of rough
points the second) is the answer up to 30 times the largest size that was measured; how far the three lie
apart says how much of the answer is the base's own.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from reid_sql.interruption import checkpoint
from reid_sql.models.numerics.scipy_functions import expit
from reid_sql.models.pyc import surprisal_law
from reid_sql.models.pyc.curve_families import Fit, Task
from reid_sql.models.pyc.maximum_entropy import Tilted, tilt
from reid_sql.models.pyc.measurements import EXACT, Measurements
from reid_sql.models.pyc.pitman_yor import parameters
from reid_sql.models.pyc.surprisal_law import kernel, skew_lognormal
from reid_sql.parameters import Floats

LEAST_POINTS: Final = 4  # from as many on, three parameters and a tilt are told by the points
FAR: Final = 30.0  # times the largest size: beyond, no one base is better than their mean
FLOOR: Final = 1e-4  # of log-odds
NEARLY_EQUAL: Final = 1e6  # −d from which on the sets' shares differ by less than the lattice tells

LOCATIONS: Final = np.arange(0.5, 36.0)
LOG_SCALES: Final = np.array([-1.4, -0.7, 0, 0.5, 1, 1.4, 1.8])
SLANTS: Final = (0.5, -0.5)  # where the search for the shape starts
STARTS: Final = 2
LEAST: Final = np.array([-30.0, -2.5, -8.0])
MOST: Final = np.array([60.0, 3.0, 8.0])
TRIES: Final = 100
WIDENED: Final = 3.0  # by which errors that nobody told grow until the points can be met
WIDEST: Final = 0.3
PLACES: Final = np.stack(np.meshgrid(LOCATIONS, LOG_SCALES, indexing="ij"), axis=-1).reshape(-1, 2)


@cache
def _grid() -> Floats:
    """The laws where the search looks first, (places, bins)."""
    return np.stack([skew_lognormal(location, np.exp(scale), 0.0) for location, scale in PLACES])


def log_odds(share: Floats) -> Floats:
    """Logarithm of the odds, bounded at shares of 0 and 1."""
    inside = np.clip(share, 0.0, 1.0)
    return np.asarray(np.log((inside + FLOOR) / (1 - inside + FLOOR)))


def from_log_odds(value: Floats) -> Floats:
    """Give the share of these log-odds back."""
    return np.asarray(np.clip((1 + 2 * FLOOR) * expit(value) - FLOOR, 0.0, 1.0))


@dataclass(frozen=True)
class Reach:
    """What the three laws say of one measure: the answer, their distance, and the noise, in log-odds.

    The distance is how far they lie apart, the noise what it makes of the answer.
    """

    answer: Floats  # (populations,), a share
    apart: Floats  # (populations,)
    noise: Floats  # (populations,)


@dataclass(frozen=True)
class TiltedCurve:
    """Three tilted laws of the surprisal and the points they were tilted to."""

    task: Task
    fitted: Fit  # the Pitman–Yor curve
    laws: tuple[Tilted, ...]  # the first answers: skew lognormal, lognormal, Pitman–Yor

    @property
    def few(self) -> bool:
        """Whether the points are too few to tell a shape."""
        return self.task.points.sizes.size < LEAST_POINTS

    def reach(self, measure: str, populations: Floats) -> Reach:
        """Answer for this measure in each population.

        Up to 30 times the largest size the first law answers; beyond, its log-odds there and the mean fall
        of all three from there on. Of fewer than four sizes the Pitman–Yor curve answers.
        """
        edge = np.full(1, FAR * self.task.points.sizes[-1])
        both = kernel(measure, np.concatenate([populations, edge]), self.task.k)
        odds = np.stack([log_odds(both @ law.mass) for law in self.laws])  # (laws, populations + 1)
        here, there = odds[:, :-1], odds[:, -1:]
        answer = np.where(populations > edge, there[0] + (here - there).mean(axis=0), here[0])
        if self.few and self.fitted.law is not None:
            answer = log_odds(self.fitted.law(measure, populations))
        apart = np.abs(here - answer).max(axis=0)
        return Reach(from_log_odds(answer), apart, self._noise(both[:-1], from_log_odds(answer)))

    def _noise(self, weights: Floats, answer: Floats) -> Floats:
        """Standard deviation by the points' errors, whether these are independent or all one."""
        law = self.laws[0]
        moved = law.influence(weights)[:, 1:] * (self.task.points.errors / self.task.points.shares)
        spread = np.maximum(np.sqrt((moved**2).sum(axis=-1)), np.abs(moved.sum(axis=-1)))
        return np.asarray(spread / ((answer + FLOOR) * (1 - answer + FLOOR)))


def tilted_curve(task: Task, fitted: Fit) -> TiltedCurve:
    """Fit the three bases and tilt them; `fitted` is the Pitman–Yor curve of the same points.

    The skew and the lognormal base minimise Σ ln(n) n (κ − Eκ(n))², which looks at the far end of the curve
    more than equation 4 does. Errors that nobody told start from those of rounding, and grow until a law
    meets the points within them. Rough points bear no third parameter: of them the lognormal law answers.
    """
    expected = kernel(task.measure, task.points.sizes, task.k)
    third = _pitman_yor(fitted)
    if task.points.sizes.size < LEAST_POINTS:
        both = (_lognormal(task, expected, 2), third)
        return TiltedCurve(task, fitted, tuple(_untilted(task, expected, base) for base in both))
    bases = (_lognormal(task, expected, 3), _lognormal(task, expected, 2), third)
    task = _met(task, expected, bases[0])
    first = bases if task.points.exact else (bases[1], bases[0], third)
    laws = tuple(_tilted(base, expected, task.points) for base in first)
    return TiltedCurve(task, fitted, laws)


def _met(task: Task, expected: Floats, base: Floats) -> Task:
    """Let the errors grow, where nobody told them, until the tilted base meets the points within them."""
    points = task.points
    while True:
        law = _tilted(base, expected, points)
        if points.told or (law.settled and law.misfit <= 1) or points.relative.max() > WIDEST:
            return replace(task, points=points)
        points = replace(points, errors=WIDENED * points.relative * points.shares)


def _tilted(base: Floats, expected: Floats, points: Measurements) -> Tilted:
    """Tilt to the points, and to a law's mass of 1: among one person every measure is 1."""
    one = np.ones((1, base.size))
    return tilt(base, np.r_[one, expected], np.r_[1.0, points.shares], np.r_[EXACT, points.relative])


def _untilted(task: Task, expected: Floats, base: Floats) -> Tilted:
    points = task.points
    scaled = np.r_[np.ones((1, base.size)), expected / points.shares[:, None]]
    errors = np.r_[EXACT, points.relative]
    return Tilted(base, np.zeros(errors.size), settled=True, scaled=scaled, errors=errors)


def _pitman_yor(fitted: Fit) -> Floats:
    d, alpha = (float(value) for value in parameters(fitted.parameters["entropy"], fitted.parameters["tail"]))
    if -d > NEARLY_EQUAL:
        return surprisal_law.equal_sets(fitted.parameters["entropy"])
    return surprisal_law.pitman_yor(d, alpha)


def _lognormal(task: Task, expected: Floats, parameters: int) -> Floats:
    """Fit location and scale, and with a third parameter the shape, from the best points of a grid."""
    points = task.points
    roots = np.sqrt(points.weights * points.sizes / points.sizes[-1])

    def law(place: Floats) -> Floats:
        location, log_scale, shape = np.r_[place, 0.0][:3]
        return skew_lognormal(location, np.exp(log_scale), shape)

    from scipy.optimize import least_squares  # noqa: PLC0415 - as numerics/search says

    def residuals(place: Floats) -> Floats:
        checkpoint()
        return np.asarray(roots * (expected @ law(place) - points.shares))

    loss = (_grid() @ expected.T - points.shares) ** 2 @ roots**2
    starts = PLACES[np.argsort(loss, kind="stable")[:STARTS]]
    places = [
        np.r_[start, slant][:parameters] for start in starts for slant in SLANTS[: max(1, parameters - 1)]
    ]
    bounds = LEAST[:parameters], MOST[:parameters]
    found = [least_squares(residuals, place, bounds=bounds, max_nfev=TRIES) for place in places]
    return law(min(found, key=lambda result: float(result.cost)).x)
