"""Choose the constants of the intervals on some cases, without fitting anew; the others are for figures.

For each share, two constants are chosen: the standard deviations to both ends. They have the least mean
Winkler score, each table with the same weight, of those that contain nearly all truths with few above.
Of many more constants, some fit the tables at hand: chosen on three quarters of the tables and judged on the
last, five constants a share missed more truths. More is asked of the cases than 95 %, as tables that taught
nothing are missed more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

import numpy as np

from benchmarks.accuracy.people_cases import SHARES, Case
from benchmarks.accuracy.people_page import PRICE_OF_MISS
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.population_risk.intervals import (
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
Z_LOW: Final = (1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2)
Z_HIGH: Final = (1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2, 2.3, 2.4)


def replay(case: Case, name: str, width: IntervalWidth) -> Share:
    """The interval of a case under other constants."""
    by_shape = SharesByShape(np.array(case.values[name]), case.variance[name], case.distance[name])
    records, people = int(case.others[0]), case.others[1]
    sample = SampleShare(case.counted[name], records, people)
    comparison = Comparison(**case.comparison)
    found = estimate_interval(
        name, by_shape, np.array(case.weights), sample, width, comparison=comparison
    )
    high = max(found.high, case.high_once.get(name, 0.0))
    found = Share(found.estimate, found.low * case.share_left[name], high)
    if case.crowd:
        of_others, of_crowd = np.split(np.array(case.crowd[name]), 2)
        low, estimate, high = (
            of_others * [found.low, found.estimate, found.high] + of_crowd
        ).tolist()
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
        widths = [IntervalWidth(low, high) for low, high in product(Z_LOW, Z_HIGH)]
        cases = [case for some in groups.values() for case in some]
        chosen[name] = min(widths, key=lambda width: _cost(cases, name, width))
    return chosen


def balance(names: Sequence[str]) -> Floats:
    """Weights by which each table counts the same."""
    _, place, count = np.unique(names, return_inverse=True, return_counts=True)
    return np.asarray(1 / count[place] / len(count))


def _cost(cases: Sequence[Case], name: str, width: IntervalWidth) -> float:
    """Mean Winkler score; infinite where too many truths are missed or above."""
    weight, truth = (
        balance([case.name for case in cases]),
        np.array([case.truth[name] for case in cases]),
    )
    found = [replay(case, name, width) for case in cases]
    low, high = np.array([[one.low - TOLERANCE, one.high + TOLERANCE] for one in found]).T
    missed = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    is_good = weight @ (missed == 0) >= HELD and weight @ (truth > high) <= MAX_ABOVE
    return float(weight @ (high - low + PRICE_OF_MISS * missed)) if is_good else np.inf
