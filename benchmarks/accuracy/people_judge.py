"""Constants from some corpora, figures for the others: each corpus is judged by what all but it have taught.

What is learnt: the shift and the drift of the shape, how much the sample's own persons count, and for each
share the quantile z of its interval. Each corpus has the same weight.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Final

import numpy as np

from benchmarks.accuracy.kinds import KINDS
from benchmarks.accuracy.people_cases import OF_PEOPLE, Case, K
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.people import overdispersion
from reid_sql.models.people.overdispersion import LOG_SHAPES, ShapeLaw, ShapeLikelihood
from reid_sql.models.people.repeated_people import DrawnGroups, RepeatedPeople
from reid_sql.models.population_risk import shares as shares_of
from reid_sql.models.population_risk.answer import MAX_ABOVE_LOGLINEAR as FOREIGN_BY
from reid_sql.models.population_risk.answer import (
    STATUS_GROUP_SAMPLE,
    STATUS_NO_REPEATS,
    STATUS_OVERDISPERSED,
    STATUS_SMALL_SAMPLE,
    STATUS_UNCERTAIN_DEPENDENCIES,
    STATUS_UNLIKE_PEOPLE,
    WITHOUT_LOWER,
    WITHOUT_UPPER,
    is_overdispersed,
    may_hide_duplicates,
)
from reid_sql.models.population_risk.shares import (
    WIDTHS,
    IntervalWidth,
    Spread,
    add_population_variance,
    measure_spread,
)
from reid_sql.parameters import Floats

SHIFTS: Final = (-0.9, -0.6, -0.3, 0.0)
DRIFTS: Final = (-0.1, 0.0)
POWERS: Final = (0.5,)
LEVEL: Final = (
    0.97  # quantile of the other corpora: more than 95 %, as a corpus that taught nothing errs more
)


@dataclass(frozen=True)
class Learnt:
    """What some corpora taught."""

    law: ShapeLaw
    power: float
    z: dict[str, float] = field(default_factory=dict)


QUANTILES: Final = {name: width.z for name, width in WIDTHS.items()}
PRODUCT: Final = Learnt(overdispersion.LAW, shares_of.SAMPLE_POWER, QUANTILES)


@dataclass(frozen=True)
class Judged:
    """One case under constants of other corpora: by share, the estimate and the ends of its interval."""

    case: Case
    shares: dict[str, shares_of.Share]
    doubts: Sequence[str] = ()

    def error(self, name: str) -> float:
        return self.shares[name].estimate - self.case.truth[name]

    def held(self, name: str) -> bool:
        share = self.shares[name]
        return share.low - 1e-12 <= self.case.truth[name] <= share.high + 1e-12


def judged(cases: Sequence[Case]) -> list[Judged]:
    """Judge every case by what the other corpora of people teach, kinds by the constants of the product."""
    of_people = [case for case in cases if case.corpus in OF_PEOPLE]
    found = []
    for corpus in dict.fromkeys(case.corpus for case in cases):
        others = [case for case in of_people if case.corpus != corpus]
        taught = PRODUCT if corpus in KINDS else learnt(others)
        found += [judge(case, taught) for case in cases if case.corpus == corpus]
    return found


def judge(case: Case, taught: Learnt) -> Judged:
    """Give the shares of a case under some constants, and what population_risk doubts of them."""
    shares, doubts = {}, list(_doubts(case, taught))
    for name in shares_of.KINDS:
        cap = clopper_pearson_upper(round(case.sample[name] * case.records), case.records)
        found = shares_of.interval(spread(case, name, taught.law, taught.power), taught.z[name], cap)
        high = max(cap, found.estimate) if WITHOUT_UPPER.intersection(doubts) else found.high
        left = RepeatedPeople(*case.twins).min_share_left(name, case.records / case.people, K)
        low = 0.0 if WITHOUT_LOWER.intersection(doubts) else found.low * left
        shares[name] = shares_of.Share(found.estimate, low, high)
    return Judged(case, shares, doubts)


def _doubts(case: Case, taught: Learnt) -> Iterator[str]:
    """What population_risk says of the case, of its notes that move an end of the interval."""
    estimate = spread(case, "uniqueness", taught.law, taught.power).estimate
    other = case.rivals["main_effects"][0]
    if other is not None and estimate - other > FOREIGN_BY:
        yield STATUS_UNLIKE_PEOPLE
    if is_overdispersed(_weights(_key(case), taught.law.shift, taught.law.deviation), case.entropy):
        yield STATUS_OVERDISPERSED
    if DrawnGroups(case.grouped[0], int(case.grouped[1])).is_group_sample(case.people):
        yield STATUS_GROUP_SAMPLE
    if not case.sure:
        yield STATUS_UNCERTAIN_DEPENDENCIES
    if may_hide_duplicates(case.records, case.people):
        yield STATUS_SMALL_SAMPLE
    if case.sample["uniqueness"] == 1:
        yield STATUS_NO_REPEATS


def learnt(cases: Sequence[Case]) -> Learnt:
    """Choose the constants of least mean absolute error of Ξ, then the quantiles."""
    options = [
        (ShapeLaw(s, overdispersion.LAW.deviation, d), p) for s, d, p in product(SHIFTS, DRIFTS, POWERS)
    ]
    law, power = min(options, key=lambda option: _loss(cases, *option))
    z = {name: quantile(cases, name, law, power) for name in shares_of.KINDS}
    return Learnt(law, power, z)


def quantile(cases: Sequence[Case], name: str, law: ShapeLaw, power: float) -> float:
    """Conformal quantile of |g(truth) − m|/σ, the little that intervals get on both sides taken off first."""
    scores = []
    for case in cases:
        found = spread(case, name, law, power)
        near = [
            float(shares_of.log_odds(np.clip(case.truth[name] + step, 0, 1), found.margin))
            for step in np.linspace(-shares_of.PADDING, shares_of.PADDING, 11)
        ]
        away = min(abs(one - found.centre) for one in near)
        within = min(near) <= found.centre <= max(near)
        scores.append(0.0 if within else away / found.deviation)
    weight = balanced([case.corpus for case in cases])
    order = np.argsort(scores)
    return float(np.array(scores)[order][np.searchsorted(np.cumsum(weight[order]), LEVEL)])


def balanced(corpora: Sequence[str]) -> Floats:
    """Weights by which each corpus counts the same."""
    _, place, count = np.unique(corpora, return_inverse=True, return_counts=True)
    return np.asarray(1 / count[place] / len(count))


def spread(case: Case, name: str, law: ShapeLaw, power: float) -> Spread:
    """What the product works out, from the curves of the case."""
    weights = _weights(_key(case), law.shift, law.deviation)
    of_model, by_sample, variance = (_drifted(case, curve[name], law) for curve in _curves(case))
    near = shares_of.MARGIN_RECORDS / case.records
    values = shares_of.join_predictions(of_model, by_sample, case.records / case.people, near, power)
    distance = float(weights @ (shares_of.log_odds(by_sample, near) - shares_of.log_odds(of_model, near)))
    at = float(weights @ LOG_SHAPES)
    width: IntervalWidth = WIDTHS[name]
    variance_there = add_population_variance(
        float(np.interp(at, LOG_SHAPES, variance)),
        float(weights @ values),
        case.records / case.people,
        width.class_people,
    )
    sample = case.sample[name], case.records
    return measure_spread(values, weights, variance_there, sample, width, distance=distance)


def _loss(cases: Sequence[Case], law: ShapeLaw, power: float) -> float:
    errors = np.array(
        [abs(spread(case, "uniqueness", law, power).estimate - case.truth["uniqueness"]) for case in cases]
    )
    return float(balanced([case.corpus for case in cases]) @ errors)


def _curves(case: Case) -> Iterable[dict[str, list[float]]]:
    return case.of_model, case.of_sample, case.variances


def _drifted(case: Case, curve: Sequence[float], law: ShapeLaw) -> Floats:
    return np.interp(overdispersion.log_shapes_at(case.records, case.people, law), LOG_SHAPES, curve)


_CASES: Final[dict[int, Case]] = {}


def _key(case: Case) -> int:
    _CASES[id(case)] = case
    return id(case)


@cache
def _weights(key: int, shift: float, scatter: float) -> Floats:
    case = _CASES[key]
    others = [ShapeLikelihood(entropy, np.array(likelihood)) for entropy, likelihood in case.others]
    return overdispersion.posterior_of_shapes(
        ShapeLikelihood(case.entropy, np.array(case.own)), others, ShapeLaw(shift, scatter, 0.0)
    )
