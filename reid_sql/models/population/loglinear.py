"""Risk of each record by log-linear models of the counts in the population.

A class of expected sample count μ = f λ, f the sampled fraction, has F people of whom the sample shows some.
With Poisson counts, P(F = 1 | sample unique) = e^−(1−f)λ; with negative binomial counts of shape a, ((a +
μ)/(a + λ))^(a+1). The chance that a match is right is the mean of 1/F. τ₁ and τ₂ are the sums of both over
the records that are unique in the sample. Source: Skinner & Shlomo 2008; Rocher, Hendrickx & de Montjoye
2019, supplement, note 1, equations 14 and 15.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import NO_RECORDS, OK, Integers
from reid_sql.models.numerics import quadrature
from reid_sql.models.population import overdispersion, two_way
from reid_sql.parameters import Floats, Number

FRACTION: Final = Number(
    "a share of the population of at least 1e-12 and at most 1",
    "pass records / population, such as 0.01",
    1e-12,
    1.0,
)
Fraction = Annotated[float, FRACTION]
INTERACTIONS: Final = Number(
    "0 or 2", "pass 0 for main effects, 2 for all two-way interactions", 0.0, 2.0, whole=True
)
Interactions = Annotated[int, INTERACTIONS]
MANY: Final = 0.25  # parameters per class from which on the two-way model mostly repeats the sample
TOO_MANY: Final = (
    "the two-way model has {} parameters for {} classes: it nearly repeats the sample "
    "and understates the risk, compare interactions := 0"
)
NOT_FITTED: Final = "the two-way model is not fitted to the end, it misses a pair of values by {:.2g} records"
ONE_SIZE: Final = (
    "all classes have one size: the sample says nothing of how much counts vary, "
    "and the risk may be understated"
)
SATURATED: Final = (
    "the main effects repeat the sample's own counts, as those of one column do: the risk is understated"
)
NEARLY: Final = 2e-3  # in a logarithm, which may be rounded to a thousandth


@dataclass(frozen=True)
class FittedRecords:
    """Distinct records: how many hold each, log of the count that main effects expect, codes if needed."""

    records: Integers  # (distinct,)
    log_expected: Floats  # (distinct,)
    codes: Integers  # (distinct, columns), else (distinct, 0)


@dataclass(frozen=True)
class LoglinearRisk:
    """Chances that a record is unique in the population, and that a match is right; totals.

    One chance for each distinct record; nb: negative binomial.
    """

    class_size: Integers
    uniqueness: Floats
    correctness: Floats
    nb_uniqueness: Floats
    nb_correctness: Floats
    tau1: float
    tau2: float
    nb_tau1: float
    nb_tau2: float
    nb_shape: float | None
    status: str


def risk(fitted: FittedRecords, sampling_fraction: float, interactions: int = 0) -> LoglinearRisk:
    """Score each distinct record; refuses an empty table, and a two-way model with too many combinations.

    >>> four = FittedRecords(np.array([1, 3]), np.log([1.0, 3.0]), np.empty((2, 0), dtype=np.int64))
    >>> found = risk(four, 0.5)
    >>> found.uniqueness.round(4).tolist(), found.correctness.round(4).tolist()
    ([0.3679, 0.0], [0.6321, 0.1815])
    """
    f = float(FRACTION.check("sampling_fraction", sampling_fraction))
    if not len(fitted.records):
        raise NoRecordsError(NO_RECORDS)
    mu, notes = _expected(fitted, interactions)
    sizes = fitted.records
    alone = sizes == 1
    a = overdispersion.shape(sizes, mu, np.ones_like(sizes))
    if (sizes == sizes[0]).all():
        notes.append(ONE_SIZE)
    xi, nb_xi = (np.where(alone, uniqueness(mu, f, shape), 0.0) for shape in (np.inf, a))
    kappa = nb_kappa = quadrature.expected_inverse_poisson(sizes, (1 - f) * mu / f)
    if not np.isinf(a):
        nb_kappa = quadrature.expected_inverse_negative_binomial(sizes, a + sizes, (a + mu) / (a + mu / f))
    tau1, tau2, nb_tau1, nb_tau2 = (float(values[alone].sum()) for values in (xi, kappa, nb_xi, nb_kappa))
    nb_shape = None if np.isinf(a) else a
    status = "; ".join(notes) or OK
    return LoglinearRisk(sizes, xi, kappa, nb_xi, nb_kappa, tau1, tau2, nb_tau1, nb_tau2, nb_shape, status)


def saturated(sizes: Integers, log_expected: Floats) -> bool:
    """Whether the model expects just what was counted, so that it says nothing beyond the sample."""
    return bool(np.abs(log_expected - np.log(sizes)).max() < NEARLY)


def uniqueness(expected: Floats, fraction: float, shape: float = np.inf) -> Floats:
    """Chance that a record unique in the sample is unique in the population.

    An infinite shape is Poisson's. `expected` are the counts μ that the model expects in the sample:
    e^−(1−f)λ, else ((a + μ)/(a + λ))^(a+1), λ = μ/f.

    >>> uniqueness(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [1.0, 0.3679]
    >>> uniqueness(np.array([1.0]), 0.5, 1.0).round(4).tolist()
    [0.4444]
    """
    people = expected / fraction
    if np.isinf(shape):
        return np.asarray(np.exp(-(1 - fraction) * people))
    return np.asarray(np.exp((shape + 1) * (np.log1p(expected / shape) - np.log1p(people / shape))))


def _expected(fitted: FittedRecords, interactions: int) -> tuple[Floats, list[str]]:
    """Give the expected sample count of each distinct record, and what is to be said of the fit."""
    if INTERACTIONS.check("interactions", interactions) == 1:
        raise OutOfDomainError(INTERACTIONS.sentence("interactions", "1"))
    if interactions == 0:
        return np.exp(fitted.log_expected), [SATURATED] * saturated(fitted.records, fitted.log_expected)
    found = two_way.fit(fitted.codes, fitted.records)
    classes = len(fitted.records)
    crowded = found.parameters > MANY * classes
    notes = [TOO_MANY.format(found.parameters, classes)] * crowded
    return found.expected, notes + [NOT_FITTED.format(found.deviation)] * (found.deviation > two_way.FITTED)
