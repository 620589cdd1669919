"""Unique people in a population, from how many others of a sample match each person, by penalized likelihood.

An attacker knows something of a person, such as p of their rows, that a share s of all people have. Among n
people, as many others match as a binomial variable of n − 1 trials and chance s counts. So one law of the
surprisal L = −ln s determines the matches in a sample and the unique people in a population, whether or not
matching people form classes (Farzanehfar, Houssiau & de Montjoye 2021; Rocher, Hendrickx & de Montjoye 2025,
equation 13). Its logarithm is g on a lattice of L, and maximizes

    Σ c_b ln P_b(g) − λ/2 ∫ g‴(L)² dL,

the c_b being people by their number of matches, in bins. Without data the penalty leaves a normal law, that
is, lognormal shares (Silverman 1982). Each λ has a weight by Laplace's approximation of its likelihood.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.pyc.measurements import measure_at_share
from reid_sql.models.pyc.tilted_curve import LOG_ODDS_FLOOR, from_log_odds, log_odds
from reid_sql.parameters import Floats

STEP: Final = 0.5
SURPRISAL: Final = np.arange(0, 32 + STEP, STEP)  # (lattice,)
SHARES: Final = np.minimum(np.exp(-SURPRISAL), 1 - 1e-12)  # off 1 so that ln(1 − s) is finite
BIN_GROWTH: Final = 1.6  # of the numbers of matches
PENALTIES: Final = (1e5, 1e4, 1e3, 1e2, 10.0, 1.0, 0.1)
# A weak prior where nothing matches: g is curved like that of a normal law of one of these deviations, each
# of which has a weight, too, and has no slope. Weights are those of a deviation of 4, and scale with it.
PRIOR_DEVIATIONS: Final = (4.0, 1.3)
WIDEST: Final = PRIOR_DEVIATIONS[0]
PRIOR_CURVATURE_WEIGHT: Final = 0.02
PRIOR_SLOPE_WEIGHT: Final = 1e-3
START_LOCATIONS: Final = np.arange(0, 24, 0.75)
START_SCALES: Final = np.array([0.3, 0.6, 1.0, 1.5, 2.2, 3.2, 4.5])
MAX_NEWTON_STEPS: Final = 200
MIN_GAIN: Final = 1e-7
MIN_STEP_LENGTH: Final = 1e-4
ARMIJO_SHARE: Final = 1e-4
MIN_CHANCE: Final = 1e-300
# Chosen on generated traces and purchases of three kinds, judged on others (docs/rows_per_person.md): targets
# are also each other's rivals, so that n people count as fewer; and how many standard deviations of log-odds
# the interval takes at each side.
PEOPLE_PER_INDEPENDENT: Final = 1.5
SCORE: Final = 1.7
MIN_DEVIATION: Final = 0.1  # of log-odds, by the shape of the law, however many people
MIN_HALF_WIDTH: Final = 0.003


@dataclass(frozen=True)
class PopulationShare:
    """A share of a population, and the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class _Law:
    """The law at one penalty, the covariance of its logarithm, and the logarithm of the data's chance."""

    mass: Floats  # (lattice,)
    covariance: Floats  # (lattice, lattice)
    evidence: float

    def log_odds_of(self, kernel: Floats) -> tuple[float, float]:
        """Log-odds of the average of a kernel, (lattice,), and their standard deviation."""
        share = float(kernel @ self.mass)
        slope = self.mass * (kernel - share)
        deviation = float(np.sqrt(max(float(slope @ self.covariance @ slope), 0.0)))
        per_share = 1 / (share + LOG_ODDS_FLOOR) + 1 / (1 - share + LOG_ODDS_FLOOR)
        return float(log_odds(np.array(share))), deviation * per_share


def forecast_uniqueness(
    matches: npt.ArrayLike, weight: npt.ArrayLike, people: int, targets: int, population: float
) -> PopulationShare:
    """Share of people whom their known rows single out in a population, by who matches them in a sample.

    `matches` count the target too; `weight` is how often so many people match. `targets` are the people who
    were looked for: all of the sample, or as many as were drawn.

    >>> alone = forecast_uniqueness([1], [500], 500, 500, 1e4)
    >>> alone.low > 0.1, alone.high
    (True, 1.0)
    """
    edges, chances = _bin_chances(people)
    other_matches = np.asarray(matches, dtype=np.float64) - 1
    counts = np.histogram(other_matches, edges, weights=np.asarray(weight, dtype=np.float64))[0]
    counts = counts * (targets / PEOPLE_PER_INDEPENDENT / counts.sum())
    laws = []
    # At each penalty, the smoothest first, from the normal law that fits best.
    for deviation in PRIOR_DEVIATIONS:
        place = _start(chances, counts, deviation)
        for penalty in PENALTIES:
            checkpoint()
            prior = _prior(penalty, deviation)
            place = _maximize(place, chances, counts, prior)
            # Approximate the posterior of g by a normal one (Laplace): its covariance, and
            # the data's chance.
            mass = _mass(place)
            precision = _curvature(mass, chances, counts) + prior[0]
            log_chance = _objective(place, chances, counts, prior)
            log_chance += (np.linalg.slogdet(prior[0])[1] - np.linalg.slogdet(precision)[1]) / 2
            covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
            laws.append(_Law(mass, covariance, float(log_chance)))
    evidence = np.array([law.evidence for law in laws])
    weights = np.exp(evidence - evidence.max())
    return _forecast(laws, weights / weights.sum(), population)


def _forecast(laws: list[_Law], weight: Floats, population: float) -> PopulationShare:
    kernel = measure_at_share("uniqueness", population, SHARES)
    odds, deviations = np.array([law.log_odds_of(kernel) for law in laws]).T
    middle = float(weight @ odds)
    variance = float(weight @ (deviations**2 + (odds - middle) ** 2))
    half = SCORE * np.sqrt(variance + MIN_DEVIATION**2)
    estimate, low, high = (
        float(each) for each in from_log_odds(middle + half * np.array([0.0, -1.0, 1.0]))
    )
    return PopulationShare(
        estimate, max(low - MIN_HALF_WIDTH, 0.0), min(high + MIN_HALF_WIDTH, 1.0)
    )


@lru_cache(maxsize=8)
def _bin_chances(people: int) -> tuple[Floats, Floats]:
    """Edges of bins of other people who match, and the chance of each bin at each surprisal.

    P(others ≤ e − 1) is V_k of k = e + 1, where at most k − 2 others match.
    """
    inner = np.unique(np.round(BIN_GROWTH ** np.arange(np.log(people) / np.log(BIN_GROWTH) + 1)))
    inner = inner[inner < people]
    below = [
        measure_at_share("k_violation", float(people), SHARES, int(edge) + 1) for edge in inner
    ]
    upto = np.stack([np.zeros(SHARES.size), *below, np.ones(SHARES.size)])
    return np.concatenate([[0.0], inner, [people]]), np.maximum(np.diff(upto, axis=0), MIN_CHANCE)


def _prior(penalty: float, deviation: float) -> tuple[Floats, Floats]:
    """Q and q of the prior's logarithm −gᵀQg/2 + qᵀg; a constant in g changes no law, so its mean is 0."""
    first, second, third = (
        np.asarray(np.diff(np.eye(SURPRISAL.size), order, axis=0) / STEP**order)
        for order in (1, 2, 3)
    )
    constant = np.full((SURPRISAL.size, SURPRISAL.size), 1 / SURPRISAL.size)
    scale = deviation / WIDEST  # ∫ (g″)² scales with deviation⁻³, ∫ (g‴)² with deviation⁻⁵
    slope, curvature = STEP * PRIOR_SLOPE_WEIGHT, STEP * PRIOR_CURVATURE_WEIGHT * scale**3
    roughness = penalty * STEP * scale**5
    quadratic = (
        roughness * third.T @ third + curvature * second.T @ second + slope * first.T @ first
    )
    linear = -curvature * second.T @ np.full(SURPRISAL.size - 2, deviation**-2)
    return quadratic + constant, linear


def _start(chances: Floats, counts: Floats, deviation: float) -> Floats:
    location, scale = (each.ravel() for each in np.meshgrid(START_LOCATIONS, START_SCALES))
    places = -(((SURPRISAL - location[:, None]) / scale[:, None]) ** 2) / 2  # (starts, lattice)
    quadratic, linear = _prior(0.0, deviation)
    fit = np.log(np.maximum(_mass(places) @ chances.T, MIN_CHANCE)) @ counts
    centred = places - places.mean(axis=1, keepdims=True)
    prior = centred @ linear - ((centred @ quadratic) * centred).sum(axis=1) / 2
    return np.asarray(places[np.argmax(fit + prior)], dtype=np.float64)


def _mass(place: Floats) -> Floats:
    mass = np.exp(place - place.max(axis=-1, keepdims=True))
    return np.asarray(mass / mass.sum(axis=-1, keepdims=True))


def _objective(
    place: Floats, chances: Floats, counts: Floats, prior: tuple[Floats, Floats]
) -> float:
    quadratic, linear = prior
    fit = counts @ np.log(chances @ _mass(place))
    return float(fit - place @ quadratic @ place / 2 + linear @ place)


def _curvature(mass: Floats, chances: Floats, counts: Floats) -> Floats:
    """Fisher's information of g: Jᵀ diag(n/P) J with J = ∂P/∂g = K diag(m) − P mᵀ."""
    expected = chances @ mass
    slopes = chances * mass - np.outer(expected, mass)
    return np.asarray((slopes.T * (counts.sum() / expected)) @ slopes)


def _maximize(
    place: Floats, chances: Floats, counts: Floats, prior: tuple[Floats, Floats]
) -> Floats:
    """Fisher scoring with halved steps."""
    quadratic, linear = prior
    here = _objective(place, chances, counts, prior)
    for _ in range(MAX_NEWTON_STEPS):
        mass = _mass(place)
        slope = (
            mass * (chances.T @ (counts / (chances @ mass)) - counts.sum())
            - quadratic @ place
            + linear
        )
        step = np.linalg.solve(_curvature(mass, chances, counts) + quadratic, slope)
        gain, length = float(slope @ step), 1.0
        if gain < MIN_GAIN:
            break
        there = _objective(place + step, chances, counts, prior)
        while there < here + ARMIJO_SHARE * length * gain and length > MIN_STEP_LENGTH:
            length /= 2
            there = _objective(place + length * step, chances, counts, prior)
        place, here = place + length * step, there
    return place
