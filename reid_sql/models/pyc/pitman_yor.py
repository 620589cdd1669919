"""PYC: how uniqueness, correctness and k-anonymity violations of a table scale with the population.

The frequencies of the anonymity sets follow a Pitman–Yor process of discount d and concentration α, expressed
in two numbers people can read: the entropy h (nats) of the sets, and the complexity γ of their tail (1 a
heavy tail, 0 a geometric one, below 0 finitely many sets, nearing equally large ones).

Source: Rocher, Hendrickx & de Montjoye 2025, equations 2, 12 and 13; Pitman 1995 for the classes of each
size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes.disclosure import OK, Histogram, weigh_classes
from reid_sql.models.classes.uniqueness import correctness_curve, count_records
from reid_sql.models.numerics.posterior import Search, explore_posterior, run_searches
from reid_sql.models.numerics.quadrature import class_quadrature
from reid_sql.models.numerics.quantiles import quantiles_by_weight
from reid_sql.models.numerics.special_functions import (
    as_floats,
    expit,
    inverse_harmonic,
    log_gamma_ratio,
    log_gamma_ratio_asymptotic,
    log_rising_ratio,
    logit,
)
from reid_sql.parameters import COUNT, Choice, Floats, Number

ENTROPY: Final = Number(
    "an entropy of at least 0.001 and at most 60 nats",
    "pass the entropy of the anonymity sets in nats, which is 0.6931 times the bits",
    1e-3,
    60.0,
)
TAIL: Final = Number(
    "a tail complexity of at least -20 and at most 1",
    "pass 0 for a geometric tail, towards 1 for a heavy one, below 0 for finitely many sets",
    -20.0,
    1.0,
)
CLASS_SIZE: Final = Number(
    "a class size of 1 to 1000",
    "pass the k of k-anonymity as a whole number, such as 5",
    1.0,
    1000.0,
    whole=True,
)

Entropy = Annotated[npt.ArrayLike, ENTROPY]
Tail = Annotated[npt.ArrayLike, TAIL]
ClassSize = Annotated[int, CLASS_SIZE]

# from this ln(−d) on the sets are equally large to the last digit
MIN_UNIFORM_PRODUCT: Final = 100.0
VANISHING_PRODUCT: Final = 1e-150  # a smaller discount counts as 0: the equations keep their limit


def parameters(entropy: npt.ArrayLike, tail: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Discount d and concentration α of the Pitman–Yor process of this entropy and tail complexity.

    They are those of its anonymity sets. ψ(1−d) = ψ(1) − hγ and ψ(1+α) = ψ(1) + h − hγ, equation 2 solved for
    d and α. `entropy` is in nats; both arguments broadcast. A value too large for a double is infinite (hγ
    below −709 or h − hγ above 710): equally large sets, e^h of them. Refuses an entropy outside [0.001, 60]
    and a tail outside [−20, 1].

    >>> discount, concentration = parameters(10.0, 0.5)
    >>> round(float(discount), 6), round(float(concentration), 6)
    (0.810422, 82.827476)
    """
    entropy, tail = np.broadcast_arrays(ENTROPY.check("entropy", entropy), TAIL.check("tail", tail))
    fallen, risen = inverse_harmonic(np.stack([-entropy * tail, entropy * (1 - tail)]))
    return 0.0 - fallen, risen  # 0 − 0 is 0, never −0


def correctness(entropy: npt.ArrayLike, tail: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Expected share κ of `n` people whom a match on their anonymity set names correctly.

    E κ(n) = [Γ(1+α)/Γ(d+α) · Γ(n+d+α)/Γ(n+α) − α] / (n d), equation 13: the expected number of anonymity sets
    over n. `entropy` is in nats, n may be fractional, and the three broadcast. Relative error below 1e-9 for
    n up to 8e9. Refuses an entropy outside [0.001, 60], a tail outside [−20, 1] and n below 1.

    >>> float(correctness(40 * np.log(2), 0.0, 7.53e9).round(4))
    0.994
    """
    d, alpha = _process_parameters(entropy, tail)
    n = COUNT.check("n", n)
    growth = _log_growth(d, alpha, n)
    # Equation 13 with Γ(1+d+α) for (d+α) Γ(d+α), which leaves a sum of two positive terms.
    kappa = (np.exp(growth) + alpha / d * np.expm1(growth)) / n
    return np.asarray(np.minimum(kappa, 1.0))


def uniqueness(entropy: npt.ArrayLike, tail: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """Expected share Ξ of `n` people who are alone in their anonymity set.

    E Ξ(n) = Γ(α+1)/Γ(d+α) · Γ(n+d+α−1)/Γ(n+α), equation 12. `entropy` is in nats, n may be fractional, and
    the three broadcast. Relative error below 1e-9 for n up to 8e9. Refuses an entropy outside [0.001, 60], a
    tail outside [−20, 1] and n below 1.

    >>> float(uniqueness(40 * np.log(2), 0.0, 7.53e9).round(4))
    0.9879
    """
    d, alpha = _process_parameters(entropy, tail)
    return np.asarray(np.exp(_log_uniqueness(d, alpha, COUNT.check("n", n))))


def k_violation(
    entropy: npt.ArrayLike, tail: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike
) -> Floats:
    """Expected share V_k of `n` people whose anonymity set is smaller than `k`.

    Of E[M_j] anonymity sets with j people:

        V_k = Σ_{j<k} j E[M_j] / n
        E[M_j] = C(n, j) (1−d)_{j−1} (d+α)_{n−j} / (1+α)_{n−1}

    The sum is that of equation 14, and of equation 11 between whole n. V_k = 1 for n up to k − 1, V_2 = Ξ and
    V_1 = 0. `entropy` is in nats, n may be fractional, and the four broadcast. Relative error
    below 1e-9 for n up to 8e9. Refuses an entropy outside [0.001, 60], a tail outside [−20, 1], n below 1 and
    k that is not a whole number of 1 to 1000.

    >>> float(k_violation(10.0, 0.5, 1e6, 5).round(6))
    0.233287
    """
    d, alpha = _process_parameters(entropy, tail)
    n, k = COUNT.check("n", n), CLASS_SIZE.check("k", k)
    inside = np.maximum(n, k - 1)
    # log_sum becomes ln Σ_{j<k} t_j / t_1, where t_j = j E[M_j] / n is the share of people in classes of j;
    # last: t_j over the sum so far, which neither overflows nor cancels
    log_sum, last = (np.zeros(()), np.ones(()))
    for j in range(1, int(k.max(initial=1)) - 1):
        # t_{j+1} / t_j
        rise = (inside - j) / j * ((j - d) / np.maximum(inside - j - 1 + d + alpha, d + alpha))
        step = np.where(j < k - 1, last * rise, 0.0)
        log_sum, last = log_sum + np.log1p(step), step / (1 + step)
    log_violation = _log_uniqueness(d, alpha, inside) + log_sum
    violation = np.where(k == 1, 0.0, np.minimum(np.exp(log_violation), 1.0))
    return np.where(n <= k - 1, 1.0, violation)


def _process_parameters(entropy: npt.ArrayLike, tail: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Discount and concentration, finite and d off 0 where that changes no digit of the answers."""
    entropy, tail = np.broadcast_arrays(ENTROPY.check("entropy", entropy), TAIL.check("tail", tail))
    uniform = entropy * tail < -MIN_UNIFORM_PRODUCT
    # α / −d = e^h counts the sets: both are scaled down together.
    d = 0.0 - inverse_harmonic(np.where(uniform, MIN_UNIFORM_PRODUCT, -entropy * tail))
    alpha = inverse_harmonic(np.where(uniform, MIN_UNIFORM_PRODUCT + entropy, entropy * (1 - tail)))
    return np.where(np.abs(d) < VANISHING_PRODUCT, VANISHING_PRODUCT, d), alpha


def _log_growth(d: Floats, alpha: Floats, n: Floats) -> Floats:
    """Logarithm of Γ(1+α) Γ(n+d+α) / (Γ(1+d+α) Γ(n+α)), which equations 12 and 13 share.

    It has the sign of d.
    """
    return np.asarray(
        np.sign(d) * log_rising_ratio(1 + alpha + np.minimum(d, 0.0), n - 1, np.abs(d))
    )


def _log_uniqueness(d: Floats, alpha: Floats, n: Floats) -> Floats:
    """Logarithm of E Ξ(n), equation 12."""
    return np.asarray(_log_growth(d, alpha, n) - np.log1p((n - 1) / (d + alpha)))


# Entropy and tail complexity of anonymity sets from the class-size histogram alone, with their posterior.
# Source: Rocher, Hendrickx & de Montjoye 2025 (MAP fit); prior of Archer, Park & Pillow 2014, flat in the
# entropy h and q(γ) ∝ exp(−10/(1 − γ)) for tail complexities γ in [0, 1). The paper says only "in line
# with" that work. A flat prior in both, γ from −1 (where the sets are nearly equal in size; further down
# changes little but takes all the weight), is the option `flat`.

PRIOR: Final = Choice(("archer", "flat"))
Prior = Annotated[Literal["archer", "flat"], PRIOR]

ENTROPY_RANGE: Final = (1e-3, 60.0)
TAIL_RANGES: Final = {"archer": (0.0, 1 - 1e-6), "flat": (-1.0, 1 - 1e-6)}
MIN_FITTED_PRODUCT: Final = -27.0  # beyond h·γ of this the sets are equal in size to a part in 10¹¹
MAX_STEPS: Final = 31  # steps by which classes grow that are added up one by one


@dataclass(frozen=True)
class Posterior:
    """Posterior of (entropy, tail) as weighted points, its mode; a status where data do not bound it."""

    entropy: Floats  # (points,)
    tail: Floats  # (points,)
    weight: Floats  # (points,), summing to 1
    mode: tuple[float, float]
    status: str


@dataclass(frozen=True)
class PycFit:
    """Entropy (nats) and tail complexity of the anonymity sets, with 95 % credible intervals."""

    entropy: float
    entropy_low: float
    entropy_high: float
    tail: float
    tail_low: float
    tail_high: float
    discount: float
    concentration: float
    records: int
    classes: int
    status: str


@dataclass(frozen=True)
class Partition:
    """What the likelihood takes of a histogram, so that it is computed once for all points."""

    records: float
    classes: float
    larger: Floats  # (steps,): classes of more than 1, 2, … people, up to MAX_STEPS
    nodes: Floats  # class sizes above MAX_STEPS + 1, by quadrature
    weights: Floats

    @property
    def noise(self) -> float:
        """Rounding error of the log-likelihood, whose terms are of the size of ln n!."""
        return float(np.finfo(float).eps * (1 + self.records * np.log(self.records)))

    def log_joinings(self, d: Floats) -> Floats:
        """Σ_i t_i ln(i − d), with t_i the number of classes of more than i people, at discounts (points,)."""
        steps = np.arange(1.0, len(self.larger) + 1)
        within = np.asarray(np.log(steps - d[:, None]) @ self.larger)
        if self.nodes.size:
            # From i = b on, b = MAX_STEPS + 1, the sum is Σ_m s_m ln[Γ(m−d)/Γ(b−d)] over sizes m > b.
            start = (MAX_STEPS + 1 - d)[:, None]
            grown = log_gamma_ratio_asymptotic(start, self.nodes - (MAX_STEPS + 1))
            within += grown @ self.weights
        return within

    @classmethod
    def of(cls, histogram: Histogram) -> "Partition":
        """Count the steps by which the classes grew to their sizes."""
        sizes = histogram.class_size.astype(np.float64)
        counts = histogram.classes.astype(np.float64)
        steps = np.arange(1.0, min(float(sizes.max(initial=1.0)), MAX_STEPS + 1.0))
        at_most = np.concatenate([[0.0], np.cumsum(counts)])[
            np.searchsorted(sizes, steps, side="right")
        ]
        big = sizes > MAX_STEPS + 1
        return cls(
            float(sizes @ counts),
            float(counts.sum()),
            counts.sum() - at_most,
            *class_quadrature(sizes[big], counts[big]),
        )


def log_likelihood(classes: Histogram, entropy: npt.ArrayLike, tail: npt.ArrayLike) -> Floats:
    """Log-probability of the partition into classes of these sizes, up to a constant; arguments broadcast."""
    h, gamma = np.broadcast_arrays(*as_floats(entropy, tail))
    values = _log_likelihoods([Partition.of(classes)], [h.size], h.ravel(), gamma.ravel())
    return values.reshape(h.shape)


def _log_likelihoods(
    partitions: Sequence[Partition], points: Sequence[int], h: Floats, gamma: Floats
) -> Floats:
    """Log-probability of each partition at its own points, which are listed in its order."""
    # Seat n people one after the other (Pitman 1995). With i people seated, the next opens class l + 1 with
    # the chance (α + l d)/(α + i), and joins a class of size m with (m − d)/(α + i). The product over all is
    #
    #     Π_{l<K} (α + l d) · Π_classes (1 − d)(2 − d) … (m − 1 − d) / ((α + 1) … (α + n − 1))
    #
    # and its logarithm, with t_i the number of classes of more than i people,
    #
    #     Σ_i t_i ln(i − d) + Σ_{l<K} ln(α + l d) − ln[Γ(α+n)/Γ(α+1)]
    #
    d, alpha = parameters(h, np.maximum(gamma, MIN_FITTED_PRODUCT / h))
    ends = np.cumsum([0, *points])
    within = np.concatenate(
        [
            partition.log_joinings(d[start:end])
            for partition, start, end in zip(partitions, ends, ends[1:], strict=False)
        ]
    )
    records, count = (
        np.repeat([(each.records, each.classes) for each in partitions], points, axis=0).T - 1
    )
    seats = log_gamma_ratio(alpha + 1, records)
    # Σ_{l=1}^{K−1} ln(α + l d), −∞ where fewer classes than K can be.
    # The sum is (K − 1) ln |d| + ln of a rising factorial from α/d + 1, or for d < 0 of one that ends at
    # α/|d| − 1; near d = 0 the terms are ln α + l d/α to first order.
    step = d / alpha
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first = np.where(d > 0, 1 / step + 1, -1 / step - count)
        exact = count * np.log(np.abs(d)) + log_gamma_ratio(first, count)
        nearly_flat = count * np.log(alpha) + step * count * (count + 1) / 2
    openings = np.where(np.abs(step) * (count + 1) ** 2 < 1e-6, nearly_flat, exact)  # noqa: PLR2004 - next: 1e-12
    return within + np.where(alpha + count * d > 0, openings, -np.inf) - seats


def fit_pitman_yor(histogram: Histogram, prior: Prior = "archer") -> tuple[PycFit, Posterior]:
    """Fit entropy and tail complexity to the classes: mode of the posterior, and 95 % credible intervals.

    Refuses a table without records, and overlapping classes (NULL as a wildcard). Where all records are
    unique, or all alike, the data bounds the entropy on one side only, and the status reports it.

    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> answer, _ = fit_pitman_yor(geometric)
    >>> answer.entropy_low < answer.entropy < answer.entropy_high
    True
    """
    return _fit_together([histogram], prior)[0]


def fit_groups(histograms: Sequence[Histogram], prior: Prior = "archer") -> list[PycFit]:
    """Fit each histogram as if it were alone, in a quarter of the time."""
    return [fit for fit, _ in _fit_together(histograms, prior)]


def _fit_together(histograms: Sequence[Histogram], prior: Prior) -> list[tuple[PycFit, Posterior]]:
    weighed = [weigh_classes(histogram) for histogram in histograms]
    records = [count_records(histogram) for histogram in weighed]  # refuses an empty table
    low, high = TAIL_RANGES[prior]
    box = np.log([ENTROPY_RANGE, (1 - high, 1 - low)])  # (2, ends): ln h and ln(1 − γ)
    partitions = [Partition.of(histogram) for histogram in weighed]

    def log_density(points: Floats, places: list[int], sizes: list[int]) -> Floats:
        h, rest = np.exp(points)
        log_prior = -10 / rest if prior == "archer" else 0.0
        asked = [partitions[place] for place in places]
        return _log_likelihoods(asked, sizes, h, 1 - rest) + log_prior

    def explore(place: int, noise: float) -> Search[tuple[Floats, Floats, Floats]]:
        return explore_posterior(
            lambda points: log_density(points, [place], [points.shape[1]]), box, noise
        )

    searches = [explore(place, each.noise) for place, each in enumerate(partitions)]
    fits = []
    for histogram, of_weighed, count, (points, weight, mode) in zip(
        histograms, weighed, records, run_searches(searches, log_density), strict=True
    ):
        h, rest = (float(value) for value in np.exp(mode))
        status = _describe_fit(of_weighed, h)
        posterior = Posterior(
            np.exp(points[0]), 1 - np.exp(points[1]), weight, (h, 1 - rest), status
        )
        fits.append((_summarize(int(histogram.classes.sum()), count, posterior), posterior))
    return fits


def _summarize(classes: int, records: int, posterior: Posterior) -> PycFit:
    h, gamma = posterior.mode
    d, alpha = parameters(h, max(gamma, MIN_FITTED_PRODUCT / h))
    entropy, tail = (
        quantiles_by_weight(values, posterior.weight, (0.025, 0.975))
        for values in (posterior.entropy, posterior.tail)
    )
    return PycFit(
        entropy=h,
        entropy_low=min(h, float(entropy[0])),
        entropy_high=max(h, float(entropy[1])),
        tail=gamma,
        tail_low=min(gamma, float(tail[0])),
        tail_high=max(gamma, float(tail[1])),
        discount=float(d),
        concentration=float(alpha),
        records=records,
        classes=classes,
        status=posterior.status,
    )


def _describe_fit(histogram: Histogram, entropy: float) -> str:
    if histogram.class_size.max() == 1:
        return STATUS_ALL_UNIQUE
    if len(histogram.class_size) == 1 and histogram.classes[0] == 1:
        return STATUS_ALL_EQUAL
    return OK if entropy < ENTROPY_RANGE[1] * 0.99 else STATUS_AT_PRIOR_END


# How far a fitted Pitman–Yor curve lies from the sample's own, and intervals that own up to it.
# The posterior covers only the chance within the model. Real tables follow no Pitman–Yor process, and what
# the fitted curve misses inside the sample, where the truth is known by rarefaction, is the least that it
# misses beyond. The gap is in log-odds of κ and counts once for each tenfold growth of the population.

SAMPLE_DIVISORS: Final = (30, 10, 3, 1)  # of the sample, where the curves are compared
SIGMAS_PER_GAP: Final = 1.96  # the gap counts as one standard deviation
MAX_GAP: Final = 0.5
STATUS_ALL_UNIQUE: Final = "all_unique: all records are unique, so the upper end is the prior's"
STATUS_ALL_EQUAL: Final = (
    "all_equal: all records are equal, so the data limit the entropy only from above"
)
STATUS_AT_PRIOR_END: Final = "at_edge: the entropy is at the end of the prior, 60 nats"
STATUS_MISFIT: Final = (
    "misfit: the model differs from the sample's curve by a factor {factor:.2g} in the odds"
)


def measure_misfit(histogram: Histogram, fitted: PycFit) -> float:
    """Largest gap, in log-odds of κ, between the fitted curve and the sample's exact one.

    >>> from reid_sql.models.pyc.pitman_yor import fit_pitman_yor
    >>> geometric = Histogram(np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1]), np.array([8, 8, 8, 8]))
    >>> measure_misfit(geometric, fit_pitman_yor(geometric)[0]) < 0.2
    True
    """
    sizes = np.unique(
        np.maximum(
            np.array([fitted.records // part for part in SAMPLE_DIVISORS]), min(2, fitted.records)
        )
    )
    # A share closer to 0 or 1 than half a record is no gap that a sample can show
    edge = 0.5 / fitted.records
    exact = np.clip(correctness_curve(histogram, sizes), edge, 1 - edge)
    entropy = np.clip(fitted.entropy, ENTROPY.low, ENTROPY.high)
    tail = np.clip(fitted.tail, TAIL.low, TAIL.high)
    modelled = np.clip(correctness(entropy, tail, sizes), edge, 1 - edge)
    return float(np.abs(logit(modelled) - logit(exact)).max())


def widen_interval(
    interval: tuple[float, float, float], gap: float, growth: float
) -> tuple[float, float, float]:
    """Move the ends of (value, low, high) out by the gap per tenfold growth; errors add up by squares.

    >>> [round(end, 3) for end in widen_interval((0.5, 0.5, 0.6), 0.5, 10.0)]
    [0.5, 0.273, 0.743]
    """
    value, low, high = interval
    more = SIGMAS_PER_GAP * gap * np.log10(growth)
    if more == 0 or not 0 < value < 1:
        return interval
    centre, ends = logit(value), logit(np.array([low, high]))
    reach = np.hypot(ends - centre, more)
    return value, float(expit(centre - reach[0])), float(expit(centre + reach[1]))


def describe_misfit(gap: float) -> list[str]:
    """Say that the model fits poorly, where it does."""
    return [STATUS_MISFIT.format(factor=float(np.exp(gap)))] if gap > MAX_GAP else []
