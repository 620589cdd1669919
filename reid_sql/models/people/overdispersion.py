"""Overdispersion of real cells around a model's: a gamma residual of mean 1 and shape a, and how a is found.

Model: a population of N people has N q G people in a cell of probability q, G ~ Gamma(shape a, mean 1);
given G, the number is Poisson. a = ∞ is no overdispersion. Source: Skinner & Shlomo 2008 (negative binomial
counts); Carota et al. 2015 (the same as random effects of a Dirichlet process).

A person is in a cell in proportion to its size, so for them G has density ∝ G g(G): Gamma(a + 1), rate a.
The number M of other people is negative binomial of size a + 1:

    P(M = m) = Γ(a + 1 + m) / (Γ(a + 1) m!) · (1 − p)^m p^(a + 1),   p = a / (a + N q).

If a sample of n people shows s people of the cell, the person among them, then G is Gamma(a + s) with rate
a + n q, and the unseen others are negative binomial of size a + s and p = (a + n q) / (a + N q).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import quadrature
from reid_sql.models.numerics.special_functions import as_floats, betainc
from reid_sql.models.people.evidence import row_keys
from reid_sql.models.people.tree import LatentClasses, PairTables
from reid_sql.parameters import Floats, Integers

LOG_SHAPES: Final[Floats] = np.linspace(-6.0, 5.0, 56)  # grid of ln a
MAX_SUBTABLES: Final = 40
SUBTABLE_DRAWS: Final = 800  # records drawn from each sub-table's tree
SUBTABLE_RECORDS: Final = 3000  # of the sample, whose repeats are counted
INDEPENDENT_SUBTABLES: Final = 6.0  # that all together count as, since they share columns
REPEAT_DISPERSION: Final = 2.5  # variance of the number of repeated records over a binomial one
CENTRE: Final = 8.0  # nats
MAX_SUMMED_SIZE: Final = 20  # k up to which probabilities of class sizes are added up one by one
MIN_WEIGHT: Final = 1e-5  # of a shape
INTERCEPT: Final = (-1.2, 3.0)  # prior of α, mean and standard deviation
SLOPE: Final = (-0.155, 0.015)  # prior of β
MIN_LOG_SHAPE: Final = -1.0  # at 8 nats; nearly all tables of people have a greater mean of ln a
MIN_LOG_SHAPE_SLOPE: Final = -0.15  # for each nat
STATUS_OVERDISPERSED: Final = "overdispersed: counts differ from the model more than in reference tables, so the estimate is doubtful"


def uniqueness(q: npt.ArrayLike, shape: npt.ArrayLike, people: float) -> Floats:
    """Chance ξ that a person of the cell is unique: P(M = 0) = (1 + N q/a)^−(a+1).

    >>> uniqueness(0.01, 1.0, 100).round(4).tolist()
    0.25
    """
    a = np.asarray(shape, dtype=np.float64)
    return np.asarray(np.exp(-(a + 1) * np.log1p(people * np.asarray(q) / a)))


def correctness(q: npt.ArrayLike, shape: npt.ArrayLike, people: float) -> Floats:
    """Mean κ of 1/F, F = 1 + M, for a person of the cell: (1 − (1 + N q/a)^−a) / (N q).

    E[1/F] over persons is P(the cell is not empty) / E[its size].

    >>> correctness(0.01, 1.0, 100).round(4).tolist()
    0.5
    """
    a, q = as_floats(shape, q)
    mean = np.maximum(people * q, 1e-300)
    return np.asarray(np.where(mean < 1e-9, 1.0, -np.expm1(-a * np.log1p(mean / a)) / mean))  # noqa: PLR2004


def below_k(q: npt.ArrayLike, shape: npt.ArrayLike, people: float, k: int) -> Floats:
    """Chance that a person of the cell is in a class of fewer than k: P(M ≤ k − 2), an incomplete beta.

    >>> below_k(0.01, 1.0, 100, 2).round(4).tolist(), below_k(0.01, 1.0, 100, 1).tolist()
    (0.25, 0.0)
    """
    a, q = as_floats(shape, q)
    mean = people * q
    if k <= 1:
        return np.zeros(np.broadcast(a, mean).shape)
    if k <= MAX_SUMMED_SIZE:
        return sum_negative_binomial(a + 1, a / (a + mean), k - 1)
    return np.asarray(betainc(a + 1, k - 1.0, a / (a + mean)))


def sum_negative_binomial(
    size: npt.ArrayLike, chance: npt.ArrayLike, terms: npt.ArrayLike
) -> Floats:
    """P(M < `terms`) of a negative binomial M, as a sum of its probabilities.

    P(M = 0) = p^s and P(M = m + 1) = P(M = m) (s + m)/(m + 1) (1 − p). It is the incomplete beta function
    I_p(s, terms), for a few terms in a tenth of its time; no probability is below 0, so that none cancel.

    >>> sum_negative_binomial([2.0, 2.0], 0.5, [1, 2]).tolist()
    [0.25, 0.5]
    """
    size, chance = as_floats(size, chance)
    terms = np.asarray(terms)
    probability = np.exp(size * np.log(chance)) * np.ones(terms.shape)
    total = np.where(terms > 0, probability, 0.0)
    for m in range(int(terms.max(initial=0)) - 1):
        probability = probability * ((size + m) / (m + 1) * (1 - chance))
        total += np.where(terms > m + 1, probability, 0.0)
    return np.asarray(np.minimum(total, 1.0))


def uniqueness_known(
    q: npt.ArrayLike, shape: npt.ArrayLike, records: float, people: float
) -> Floats:
    """ξ of a person whom the sample of n shows alone in the cell: ((a + n q) / (a + N q))^(a+1).

    >>> uniqueness_known(0.01, 1.0, 100, 100).tolist(), uniqueness_known(0.01, 1.0, 100, 300).tolist()
    (1.0, 0.25)
    """
    a, q = as_floats(shape, q)
    return np.asarray(np.exp((a + 1) * (np.log1p(records * q / a) - np.log1p(people * q / a))))


def correctness_known(
    seen: npt.ArrayLike, q: npt.ArrayLike, shape: npt.ArrayLike, records: float, people: float
) -> Floats:
    """κ of a person where the sample of n shows `seen` people of the cell, the person among them.

    >>> known, unknown = correctness_known(1, 0.01, 1.0, 0, 100), correctness(0.01, 1.0, 100)
    >>> round(float(known), 6) == round(float(unknown), 6)
    True
    """
    a, q = as_floats(shape, q)
    chance = (a + records * q) / (a + people * q)
    return quadrature.expected_inverse_negative_binomial(seen, a + np.asarray(seen), chance)


def below_k_known(
    seen: npt.ArrayLike, q: npt.ArrayLike, shape: npt.ArrayLike, sizes: tuple[float, float], k: int
) -> Floats:
    """Chance of a class of fewer than k for a person where the sample shows `seen` people; `sizes` are n, N.

    >>> below_k_known([1, 3], 0.01, 1.0, (100, 300), 3).round(4).tolist()
    [0.5, 0.0]
    """
    a, q, sampled = as_floats(shape, q, seen)
    records, people = sizes
    chance = (a + records * q) / (a + people * q)
    terms = np.maximum(k - sampled, 1.0)  # at most this number less one may be unseen
    below = (
        sum_negative_binomial if k <= MAX_SUMMED_SIZE else lambda s, p, terms: betainc(s, terms, p)
    )
    return np.asarray(np.where(sampled < k, below(a + sampled, chance, terms), 0.0))


@dataclass(frozen=True)
class ShapeLaw:
    """How ln a of a full table differs from its sub-tables' line, and of a population from its sample's."""

    shift: float  # from the line
    deviation: float  # standard deviation around the shifted line
    drift: float  # per factor 10 of the population over the sample


# fitted to tables of people in benchmarks/accuracy/people.py
LAW: Final = ShapeLaw(-0.13, 0.7, -0.1)


@dataclass(frozen=True)
class ShapeLikelihood:
    """What a table's repeated records show of ln a: the model's entropy and a log-likelihood."""

    entropy: float  # nats
    log_likelihood: Floats  # of LOG_SHAPES


def shape_likelihood(log_q: Floats, records: int, repeated: int) -> ShapeLikelihood:
    """Compare the number of repeated records of a sample with the number expected at each shape.

    `log_q` is of records drawn from the model; its mean is minus the entropy.
    """
    q = np.exp(log_q)[:, None]
    unique = uniqueness(q, np.exp(LOG_SHAPES), records).mean(axis=0)
    # R = n − s₁ is normal of mean μ = n (1 − U(a)); a binomial variance n U (1 − U) is too small, since the
    # records of one class repeat together.
    expected = np.maximum(records * (1 - unique), 1e-9)
    variance = REPEAT_DISPERSION * np.maximum(expected * np.maximum(unique, 1e-3), 0.3)
    log_likelihood = -((repeated - expected) ** 2) / (2 * variance) - np.log(variance) / 2
    return ShapeLikelihood(-float(log_q.mean()), log_likelihood)


def subtable_likelihoods(
    tables: PairTables,
    drawn: Integers,
    rng: np.random.Generator,
    classes: LatentClasses | None = None,
) -> list[ShapeLikelihood]:
    """Likelihoods of a on random subsets of the columns, each with a tree of its own over the same pairs.

    A table of many columns hardly repeats at the size of a sample; its sub-tables do. Latent classes replace
    the trees where they are given.
    """
    codes = drawn[:SUBTABLE_RECORDS]
    likelihoods = []
    for columns in choose_subsets(drawn.shape[1], rng):
        checkpoint()
        if classes is None:
            log_q = tables.spanning_tree(columns).draw_log_q(SUBTABLE_DRAWS, rng)
        else:
            log_q = classes.draw_log_q_of(columns, SUBTABLE_DRAWS, rng)
        _, sizes = np.unique(row_keys(codes[:, columns]), return_counts=True)
        repeated = len(codes) - int((sizes == 1).sum())
        likelihoods.append(shape_likelihood(log_q, len(codes), repeated))
    return likelihoods


def choose_subsets(columns: int, rng: np.random.Generator) -> list[list[int]]:
    """Draw distinct subsets of 2 to all but one of the columns."""
    subsets: dict[tuple[int, ...], None] = {}
    for _ in range(3 * MAX_SUBTABLES if columns > 2 else 0):  # noqa: PLR2004
        size = int(rng.integers(2, columns))
        subsets[tuple(sorted(rng.choice(columns, size, replace=False).tolist()))] = None
        if len(subsets) == MAX_SUBTABLES:
            break
    return [list(subset) for subset in subsets]


def posterior_of_shapes(
    full_table: ShapeLikelihood, subtables: Sequence[ShapeLikelihood]
) -> Floats:
    """Posterior weights of LOG_SHAPES: the prior by the sub-tables, times the table's own likelihood.

    Weights below MIN_WEIGHT are 0.
    """
    # Prior density of ln a of the full table: normal around the shifted line, averaged over the line
    alphas, betas, weight = _fit_line(subtables)
    centre = alphas + betas * (full_table.entropy - CENTRE) + LAW.shift
    density = np.exp(-(((LOG_SHAPES[:, None, None] - centre) / LAW.deviation) ** 2) / 2)
    log = (
        np.log(np.maximum(np.asarray((density * weight).sum(axis=(1, 2))), 1e-300))
        + full_table.log_likelihood
    )
    weights = np.exp(log - log.max())
    weights[weights < MIN_WEIGHT * weights.sum()] = 0.0  # nothing is computed for these
    return np.asarray(weights / weights.sum())


def excess_overdispersion(entropy: float, shapes: Floats) -> float:
    """Nats by which the mean of ln a is below that of nearly all tables of people.

    At 0 or below, the table is as those are.
    """
    return min_log_shape(entropy) - float(shapes @ LOG_SHAPES)


def min_log_shape(entropy: float) -> float:
    """Mean of ln a that nearly all tables of people exceed: −1 − 0.15 (H − 8) at an entropy of H nats."""
    return MIN_LOG_SHAPE + MIN_LOG_SHAPE_SLOPE * (entropy - CENTRE)


def log_shapes_at(records: float, people: float) -> Floats:
    """Ln a of a population of this size for each of the sample's LOG_SHAPES."""
    return np.asarray(LOG_SHAPES + LAW.drift * np.log10(max(people / records, 1.0)))


def _fit_line(subtables: Sequence[ShapeLikelihood]) -> tuple[Floats, Floats, Floats]:
    """Posterior of the line ln a = α + β (H − 8) across sub-tables of entropy H, on a grid of α and β."""
    alphas = np.linspace(INTERCEPT[0] - 4 * INTERCEPT[1], INTERCEPT[0] + 4 * INTERCEPT[1], 81)[
        :, None
    ]
    betas = np.linspace(SLOPE[0] - 2.5 * SLOPE[1], SLOPE[0] + 2.5 * SLOPE[1], 11)[None, :]
    log = (
        -(((alphas - INTERCEPT[0]) / INTERCEPT[1]) ** 2) / 2
        - ((betas - SLOPE[0]) / SLOPE[1]) ** 2 / 2
    )
    share = min(1.0, INDEPENDENT_SUBTABLES / max(len(subtables), 1))
    for table in subtables:
        at = alphas + betas * (table.entropy - CENTRE)
        log = log + share * np.interp(at, LOG_SHAPES, table.log_likelihood)
    weight = np.exp(log - log.max())
    return alphas, betas, np.asarray(weight / weight.sum())
