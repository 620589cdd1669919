"""Choose the constants of the intervals on some cases, without fitting anew; the others are for figures.

For each share, the narrowest intervals are chosen, on average over families, that contain nearly all truths
and have hardly any above them. Few constants are free, since of many more some fit the tables at hand: chosen
on two thirds of the tables and judged on the third, intervals by five constants a share missed more truths
than by three. More is asked of the cases than 95 %, as tables that taught nothing are missed more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
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

TOLERANCE: Final = 1e-9
HELD: Final = 0.97  # share of the cases that are asked for
MAX_ABOVE: Final = 0.01  # share of the truths that may lie above
MIN_HELD_OF_FAMILY: Final = 0.93
PEOPLE_WEIGHT: Final = 3.0  # of the family of people; the others have 1
BEYOND_SAMPLE: Final = (0.03, 0.04, 0.06, 0.09, 0.12)
Z_LOW: Final = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)
Z_HIGH: Final = (1.0, 1.3, 1.5, 1.7, 1.9, 2.1, 2.3, 2.5)


def replay(case: Case, name: str, width: IntervalWidth) -> Share:
    """The interval of a case under other constants."""
    by_shape = SharesByShape(np.array(case.values[name]), case.variance[name], case.distance[name])
    records, people = int(case.others[0]), case.others[1]
    sample = SampleShare(case.counted[name], records, people)
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
    is_raised = case.fewer_repeats or case.counted_all["uniqueness"] == case.records
    return replace(found, high=max(found.high, highest)) if is_raised else found


def choose(groups: Mapping[str, Sequence[Case]]) -> dict[str, IntervalWidth]:
    """Choose the constants of each share by cases of several families."""
    chosen = {}
    for name in SHARES:
        grid = product(BEYOND_SAMPLE, Z_LOW, Z_HIGH)
        widths = [replace(WIDTHS[name], beyond_sample=p, z_low=low, z_high=high) for p, low, high in grid]
        chosen[name] = min(widths, key=lambda width: _cost(groups, name, width))
    return chosen


def balance(names: Sequence[str]) -> Floats:
    """Weights by which each table counts the same."""
    _, place, count = np.unique(names, return_inverse=True, return_counts=True)
    return np.asarray(1 / count[place] / len(count))


def judge(cases: Sequence[Case], ends: Floats, name: str) -> tuple[float, float, float]:
    """Share of the intervals that contain the truth, of truths above, and the mean width; `ends` are rows."""
    weight, truth = balance([case.name for case in cases]), np.array([case.truth[name] for case in cases])
    low, high = ends.T
    held = (low - TOLERANCE <= truth) & (truth <= high + TOLERANCE)
    return float(weight @ held), float(weight @ (truth > high + TOLERANCE)), float(weight @ (high - low))


def _cost(groups: Mapping[str, Sequence[Case]], name: str, width: IntervalWidth) -> float:
    """Mean width; infinite where too many truths are missed or above."""
    rows, weights = [], []
    for family, cases in groups.items():
        found = [replay(case, name, width) for case in cases]
        rows.append(judge(cases, np.array([[one.low, one.high] for one in found]), name))
        weights.append(PEOPLE_WEIGHT if family == "people" else 1.0)
    held, above, mean_width = np.average(np.array(rows), axis=0, weights=weights).tolist()
    least = min(row[0] for row in rows)
    return mean_width if held >= HELD and above <= MAX_ABOVE and least >= MIN_HELD_OF_FAMILY else np.inf
