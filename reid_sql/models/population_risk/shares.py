"""Shares of the people of a population, predicted by a model of people, with 95 % intervals.

The shares are of unique people Ξ, of correct matches κ (the mean of 1/F), and of people in classes smaller
than k. Each is predicted twice, for each shape a of the residual: by records drawn from the model (eq. of
`overdispersion`), and by the sample's own records, of whose classes the sample shows a part. At the size of
the sample the second is the count.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.copula.gaussian_copula import CopulaForecast
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.people import overdispersion
from reid_sql.models.people.model import PeopleModel, SampleRecords
from reid_sql.parameters import COUNT, Floats

SAMPLE_POWER: Final = 0.5  # of the sampled fraction: weight of the prediction by the sample's records
MARGIN_RECORDS: Final = 0.2  # ε n, by which shares stay off 0 and 1 on the log-odds scale
PADDING: Final = 0.0005  # share added at both ends of an interval
STATUS_OF_MODEL: Final = "for 95 of 100 comparable tables of people, the interval contains the true value"
STATUS_COUNTED: Final = "the population is no larger than the sample: counted in the sample"


@dataclass(frozen=True)
class ShareKind:
    """How a share is predicted by records of the model and of the sample, and counted in the sample."""

    by_model: Callable[[Floats, Floats, float, int], Floats]  # q, a, people, k
    by_sample: Callable[[SampleRecords, Floats, float, float, int], Floats]  # sample, a, records, people, k
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
class IntervalWidth:
    """Constants of one share's interval, chosen in benchmarks/accuracy/people.py on tables of people."""

    beyond_sample: float  # p₂, of the distance to the share in the sample
    binomial: float  # p₃
    z: float
    class_people: float = 1.0  # c, people of a class that has the share
    model_distance: float = 1.5  # p₄, chosen on kinds of tables of benchmarks/accuracy/kinds.py


WIDTHS: Final = {
    "uniqueness": IntervalWidth(0.2, 1.0, 0.85),
    "correctness": IntervalWidth(0.1, 0.5, 0.95),
    "below_k": IntervalWidth(0.05, 1.0, 1.54, 2.5),
}


@dataclass(frozen=True)
class Share:
    """A share of people with the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Shares:
    """Shares of one population: unique people, correct matches, and people in classes smaller than k."""

    uniqueness: Share
    correctness: Share
    below_k: Share


def predict_shares(model: PeopleModel, people: float, k: int = 5, *, random: bool = True) -> Shares:
    """Expected shares among so many people, each with its 95 % interval.

    At the sample's own size they are counted. If the sample is `random`, every record as likely as another,
    an upper end is at most the provable one: shares fall as a population grows, so a binomial bound on the
    share in the sample is an upper bound.
    """
    counts = count_kinds(model.histogram, k)
    if people <= model.records:
        return count_shares(model.histogram, k)
    shares, fraction = {}, model.records / people
    for name, width in WIDTHS.items():
        by_shape = predict_by_shape(model, name, people, k)
        estimate = float(model.shapes @ by_shape.values)
        variance = add_population_variance(by_shape.variance, estimate, fraction, width.class_people)
        in_sample = counts[name] / model.records, model.records
        spread = measure_spread(
            by_shape.values, model.shapes, variance, in_sample, width, distance=by_shape.distance
        )
        highest = clopper_pearson_upper(counts[name], model.records) if random else 1.0
        share = interval(spread, width.z, highest)
        left = model.repeated_people.min_share_left(name, fraction, k)
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
    rows = []
    for people in COUNT.check("populations", populations).tolist():
        shares = predict_shares(model, people, 2)
        xi, kappa = shares.uniqueness, shares.correctness
        ends = (xi.estimate, xi.low, xi.high, kappa.estimate, kappa.low, kappa.high)
        status = STATUS_OF_MODEL if people > model.records else STATUS_COUNTED
        rows.append(CopulaForecast(people, *ends, status))
    return rows


@dataclass(frozen=True)
class SharesByShape:
    """One share for each shape, and its uncertainty."""

    values: Floats  # (shapes,)
    variance: float  # over persons of the model at the mean of ln a
    distance: float = 0.0  # log-odds from the model's records to the sample's


def predict_by_shape(model: PeopleModel, name: str, people: float, k: int) -> SharesByShape:
    """Predict one share for each shape."""
    kind, shapes = KINDS[name], np.exp(model.overdispersion.log_shapes(people))
    q = np.exp(model.drawn_log_q)[:, None]
    terms = kind.by_model(q, shapes, people, k)  # (draws, shapes)
    values = np.asarray(terms.mean(axis=0))
    mean_shape = np.exp(model.shapes @ np.log(shapes))
    variance = float(kind.by_model(q, np.array([mean_shape]), people, k).var())
    if model.sample is None:
        return SharesByShape(values, variance)
    by_sample = predict_by_sample(kind, model.sample, shapes, (model.histogram, people), k)
    margin = MARGIN_RECORDS / model.records
    distance = float(model.shapes @ (log_odds(by_sample, margin) - log_odds(values, margin)))
    joined = join_predictions(values, by_sample, model.records / people, margin)
    return SharesByShape(joined, variance, distance)


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


def join_predictions(
    by_model: Floats, by_sample: Floats, fraction: float, margin: float, power: float = SAMPLE_POWER
) -> Floats:
    """Average two predictions on the log-odds scale, the second with weight fraction^power.

    >>> join_predictions(np.array([0.5]), np.array([0.2]), 1.0, 1e-3).round(6).tolist()
    [0.2]
    """
    weight = fraction**power
    log = (1 - weight) * log_odds(by_model, margin) + weight * log_odds(by_sample, margin)
    return share_of(log, margin)


def log_odds(values: Floats, margin: float) -> Floats:
    """g(x) = ln((x + ε)/(1 − x + ε)).

    >>> float(log_odds(np.array(0.5), 0.1))
    0.0
    """
    return np.asarray(np.log((values + margin) / (1 - values + margin)))


def share_of(log: Floats | float, margin: float) -> Floats:
    """Inverse of log_odds.

    >>> round(float(share_of(log_odds(np.array(0.3), 0.1), 0.1)), 6)
    0.3
    """
    p = 1 / (1 + np.exp(-np.asarray(log)))
    return np.asarray(np.clip(p * (1 + 2 * margin) - margin, 0, 1))


@dataclass(frozen=True)
class Spread:
    """Centre m and deviation σ of a share on the log-odds scale, before the factor z."""

    estimate: float
    centre: float
    deviation: float
    margin: float  # ε


def measure_spread(
    values: Floats,
    weights: Floats,
    variance: float,
    in_sample: tuple[float, int],
    width: IntervalWidth,
    *,
    distance: float = 0.0,
) -> Spread:
    """Spread of a share, given its value for each shape and the weights of the shapes.

    `variance` is over persons at one shape, `in_sample` the share in the sample and its number of records,
    `distance` that of the sample's records from the model's.

        σ² = V + v/(n (M + ε)² (1 − M + ε)²) + (p₂ |g(s) − m|)² + p₃²/(n (M + ε)(1 − M + ε)) + (p₄ d)²

    m and V are mean and variance of g over shapes, v the variance over persons (delta method), M the
    estimate, s the share in the sample, d the distance, ε = 0.2/n.
    """
    counted, records = in_sample
    margin = MARGIN_RECORDS / records
    estimate = float(weights @ values)
    logs = log_odds(values, margin)
    centre = float(weights @ logs)
    slope = (estimate + margin) * (1 - estimate + margin)  # of the inverse of g
    parts = (
        float(weights @ (logs - centre) ** 2),
        variance / (records * slope**2),
        (width.beyond_sample * (float(log_odds(np.array(counted), margin)) - centre)) ** 2,
        width.binomial**2 / (records * slope),
        (width.model_distance * distance) ** 2,
    )
    return Spread(estimate, centre, float(np.sqrt(sum(parts))), margin)


def add_population_variance(variance: float, estimate: float, fraction: float, class_people: float) -> float:
    """Add that a population of N is itself random: n/N c M (1 − M), with c people of a class at once.

    >>> add_population_variance(0.1, 0.5, 0.2, 2.0)
    0.2
    """
    return variance + fraction * class_people * estimate * (1 - estimate)


def interval(spread: Spread, z: float, highest: float) -> Share:
    """The interval g⁻¹(m ± z σ) ± 0.0005, at most `highest`.

    z is conformal: the quantile of |g(truth) − m|/σ over tables of people, each corpus with the same weight,
    for which intervals contain 95 % of the truths of other corpora.
    """
    low = float(share_of(spread.centre - z * spread.deviation, spread.margin)) - PADDING
    high = min(float(share_of(spread.centre + z * spread.deviation, spread.margin)) + PADDING, highest)
    estimate = min(spread.estimate, highest)
    return Share(estimate, max(min(low, estimate), 0.0), max(high, estimate))
