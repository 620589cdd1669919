"""Correctness in larger populations from measurements alone: shares of right matches at some sizes.

No table is needed. Any kind of matching (exact, sparse or learned) gives a share of people matched correctly
in a gallery of n. The tilted curve is fitted to such shares, or one of the paper's: the Pitman–Yor one
(PYC-MB) and the rules of thumb beside it. Source: Rocher, Hendrickx & de Montjoye 2025, equation 4 and table
1.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.pyc.curve_families import FAMILIES, UNCONVERGED, Curve, Fit, Task, pyc
from reid_sql.models.pyc.extrapolation_interval import Answer, interval
from reid_sql.models.pyc.measurements import measurements
from reid_sql.models.pyc.pitman_yor import CLASS_SIZE
from reid_sql.models.pyc.surprisal_law import MEASURES
from reid_sql.models.pyc.tilted_curve import FAR, LEAST_POINTS, TiltedCurve, tilted_curve
from reid_sql.parameters import COUNT, Choice, Floats

METHOD: Final = Choice(("tilted", "pyc", "ent", "exp", "pol", "rnd"))
MISFIT: Final = 0.05
IN_ERRORS: Final = 2.0  # standard errors, root mean square

NEVER_FALLS: Final = (
    "not fitted: the measured correctness does not fall with the size, so that it cannot tell how far "
    "identification reaches; held at the highest measured share, which is the safe side"
)
POOR: Final = "the points lie up to {gap:.2g} away from the fitted curve"
UNMET: Final = "the points lie {misfit:.2g} standard errors (root mean square) away from the curve"
FEW: Final = (
    f"fewer than {LEAST_POINTS} sizes do not tell the shape of the curve: the Pitman–Yor one, untilted"
)
BEYOND: Final = f"beyond {FAR:g} times the largest measured size nothing is safe"
EXACT: Final = (
    "without standard errors the shares count as exact as they are written: where they are a sample's, "
    "its chance is not in the interval"
)
MEAN: Final = ": the mean of three curves that the points cannot tell apart"


@dataclass(frozen=True)
class Extrapolation:
    """Each measure at each population, with a 95 % interval; what was fitted, and what is against it.

    A measure is there where the method tells it; what is against it stands against relying on it. `entropy`
    and `tail` are those of the Pitman–Yor curve through the same points (Fig. 3 of the paper), whatever the
    method; None where nothing was fitted.
    """

    answers: dict[str, Answer]
    status: str
    parameters: dict[str, float]
    entropy: float | None
    tail: float | None
    statuses: tuple[str, ...]  # (populations,)

    @property
    def correctness(self) -> Floats:
        """Correctness at each population."""
        return self.answers["correctness"].value


@dataclass(frozen=True)
class Extrapolated:
    """What was forecast to one population, None where the method does not tell; what is against it."""

    population: float
    correctness: float | None
    correctness_low: float | None
    correctness_high: float | None
    uniqueness: float | None
    uniqueness_low: float | None
    uniqueness_high: float | None
    k_violation: float | None
    k_violation_low: float | None
    k_violation_high: float | None
    entropy: float | None
    tail: float | None
    status: str


def extrapolate(
    sizes: npt.ArrayLike,
    correctness: npt.ArrayLike,
    populations: npt.ArrayLike,
    method: str = "tilted",
    *,
    measure: str = "correctness",
    k: int = 5,
    standard_errors: npt.ArrayLike | None = None,
) -> Extrapolation:
    """Forecast the share of right matches in larger populations from shares at some gallery sizes.

    - tilted: the law of people's surprisal −ln p nearest to a skew lognormal one that meets the points. Of
      fewer than four sizes the Pitman–Yor curve; beyond 30 times the largest size the log-odds fall from
      there on by the mean of three such laws.

    The others minimise Σ ln(n) (κ − Eκ(n))², equation 4, from fixed starts, so that the same points give the
    same answer:

    - pyc: equation 13, of entropy h (nats) and tail complexity γ; where h γ < −14 the sets are equally large,
      whatever γ.
    - ent: m equally large anonymity sets, κ = m/n (1 − (1 − 1/m)^n) with m = e^h, one parameter.
    - exp: exponential decay towards a floor, κ = floor + (1 − floor) exp(−rate (n − 1)).
    - pol: a polynomial in the logarithm of the size, κ = 1 − linear ln n − quadratic (ln n)².
    - rnd: the middle between 0 and the last measured share, whatever the population (the baseline of
      table 1).

    The paper names exp and pol without their formulas. Its references for pol find κ linear in the logarithm
    of the gallery size (Friedman et al. 2022) with a quadratic correction (Baveja, Yuan & Wein 2010); κ(1) =
    1 leaves two parameters. For exp no formula was at hand: of five decaying forms tried on other tables,
    this one came closest to the errors of table 1 (0.16 from a tenth of the data and 0.06 from all, published
    0.155 and 0.037; pol 0.15 and 0.05, published 0.146 and 0.028).

    `measure` says what was measured: κ, Ξ, or V_k with its k; the laws of tilted, pyc and ent tell all three
    from any of them, exp, pol and rnd only the one. `standard_errors` are one for each share or one for all,
    0 for exact shares; without them a share is as exact as it is written, and less so where the points
    contradict that, and the status says that a sample's chance is not in the interval.

    Points come in any order. A size measured more than once counts as its mean with the weight of all its
    measurements, which is the same minimum; size 1 has weight 0. Answers never rise with the population, are
    at least 1/n, and from the largest size on at most what was measured there, unless the points themselves
    rise somewhere: then they are noisy, and the curve says more than its last point. Points that do not fall
    on the whole leave the tail open: nothing is fitted, the answer is their highest share (1 below the
    smallest size), and the status says so. Refuses shares outside (0, 1], sizes or populations below 1, and
    fewer than two distinct sizes above 1.

    >>> shares, errors = [0.98, 0.85, 0.76], [0.001, 0.01, 0.01]
    >>> forecast = extrapolate([100, 1000, 2000], shares, [10_000, 1_000_000], "pyc", standard_errors=errors)
    >>> forecast.correctness.round(2).tolist(), forecast.status
    ([0.49, 0.07], 'ok')
    """
    METHOD.check("method", method)
    points = measurements(sizes, correctness, standard_errors)
    people = COUNT.check("populations", populations)
    whole = int(CLASS_SIZE.check("k", k))
    task = Task(points, MEASURES.check("measure", measure), whole)
    found = _fitted(task, people.ravel(), method) if points.falls else _held(task, people.ravel())
    shaped = {name: answer.shaped(people.shape) for name, answer in found.answers.items()}
    return replace(found, answers=shaped)


def _held(task: Task, people: Floats) -> Extrapolation:
    """Answer with the highest measured share, and with nothing of the other measures."""
    points = task.points
    held = np.where(people < points.sizes[0], 1.0, points.shares.max())
    answer = Answer(held, np.minimum(_least(task.measure, people), held), held)
    return Extrapolation({task.measure: answer}, NEVER_FALLS, {}, None, None, (NEVER_FALLS,) * people.size)


def _fitted(task: Task, people: Floats, method: str) -> Extrapolation:
    fitted = pyc(task)
    tilted = tilted_curve(task, fitted)
    far = np.zeros(people.size, dtype=bool)
    if method == "tilted":
        answers, parameters, problems = _by_tilting(tilted, people), {}, _misfit_of_tilt(tilted)
        far = people > FAR * task.points.sizes[-1]
    else:
        fit = fitted if method == "pyc" else FAMILIES[method](task)
        answers, parameters, problems = (
            _by_family(task, fit, tilted, people),
            fit.parameters,
            _misfit(task, fit),
        )
    beyond = BEYOND + MEAN * (not tilted.few)
    problems += [EXACT] * (not task.points.told)
    statuses = tuple("; ".join(problems + [beyond] * bool(one)) or OK for one in far)
    status = max(statuses, key=len, default=OK)
    entropy, tail = fitted.parameters["entropy"], fitted.parameters["tail"]
    return Extrapolation(answers, status, parameters, entropy, tail, statuses)


def _by_tilting(tilted: TiltedCurve, people: Floats) -> dict[str, Answer]:
    return _answers(tilted, people, {name: tilted.reach(name, people).answer for name in MEASURES.words})


def _by_family(task: Task, fit: Fit, tilted: TiltedCurve, people: Floats) -> dict[str, Answer]:
    told: dict[str, Curve] = {task.measure: fit.curve}
    if fit.law is not None:
        law = fit.law
        told = {name: partial(law, name) for name in MEASURES.words}
    return _answers(tilted, people, {name: curve(people) for name, curve in told.items()})


def _answers(tilted: TiltedCurve, people: Floats, told: dict[str, Floats]) -> dict[str, Answer]:
    return {
        name: interval(tilted, name, people, _within(tilted.task, name, people, answer))
        for name, answer in told.items()
    }


def _misfit(task: Task, fit: Fit) -> list[str]:
    gap = float(np.abs(fit.curve(task.points.sizes) - task.points.shares).max())
    return fit.problems + [POOR.format(gap=gap)] * (gap > MISFIT)


def _misfit_of_tilt(tilted: TiltedCurve) -> list[str]:
    if tilted.few:
        return [FEW, *_misfit(tilted.task, tilted.fitted)]
    law = tilted.laws[0]
    unmet = [UNMET.format(misfit=law.misfit)] * (law.misfit > IN_ERRORS)
    return unmet + [UNCONVERGED] * (not law.settled)


def _least(measure: str, people: Floats) -> Floats:
    """Whoever names anyone is right once in n; nobody needs to be unique."""
    return 1 / people if measure == "correctness" else np.zeros(people.shape)


def _within(task: Task, measure: str, people: Floats, answer: Floats) -> Floats:
    points = task.points
    kept = np.clip(answer, _least(measure, people), 1.0)
    capped = measure == task.measure and not points.rises_somewhere
    cap = points.shares[-1] if capped else 1.0
    return np.where(people >= points.sizes[-1], np.minimum(kept, cap), kept)


def rows(forecast: Extrapolation, populations: npt.ArrayLike) -> list[Extrapolated]:
    """One row for each of the populations of the forecast.

    >>> found = extrapolate([100, 1000], [0.99, 0.80], [10_000], "pyc", standard_errors=[0.01])
    >>> rows(found, [10_000])[0].status
    'ok'
    """
    people = np.atleast_1d(np.asarray(populations, dtype=np.float64))
    return [_row(forecast, place, float(n)) for place, n in enumerate(people)]


def _row(forecast: Extrapolation, place: int, population: float) -> Extrapolated:
    told = {
        column: value
        for name in MEASURES.words
        for column, value in zip(
            (name, f"{name}_low", f"{name}_high"), _ends(forecast.answers.get(name), place), strict=True
        )
    }
    return Extrapolated(
        population=population,
        entropy=forecast.entropy,
        tail=forecast.tail,
        status=forecast.statuses[place],
        **told,
    )


def _ends(answer: Answer | None, place: int) -> tuple[float | None, float | None, float | None]:
    if answer is None:
        return None, None, None
    value, low, high = (float(end.flat[place]) for end in (answer.value, answer.low, answer.high))
    return value, low, high
