"""Choose the constants of the intervals on some cases, without fitting anew; the others are for figures.

A random search seeks the narrowest intervals that contain the truth of nearly all cases of each family, each
table of a family with the same weight. More is asked of the cases than 95 %, as tables that taught nothing
are missed more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from benchmarks.accuracy.people_cases import SHARES, Case
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.population_risk.intervals import (
    WIDTHS,
    Comparison,
    IntervalWidth,
    SampleShare,
    Share,
    SharesByShape,
    estimate_interval,
)
from reid_sql.parameters import Floats

HELD: Final = 0.965  # share of a family's cases that are asked for
MAX_ABOVE: Final = 0.018  # share of the truths that may lie above
PENALTY: Final = 8.0  # widths, of a share of missed truths
ROUNDS: Final = 400
STEP: Final = 0.25  # standard deviation of ln of a constant, from round to round
LIMITS: Final = {  # of the constants, so that no part of the variance is chosen away by a few tables
    "beyond_sample": (0.05, 0.3),
    "binomial": (0.5, 2.0),
    "model_distance": (0.7, 2.5),
    "z_low": (0.8, 3.0),
    "z_high": (0.8, 3.0),
}


def replay(case: Case, name: str, width: IntervalWidth) -> Share:
    """The interval of a case under other constants."""
    distances = case.distance[name], case.to_donors[name]
    by_shape = SharesByShape(np.array(case.values[name]), case.variance[name], *distances)
    records, people = int(case.others[0]), case.others[1]
    alone = case.counted["uniqueness"] == records
    sample = SampleShare(case.counted[name], records, people, nothing_repeats=alone)
    comparison = Comparison(**case.comparison)
    found = estimate_interval(name, by_shape, np.array(case.weights), sample, width, comparison=comparison)
    high = max(found.high, case.high_once.get(name, 0.0))
    found = Share(found.estimate, found.low * case.share_left[name], high)
    if case.crowd:
        of_others, of_crowd = np.split(np.array(case.crowd[name]), 2)
        low, estimate, high = (of_others * [found.low, found.estimate, found.high] + of_crowd).tolist()
        found = Share(estimate, low, min(high, 1.0))
    highest = clopper_pearson_upper(case.counted_all[name], case.records)
    if case.only_bound:
        return Share(found.estimate, 0.0, max(highest, found.estimate))
    return replace(found, high=max(found.high, highest)) if case.fewer_repeats else found


def choose(groups: Mapping[str, Sequence[Case]], seed: int = 0) -> dict[str, IntervalWidth]:
    """Choose the constants of each share by cases of several families."""
    rng, chosen = np.random.default_rng(seed), dict(WIDTHS)
    for name in SHARES:
        best, cost = chosen[name], _cost(groups, name, chosen[name])
        for _ in range(ROUNDS):
            moved = {
                part: float(np.clip(getattr(best, part) * np.exp(rng.normal(0, STEP)), *limits))
                for part, limits in LIMITS.items()
                if rng.random() < 0.5
            }
            other = replace(best, **moved)
            its_cost = _cost(groups, name, other)
            if its_cost < cost:
                best, cost = other, its_cost
        chosen[name] = best
    return chosen


def balance(names: Sequence[str]) -> Floats:
    """Weights by which each table counts the same."""
    _, place, count = np.unique(names, return_inverse=True, return_counts=True)
    return np.asarray(1 / count[place] / len(count))


def _cost(groups: Mapping[str, Sequence[Case]], name: str, width: IntervalWidth) -> float:
    """Mean width, and a penalty for each family that is missed too often."""
    cost = 0.0
    for cases in groups.values():
        weight = balance([case.name for case in cases])
        found = [replay(case, name, width) for case in cases]
        truth = np.array([case.truth[name] for case in cases])
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        held = float(weight @ ((low <= truth) & (truth <= high)))
        cost += float(weight @ (high - low)) + PENALTY * max(HELD - held, 0.0)
        cost += PENALTY * max(float(weight @ (truth > high)) - MAX_ABOVE, 0.0)
    return cost
