"""Correctness in larger populations, from shares of right matches measured at some sizes alone.

Source: Rocher, Hendrickx & de Montjoye 2025, equation 4 and table 1.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.pyc.curve_families import (
    FAMILIES,
    STATUS_UNCONVERGED,
    Fit,
    Task,
    fit_pyc_curve,
)
from reid_sql.models.pyc.measurements import MEASURES, check_measurements
from reid_sql.models.pyc.pitman_yor import CLASS_SIZE
from reid_sql.models.pyc.tilted_curve import (
    MAX_TIMES_MEASURED,
    MIN_POINTS,
    TiltedCurve,
    fit_tilted_curve,
    from_log_odds,
    log_odds,
)
from reid_sql.parameters import COUNT, Choice, Floats

# How far the truth lay from the tilted curve on other tables, in units of what the points leave open.
# A conformal interval: half its width in log-odds is a score times how far the three tilted laws lie apart,
# plus what the points' errors make, plus a little for each factor by which the population exceeds the
# points. The scores are the 95 % quantiles over curves of tables that docs/curves.md names; its figures of
# coverage are of other tables. The points do not determine what lies beyond them, so 95 % means: of
# tables such as those.

PointQuality = Literal["exact", "rough", "few"]

MIN_HALF_WIDTH: Final = 0.0005  # half the width at least: what lies below was not calibrated
WIDTH_PER_LOG_TIMES: Final[dict[PointQuality, float]] = {
    "exact": 0.02,
    "rough": 0.05,
    "few": 0.1,
}  # for each e-fold of people
# Scores up to 30 times the largest size and beyond, by how the points are known and what is forecast.
Scores = dict[str, tuple[float, float]]
SCORES: Final[dict[PointQuality, Scores]] = {
    "exact": {"correctness": (1.7, 3.6), "uniqueness": (2.3, 4.9), "k_violation": (2.4, 5.2)},
    "rough": {"correctness": (2.3, 4.7), "uniqueness": (3.2, 22.4), "k_violation": (4.2, 27.4)},
    "few": {"correctness": (1.8, 4.2), "uniqueness": (5.4, 16.2), "k_violation": (3.0, 14.8)},
}
# The share of people in small sets, measured where nearly all are in such sets, determines the rest badly.
SMALL_SET_SCORES: Final[Scores] = {
    "correctness": (5.9, 7.5),
    "uniqueness": (8.6, 15.8),
    "k_violation": (3.6, 8.7),
}


@dataclass(frozen=True)
class Answer:
    """A measure at each population and the ends of a 95 % interval."""

    value: Floats  # (populations,)
    low: Floats  # (populations,)
    high: Floats  # (populations,)

    def shaped(self, shape: tuple[int, ...]) -> "Answer":
        """Give the same answer in this shape."""
        return Answer(*(ends.reshape(shape) for ends in (self.value, self.low, self.high)))


def conformal_interval(tilted: TiltedCurve, measure: str, people: Floats, value: Floats) -> Answer:
    """Give the tilted curve's interval, stretched to contain `value`.

    Where the truth lies does not depend on the method.
    """
    reach = tilted.reach(measure, people)
    times = people / tilted.task.points.sizes[-1]
    kind = point_quality(tilted)
    near, far = (SMALL_SET_SCORES if tilted.task.measure == "k_violation" else SCORES[kind])[
        measure
    ]
    score = np.where(times > MAX_TIMES_MEASURED, far, near)
    open_ = (
        reach.distance + reach.noise + WIDTH_PER_LOG_TIMES[kind] * np.log(np.maximum(times, 1.0))
    )
    middle = log_odds(reach.answer)
    low, high = (
        from_log_odds(middle + sign * score * open_) + sign * MIN_HALF_WIDTH for sign in (-1, 1)
    )
    low, high = np.maximum(low, _bound_curve_below(tilted, measure, people)), np.minimum(high, 1.0)
    return Answer(value, np.minimum(low, value), np.maximum(high, value))


def point_quality(tilted: TiltedCurve) -> PointQuality:
    """How well the points are known: by which the scores were set."""
    if tilted.few:
        return "few"
    return "exact" if tilted.task.points.exact else "rough"


def _bound_curve_below(tilted: TiltedCurve, measure: str, people: Floats) -> Floats:
    """Bound the measure below: no one needs to be unique, but a guess is right once in n, and sets remain."""
    points = tilted.task.points
    if measure != "correctness":
        return np.zeros(people.shape)
    if tilted.task.measure != "correctness" or point_quality(tilted) != "exact":
        return np.asarray(1 / people)
    return np.asarray(
        np.maximum(1, points.shares[-1] * np.minimum(points.sizes[-1], people)) / people
    )


# Correctness in larger populations from measurements alone: shares of right matches at some sizes.
# No table is needed. Any kind of matching (exact, sparse or learned) gives a share of people matched
# correctly in a gallery of n. The tilted curve is fitted to such shares, or one of the paper's: the
# Pitman–Yor one (PYC-MB) and the its rules of thumb. Source: Rocher, Hendrickx & de Montjoye 2025,
# equation 4 and table 1.

METHOD: Final = Choice(("tilted", "pyc", "ent", "exp", "pol", "rnd"))
MAX_GAP: Final = 0.05
MAX_STANDARD_ERRORS: Final = 2.0  # standard errors, root mean square

STATUS_NEVER_FALLS: Final = (
    "never_falls: correctness does not fall with the size, so the highest measured share is used"
)
STATUS_GAP: Final = "misfit: the points are up to {gap:.2g} away from the fitted curve"
STATUS_MISFIT: Final = (
    "misfit: the points are {misfit:.2g} standard errors (root mean square) away from the curve"
)
STATUS_FEW_SIZES: Final = (
    f"few_sizes: fewer than {MIN_POINTS} sizes give no shape, so the Pitman–Yor curve is used"
)
STATUS_BEYOND: Final = f"far_beyond: no forecast beyond {MAX_TIMES_MEASURED:g} times the largest measured size is reliable"
STATUS_NO_ERRORS: Final = (
    "no_standard_errors: shares count as exact, so the interval leaves out their chance"
)
STATUS_MEAN: Final = (
    "mean_of_curves: the answer is the mean of three curves that fit the points equally well"
)


@dataclass(frozen=True)
class Extrapolation:
    """Each measure at each population, with a 95 % interval; what was fitted, and what is against it.

    A measure is present if the method determines it; the status says what reduces trust in it. `entropy`
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
    """The forecast to one population, None where the method determines none, and its status."""

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

    - tilted: the law of people's surprisal −ln p nearest to a skew lognormal one that fits the points. Of
      fewer than four sizes the Pitman–Yor curve; beyond 30 times the largest size the log-odds fall from
      there on by the mean of three such laws.

    The others minimise Σ ln(n) (κ − Eκ(n))², equation 4, from fixed starts, so that the same points give the
    same answer:

    - pyc: equation 13, of entropy h (nats) and tail complexity γ; where h γ < −14 the sets are equally large,
      whatever γ.
    - ent: m equally large anonymity sets, κ = m/n (1 − (1 − 1/m)^n) with m = e^h, one parameter.
    - exp: exponential decay towards a floor, κ = floor + (1 − floor) exp(−rate (n − 1)).
    - pol: a polynomial in the logarithm of the size, κ = 1 − linear ln n − quadratic (ln n)².
    - rnd: half of the last measured share, whatever the population: the mean of the baseline of table 1, a
      guess uniform between 0 and that share.


    `measure` names what was measured: κ, Ξ, or V_k with its k; tilted, pyc and ent forecast all three from
    any of them, exp, pol and rnd only the one. `standard_errors` are one for each share or one for all, 0
    for exact shares; without them a share is as exact as it is written, and less so if the points contradict
    that, and the status says that the interval does not include a sample's chance.

    Points come in any order. A size measured more than once counts as its mean with the weight of all its
    measurements, which is the same minimum; size 1 has weight 0. Answers never rise with the population, are
    at least 1/n, and from the largest size on at most what was measured there, unless the points themselves
    rise somewhere: then they are noisy, and the curve is more certain than its last point. Points that do not
    fall on the whole leave the tail open: nothing is fitted, the answer is their highest share (1 below the
    smallest size), and the status reports it. Refuses shares outside (0, 1], sizes or populations below 1,
    and fewer than two distinct sizes above 1.

    >>> shares, errors = [0.98, 0.85, 0.76], [0.001, 0.01, 0.01]
    >>> forecast = extrapolate([100, 1000, 2000], shares, [10_000, 1_000_000], "pyc", standard_errors=errors)
    >>> forecast.correctness.round(2).tolist(), forecast.status
    ([0.49, 0.07], 'ok')
    """
    METHOD.check("method", method)
    points = check_measurements(sizes, correctness, standard_errors)
    people = COUNT.check("populations", populations)
    whole = int(CLASS_SIZE.check("k", k))
    task = Task(points, MEASURES.check("measure", measure), whole)
    if points.falls:
        extrapolated = _extrapolate_fitted(task, people.ravel(), method)
    else:  # the highest measured share, and nothing of the other measures
        highest = np.where(people.ravel() < points.sizes[0], 1.0, points.shares.max())
        low = np.minimum(_lower_bound(task.measure, people.ravel()), highest)
        extrapolated = Extrapolation(
            {task.measure: Answer(highest, low, highest)},
            STATUS_NEVER_FALLS,
            {},
            None,
            None,
            (STATUS_NEVER_FALLS,) * people.size,
        )
    shaped = {name: answer.shaped(people.shape) for name, answer in extrapolated.answers.items()}
    return replace(extrapolated, answers=shaped)


def _extrapolate_fitted(task: Task, people: Floats, method: str) -> Extrapolation:
    fitted = fit_pyc_curve(task)
    tilted = fit_tilted_curve(task, fitted)
    if method == "tilted":
        values = {name: tilted.reach(name, people).answer for name in MEASURES.words}
        parameters, problems = {}, _describe_tilt(tilted)
        far = people > MAX_TIMES_MEASURED * task.points.sizes[-1]
    else:
        fit = fitted if method == "pyc" else FAMILIES[method](task)
        values = {task.measure: fit.curve(people)}
        if fit.law is not None:
            values = {name: fit.law(name, people) for name in MEASURES.words}
        parameters, problems = fit.parameters, _describe_gap(task, fit)
        far = np.zeros(people.size, dtype=bool)
    answers = {
        name: conformal_interval(tilted, name, people, _bound_answer(task, name, people, value))
        for name, value in values.items()
    }
    beyond = [STATUS_BEYOND, *[STATUS_MEAN] * (not tilted.few)]
    problems += [STATUS_NO_ERRORS] * (not task.points.errors_given)
    statuses = tuple("; ".join(problems + beyond * bool(one)) or OK for one in far)
    status = max(statuses, key=len, default=OK)
    entropy, tail = fitted.parameters["entropy"], fitted.parameters["tail"]
    return Extrapolation(answers, status, parameters, entropy, tail, statuses)


def _describe_gap(task: Task, fit: Fit) -> list[str]:
    gap = float(np.abs(fit.curve(task.points.sizes) - task.points.shares).max())
    return fit.problems + [STATUS_GAP.format(gap=gap)] * (gap > MAX_GAP)


def _describe_tilt(tilted: TiltedCurve) -> list[str]:
    if tilted.few:
        return [STATUS_FEW_SIZES, *_describe_gap(tilted.task, tilted.fitted)]
    law = tilted.laws[0]
    unmet = [STATUS_MISFIT.format(misfit=law.misfit)] * (law.misfit > MAX_STANDARD_ERRORS)
    return unmet + [STATUS_UNCONVERGED] * (not law.settled)


def _lower_bound(measure: str, people: Floats) -> Floats:
    """Bound the measure below: a guess is right once in n, and no one needs to be unique."""
    return 1 / people if measure == "correctness" else np.zeros(people.shape)


def _bound_answer(task: Task, measure: str, people: Floats, answer: Floats) -> Floats:
    points = task.points
    clipped = np.clip(answer, _lower_bound(measure, people), 1.0)
    capped = measure == task.measure and not points.rises_somewhere
    cap = points.shares[-1] if capped else 1.0
    return np.where(people >= points.sizes[-1], np.minimum(clipped, cap), clipped)


def list_forecasts(forecast: Extrapolation, populations: npt.ArrayLike) -> list[Extrapolated]:
    """One row for each of the populations of the forecast.

    >>> answer = extrapolate([100, 1000], [0.99, 0.80], [10_000], "pyc", standard_errors=[0.01])
    >>> list_forecasts(answer, [10_000])[0].status
    'ok'
    """
    people = np.atleast_1d(np.asarray(populations, dtype=np.float64))
    rows = []
    for place, n in enumerate(people):
        measures: dict[str, float | None] = {}
        for name in MEASURES.words:
            answer = forecast.answers.get(name)
            for column, end in ((name, "value"), (f"{name}_low", "low"), (f"{name}_high", "high")):
                measures[column] = (
                    None if answer is None else float(getattr(answer, end).flat[place])
                )
        rows.append(
            Extrapolated(
                population=float(n),
                entropy=forecast.entropy,
                tail=forecast.tail,
                status=forecast.statuses[place],
                **measures,
            )
        )
    return rows
