"""How far the truth lay from the tilted curve on other tables, in units of what the points leave open.

A conformal interval: half its width in log-odds is a score times how far the three tilted laws lie apart,
plus what the points' errors make, plus a little for each factor by which the population exceeds the points.
The scores are the 95 % quantiles over curves of tables that docs/curves.md names; its figures of coverage are
of other tables. Nothing within the points can tell what lies beyond them, so 95 % means: of tables such as
those.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from reid_sql.models.pyc.tilted_curve import FAR, TiltedCurve, from_log_odds, log_odds
from reid_sql.parameters import Floats

Points = Literal["exact", "rough", "few"]

SMALLEST: Final = 0.0005  # half the width at least: what lies below was not calibrated
GROWTH: Final[dict[Points, float]] = {"exact": 0.02, "rough": 0.05, "few": 0.1}  # for each e-fold of people
# Scores up to 30 times the largest size and beyond, by how the points are known and what is forecast.
Scores = dict[str, tuple[float, float]]
SCORES: Final[dict[Points, Scores]] = {
    "exact": {"correctness": (1.7, 3.6), "uniqueness": (2.3, 4.9), "k_violation": (2.4, 5.2)},
    "rough": {"correctness": (2.3, 4.7), "uniqueness": (3.2, 22.4), "k_violation": (4.2, 27.4)},
    "few": {"correctness": (1.8, 4.2), "uniqueness": (5.4, 16.2), "k_violation": (3.0, 14.8)},
}
# The share of people in small sets, measured where nearly all are in such sets, tells the rest badly.
FROM_SMALL_SETS: Final[Scores] = {
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
        """Give the same answer in the shape of what was asked."""
        return Answer(*(ends.reshape(shape) for ends in (self.value, self.low, self.high)))


def interval(tilted: TiltedCurve, measure: str, people: Floats, value: Floats) -> Answer:
    """Give the tilted curve's interval, stretched to hold `value`.

    Where the truth lies does not hang on the method.
    """
    reach = tilted.reach(measure, people)
    times = people / tilted.task.points.sizes[-1]
    kind = kind_of(tilted)
    near, far = (FROM_SMALL_SETS if tilted.task.measure == "k_violation" else SCORES[kind])[measure]
    score = np.where(times > FAR, far, near)
    open_ = reach.apart + reach.noise + GROWTH[kind] * np.log(np.maximum(times, 1.0))
    middle = log_odds(reach.answer)
    low, high = (from_log_odds(middle + sign * score * open_) + sign * SMALLEST for sign in (-1, 1))
    low, high = np.maximum(low, _least(tilted, measure, people)), np.minimum(high, 1.0)
    return Answer(value, np.minimum(low, value), np.maximum(high, value))


def kind_of(tilted: TiltedCurve) -> Points:
    """How well the points are known: by which the scores were set."""
    if tilted.few:
        return "few"
    return "exact" if tilted.task.points.exact else "rough"


def _least(tilted: TiltedCurve, measure: str, people: Floats) -> Floats:
    """Nobody needs to be unique; but who names anyone is right once in n, and sets once met remain."""
    points = tilted.task.points
    if measure != "correctness":
        return np.zeros(people.shape)
    if tilted.task.measure != "correctness" or kind_of(tilted) != "exact":
        return np.asarray(1 / people)
    return np.asarray(np.maximum(1, points.shares[-1] * np.minimum(points.sizes[-1], people)) / people)
