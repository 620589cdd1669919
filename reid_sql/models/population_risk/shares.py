"""Shares of the people of a population, predicted by a model of people, with 95 % intervals.

The shares are of unique people Ξ, of correct matches κ (the mean of 1/F), and of people in classes smaller
than k. Each is predicted twice, for each shape a of the residual: by records drawn from the model (eq. of
`overdispersion`), and by the sample's own records, of whose classes the sample shows a part. At the size of
the sample the second is the count.
"""

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.copula.gaussian_copula import CopulaForecast
from reid_sql.models.fitted_model import doubts_at
from reid_sql.models.interruption import checkpoint
from reid_sql.models.marginals.column import describe_few_records, join_status
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.people import overdispersion
from reid_sql.models.people.model import PeopleModel, SampleRecords
from reid_sql.models.population_risk.intervals import (
    MARGIN_RECORDS,
    NO_COMPARISON,
    WIDTHS,
    Comparison,
    SampleShare,
    Share,
    SharesByShape,
    estimate_interval,
    log_odds,
    share_of,
)
from reid_sql.parameters import COUNT, Floats

# of the sampled fraction: weight of the prediction by the sample's records
SAMPLE_POWER: Final = 0.5
STATUS_OF_MODEL: Final = "tested_interval: for 95 of 100 comparable tables of people, the interval contains the true value"
STATUS_COUNTED: Final = "counted: the sample is the population"


@dataclass(frozen=True)
class ShareKind:
    """How a share is predicted by records of the model and of the sample, and counted in the sample."""

    by_model: Callable[[Floats, Floats, float, int], Floats]  # q, a, people, k
    # sample, a, records, people, k
    by_sample: Callable[[SampleRecords, Floats, float, float, int], Floats]
    count: Callable[[Histogram, int], float]


def _unique(sample: SampleRecords, a: Floats, records: float, people: float, k: int) -> Floats:  # noqa: ARG001
    unique = overdispersion.uniqueness_known(np.exp(sample.log_q)[:, None], a, records, people)
    return np.where(sample.size[:, None] == 1, unique, 0.0)


def _correct(sample: SampleRecords, a: Floats, records: float, people: float, k: int) -> Floats:  # noqa: ARG001
    q = np.exp(sample.log_q)[:, None]
    return overdispersion.correctness_known(sample.size[:, None], q, a, records, people)


def _below(sample: SampleRecords, a: Floats, records: float, people: float, k: int) -> Floats:
    q = np.exp(sample.log_q)[:, None]
    return overdispersion.below_k_known(sample.size[:, None], q, a, (records, people), k)


KINDS: Final[Mapping[str, ShareKind]] = {
    "uniqueness": ShareKind(
        lambda q, a, people, _: overdispersion.uniqueness(q, a, people),
        _unique,
        lambda histogram, _: int(histogram.records[histogram.class_size == 1].sum()),
    ),
    "correctness": ShareKind(
        lambda q, a, people, _: overdispersion.correctness(q, a, people),
        _correct,
        lambda histogram, _: float(histogram.classes.sum()),
    ),
    "below_k": ShareKind(
        overdispersion.below_k,
        _below,
        lambda histogram, k: int(histogram.records[histogram.class_size < k].sum()),
    ),
}


@dataclass(frozen=True)
class Shares:
    """Shares of one population: unique people, correct matches, and people in classes smaller than k."""

    uniqueness: Share
    correctness: Share
    below_k: Share

    def with_ends(self, ends: Callable[[str, Share], tuple[float, float]]) -> "Shares":
        """The shares with other ends, which a function of a share's name and the share gives.

        An estimate below its new lower end rises to it.
        """

        def replace_ends(name: str, one: Share) -> Share:
            low, high = ends(name, one)
            return Share(max(one.estimate, low), low, max(high, low))

        return self.map(replace_ends)

    def at_upper_ends(self) -> "Shares":
        """The shares with each estimate at its upper end."""
        return self.map(lambda _, one: replace(one, estimate=one.high))

    def in_order(self) -> "Shares":
        """The shares, none of whose estimates and ends contradicts another: Ξ ≤ κ and Ξ ≤ V_k.

        Each has an interval of its own. The higher upper end and the lower lower end hold for both.

        >>> one, other = Share(0.2, 0.1, 0.6), Share(0.1, 0.0, 0.5)
        >>> Shares(one, other, other).in_order().correctness
        Share(estimate=0.2, low=0.0, high=0.6)
        """
        xi, wider = self.uniqueness, (self.correctness, self.below_k)
        least = min(xi.low, *(each.low for each in wider))
        above = (Share(max(e.estimate, xi.estimate), e.low, max(e.high, xi.high)) for e in wider)
        return Shares(Share(xi.estimate, least, xi.high), *above)

    def at_most(self, other: "Shares") -> "Shares":
        """The lower of each estimate and each end of two answers."""
        parts = other.parts()
        return self.map(lambda name, one: Share(*map(min, astuple(one), astuple(parts[name]))))

    def parts(self) -> dict[str, Share]:
        """The shares by name."""
        return {name: getattr(self, name) for name in KINDS}

    def map(self, change: Callable[[str, Share], Share]) -> "Shares":
        """The shares that a function of a share's name and the share gives."""
        return Shares(**{name: change(name, one) for name, one in self.parts().items()})


def predict_shares(
    model: PeopleModel,
    people: float,
    k: int = 5,
    *,
    random: bool = True,
    comparison: Comparison = NO_COMPARISON,
) -> Shares:
    """Expected shares among so many people, each with its 95 % interval.

    At the sample's own size they are counted. If the sample is `random`, every record as likely as another,
    an upper end is at most the provable one: shares fall as a population grows, so a binomial bound on the
    share in the sample is an upper bound.
    """
    counts = count_kinds(model.histogram, k)
    if people <= model.records:
        return count_shares(model.histogram, k)
    shares = {}
    for name in KINDS:
        by_shape = predict_by_shape(model, name, people, k)
        sample = SampleShare(counts[name], model.records, people, model.effective_records)
        share = estimate_interval(
            name,
            by_shape,
            model.shapes,
            sample,
            WIDTHS[name],
            comparison=comparison,
            has_upper_bound=random,
        )
        left = model.repeated_people.min_share_left(name, model.records / people, k)
        shares[name] = replace(share, low=share.low * left)
    return Shares(**shares)


def count_kinds(histogram: Histogram, k: int) -> dict[str, float]:
    """Unique records of the sample, its classes, and its records in classes smaller than k."""
    return {name: kind.count(histogram, k) for name, kind in KINDS.items()}


def count_shares(histogram: Histogram, k: int) -> Shares:
    """Shares of the sample itself."""
    records = int(histogram.records.sum())
    ends = {name: count / records for name, count in count_kinds(histogram, k).items()}
    return Shares(**{name: Share(end, end, end) for name, end in ends.items()})


def forecast(model: PeopleModel, populations: npt.ArrayLike) -> list[CopulaForecast]:
    """Ξ and κ of populations of these sizes, with 95 % intervals that include the error of the model."""
    rows, comparison = [], Comparison(overdispersion=model.excess_overdispersion)
    for people in COUNT.check("populations", populations).tolist():
        shares = predict_shares(model, people, 2, comparison=comparison)
        xi, kappa = shares.uniqueness, shares.correctness
        ends = (xi.estimate, xi.low, xi.high, kappa.estimate, kappa.low, kappa.high)
        notes = [STATUS_COUNTED]
        if people > model.records:
            doubts = doubts_at(model.doubts, people)
            notes = [*describe_few_records(model.records), *(doubts or [STATUS_OF_MODEL])]
        rows.append(CopulaForecast(people, *ends, join_status(*notes)))
    return rows


def predict_by_shape(model: PeopleModel, name: str, people: float, k: int) -> SharesByShape:
    """Predict one share for each shape; 0 for shapes without weight."""
    kind, likely = KINDS[name], model.shapes > 0
    weights, log_shapes = model.shapes[likely], model.overdispersion.log_shapes(people)[likely]
    q, shapes = np.exp(model.drawn_log_q)[:, None], np.exp(log_shapes)
    joined = kind.by_model(q, shapes, people, k).mean(axis=0)
    mean_shape = np.exp(weights @ log_shapes)
    variance = float(kind.by_model(q, np.array([mean_shape]), people, k).var())
    distance = 0.0
    if model.sample is not None:
        by_sample = predict_by_sample(kind, model.sample, shapes, (model.histogram, people), k)
        margin = MARGIN_RECORDS / model.records
        distance = float(weights @ (log_odds(by_sample, margin) - log_odds(joined, margin)))
        joined = join_predictions(joined, by_sample, model.records / people, margin)
    values = np.zeros(len(likely))
    values[likely] = joined
    return SharesByShape(values, variance, distance)


def predict_by_sample(
    kind: ShareKind, sample: SampleRecords, shapes: Floats, sizes: tuple[Histogram, float], k: int
) -> Floats:
    """Predict a share for each shape by the records of the sample; `sizes` are its histogram and N.

    The records drawn represent all: their prediction is scaled by the count at the sample's own size.
    """
    checkpoint()
    histogram, people = sizes
    records = float(histogram.records.sum())
    now, then = (
        sample.count @ kind.by_sample(sample, shapes, records, size, k) / sample.count.sum()
        for size in (records, people)
    )
    counted = kind.count(histogram, k) / records
    return np.asarray(np.minimum(counted * then / np.maximum(now, 1e-300), 1.0))


def join_predictions(by_model: Floats, by_sample: Floats, fraction: float, margin: float) -> Floats:
    """Average two predictions on the log-odds scale, the second with weight fraction^SAMPLE_POWER.

    >>> join_predictions(np.array([0.5]), np.array([0.2]), 1.0, 1e-3).round(6).tolist()
    [0.2]
    """
    weight = fraction**SAMPLE_POWER
    log = (1 - weight) * log_odds(by_model, margin) + weight * log_odds(by_sample, margin)
    return share_of(log, margin)


# Bounds of a population's shares that need no model of people.
# Upper bounds assume a random sample with one row per person: each share falls as a population grows, so a
# binomial bound on the share in the sample is one for the population. Lower bounds assume one row per person:
# they count what remains if the people who were not sampled are alike to as many as possible.

UNIQUE_SIZE: Final = 2  # below which a class is one unique person


@dataclass(frozen=True)
class Bounds:
    """Provable ends of the three shares, by name."""

    low: dict[str, float]
    high: dict[str, float]

    def of(self, name: str, *, counted: bool) -> tuple[float, float]:
        """Both ends of a share; where it was `counted`, the count."""
        return (self.low[name], self.low[name] if counted else self.high[name])

    def tighten(self, shares: Shares) -> Shares:
        """Raise lower ends to the provable ones."""
        return shares.with_ends(lambda name, one: (max(one.low, self.low[name]), one.high))

    def lower_ends(self, shares: Shares) -> Shares:
        """Lower the lower ends to the provable ones."""
        return shares.with_ends(lambda name, one: (min(one.low, self.low[name]), one.high))

    def raise_ends(self, shares: Shares) -> Shares:
        """Raise upper ends to the provable ones."""
        return shares.with_ends(lambda name, one: (one.low, max(one.high, self.high[name])))

    def replace_ends(self, shares: Shares) -> Shares:
        """Replace the ends by the provable ones."""
        return shares.with_ends(
            lambda name, one: (self.low[name], max(self.high[name], one.estimate))
        )


def prove_bounds(histogram: Histogram, people: float, k: int, *, random_sample: bool) -> Bounds:
    """Bound the shares of so many people; without a random sample, an upper bound is 1.

    >>> import numpy as np
    >>> three_alone = Histogram(np.array([1]), np.array([3]), np.array([3]))
    >>> [prove_bounds(three_alone, n, 5, random_sample=True).low["uniqueness"] for n in (3, 4, 6)]
    [1.0, 0.5, 0.0]
    """
    records, classes = int(histogram.records.sum()), float(histogram.classes.sum())
    low = {
        "uniqueness": _least_people_below(histogram, UNIQUE_SIZE, people - records) / people,
        "correctness": classes / people,  # E[1/F] is the number of classes over the people
        "below_k": _least_people_below(histogram, k, people - records) / people,
    }
    counts = count_kinds(histogram, k)
    high = {
        name: clopper_pearson_upper(counts[name], records) if random_sample else 1.0
        for name in KINDS
    }
    return Bounds(low, high)


def _least_people_below(histogram: Histogram, size: int, unseen: float) -> float:
    """Fewest people of the sample in classes below `size`, if so many more people join classes.

    To lift a class of f costs size − f people, least for the largest classes; a part of a class counts as a
    part, so that the result is a lower bound.
    """
    left = 0.0
    sizes = zip(histogram.class_size.tolist(), histogram.classes.tolist(), strict=True)
    for people, classes in sorted(sizes, reverse=True):
        if people < size:
            lifted = min(float(classes), unseen / (size - people))
            unseen -= lifted * (size - people)
            left += (classes - lifted) * people
    return left
