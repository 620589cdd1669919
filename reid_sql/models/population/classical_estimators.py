"""The estimators of population uniqueness that need class sizes alone, but Pitman's.

Sources: Rocher, Hendrickx & de Montjoye 2019, supplement, note 1; Zayatz 1991; Chen &
Keller-McNulty 1998 (slide negative binomial); Haas & Stokes 1998 (Shlosser); Dankar et al. 2012.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.classes.uniqueness import check_population, count_records, log_miss_probability
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.numerics.special_functions import expit, log_expit
from reid_sql.parameters import Floats

# What every estimator of population uniqueness answers, and what each of them first asks of the sample.

NO_INTERVAL: Final = "no_interval: "
# of an interval that contained the true value too seldom to decide anything
COVERED: Final = "low_coverage"
STATUS_LOW_COVERAGE: Final = (
    f"{COVERED}: the interval contained the true value in only {{}} of {{}} reference samples"
)
STATUS_NO_UNIQUE_RECORD: Final = "no_unique_record: no record of the sample is unique"
STATUS_BY_PITMAN: Final = "by pitman: the rule of Dankar et al. takes the estimate of pitman"
STATUS_BY_SNB: Final = "by snb: the rule of Dankar et al. takes the estimate of snb"
STATUS_BY_ZAYATZ: Final = "by zayatz: the rule of Dankar et al. takes the estimate of zayatz"
STATUS_ALL_UNIQUE: Final = (
    "all_unique: all records are unique, so the sample gives only the upper end, 1"
)


@dataclass(frozen=True)
class Estimate:
    """Share of the population that is unique, with the ends of a 95 % interval, if any, and the status.

    The share is None where there is no answer.
    """

    uniqueness: float | None
    low: float | None
    high: float | None
    status: str


@dataclass(frozen=True)
class Sample:
    """A sample's records and unique records, and the size of the population that it was drawn from."""

    records: int
    unique: int
    population: float

    @property
    def fraction(self) -> float:
        """Share of the population that is in the sample."""
        return self.records / self.population

    @property
    def uniqueness(self) -> float:
        """Share of the sample's records that are unique in it."""
        return self.unique / self.records


def count_sample(histogram: Histogram, population: float) -> Sample:
    """Count the sample; refuses an empty one, classes that overlap, and a population smaller than the sample.

    >>> import numpy as np
    >>> count_sample(Histogram(np.array([1, 3]), np.array([2, 1]), np.array([2, 3])), 50)
    Sample(records=5, unique=2, population=50.0)
    """
    records = count_records(histogram)
    people = check_population(population, records)
    return Sample(records, int(histogram.records[histogram.class_size == 1].sum()), people)


# The bound on population uniqueness that the sample's own unique records imply: no model at all.
# Who is unique in the population is unique in every sample, so that s₁/n_s is at least Ξ on average; and
# records that are alike in the sample are not unique in the population.

STATUS_BOUND: Final = (
    "upper_bound: no estimate, but the sample's share of unique records, too high on average"
)
STATUS_EXCEEDS_BOUND: Final = (
    "above_bound: the estimate is above the bound by the sample's own unique records"
)


def estimate_bound(histogram: Histogram, population: float) -> Estimate:
    """Bound Ξ by s₁/n_s on average, and by the exact binomial limit (Clopper–Pearson) in 97.5 % of samples.

    Refuses what `count_sample` refuses.

    >>> import numpy as np
    >>> answer = estimate_bound(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 100)
    >>> answer.uniqueness, round(answer.high, 4)
    (0.2, 0.5561)
    """
    sample = count_sample(histogram, population)
    alike = sample.records - sample.unique
    high = clopper_pearson_upper(sample.unique, sample.records)
    return Estimate(sample.uniqueness, 0.0, min(high, 1 - alike / sample.population), STATUS_BOUND)


# Population uniqueness by Zayatz: the sample's classes are taken for the population's, each sampled by
# chance. Each of them is sampled by chance. Source: Zayatz 1991; Rocher, Hendrickx & de Montjoye 2019,
# supplement, note 1, equation 11.

STATUS_ZAYATZ: Final = f"{NO_INTERVAL}Zayatz's rule states no error of its own"


def estimate_zayatz(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ = (s₁/n_s) P(F = 1 | f = 1), by the hypergeometric.

    P(F = i | f = 1) ∝ s_i · P(one of i is drawn), with i C(n − i, n_s − 1) / C(n, n_s) the chance that
    exactly one of i is drawn. Refuses what `count_sample` refuses.

    >>> answer = estimate_zayatz(Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8])), 100)
    >>> round(answer.uniqueness, 6)
    0.043137
    """
    sample = count_sample(histogram, population)
    if sample.unique == 0:
        return Estimate(0.0, None, None, f"{STATUS_ZAYATZ}; {STATUS_NO_UNIQUE_RECORD}")
    size = histogram.class_size.astype(np.float64)
    # i C(n − i, n_s − 1) over its value at i = 1: the other i − 1 are among those who are not drawn.
    once = size * np.exp(log_miss_probability(size - 1, sample.records - 1, sample.population - 1))
    return Estimate(
        float(sample.uniqueness * sample.unique / (histogram.classes @ once)),
        None,
        None,
        STATUS_ZAYATZ,
    )


# How many classes the population has, by Shlosser's estimator with the correction of Haas and Stokes.
# Each class of the population is in the sample with 1 − (1 − f)^F, which weights the classes that the
# sample has. Source: Shlosser 1981; Haas & Stokes 1998 (their modified estimator, Sh3).


def estimate_population_classes(histogram: Histogram, fraction: float) -> float:
    """Estimate the classes of the population; `fraction` is the share of it that is in the sample, in (0, 1].

    >>> sample = Histogram(np.array([1, 2]), np.array([2, 4]), np.array([2, 8]))
    >>> round(estimate_population_classes(sample, 0.5), 3)
    7.016
    """
    size, classes = histogram.class_size.astype(np.float64), histogram.classes.astype(np.float64)
    unique = float(classes[size == 1].sum())
    if fraction == 1 or unique == 0:
        return float(classes.sum())
    left = size * np.log1p(-fraction)  # ln (1 − f)^i
    missed = classes @ np.exp(left)
    once = classes @ (size * fraction * np.exp(left - np.log1p(-fraction)))
    twice = np.log1p(-(fraction**2))
    squares = classes @ (size * fraction**2 * np.exp((size - 1) * twice))
    # (1 − f)^i ((1 + f)^i − 1), with no power that could overflow
    pairs = classes @ (np.exp(size * twice) * -np.expm1(-size * np.log1p(fraction)))
    return float(classes.sum() + unique * squares / pairs * (missed / once) ** 2)


# Population uniqueness by the slide negative binomial model: a class has one person, and more.
# A class of the population has F people. F − 1 is negative binomial with parameters α and β; sampled with
# the fraction f, a class shows once or twice with P(1) and P(2):
#
#     d = (1 − f) (1 − β)
#     c = (β / (1 − d))^α
#     P(1) = f c (1 + (α − 1) d) / (1 − d)
#     P(2) = f²/2 · c α (1 − β) (2 + (α − 1) d) / (1 − d)²
#
# Chen and Keller-McNulty solve K P(1) = s₁ and K P(2) = s₂, with K the classes of the population. P(2)/P(1)
# gives α for each β by a quadratic equation, and the first equation is then one in β alone; many samples have
# no solution. Source: Chen & Keller-McNulty 1998; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1,
# equation 13.

STATUS_SNB: Final = f"{NO_INTERVAL}the moments of the slide negative binomial model give none"
STATUS_SNB_UNSOLVED: Final = (
    "no_solution: no slide negative binomial model has the sample's unique and twofold classes"
)
LOGIT_GRID: Final = np.linspace(-40.0, 40.0, 1601)  # of β, among which a solution is looked for
BISECTIONS: Final = 60
MAX_EQUATION_MISS: Final = 1e-9  # of its value, by which a solution may miss either equation


def estimate_slide_negative_binomial(histogram: Histogram, population: float) -> Estimate:
    """Estimate Ξ = K β^α / n; of several (α, β) that solve the equations, the one of most unique people.

    Refuses what `count_sample` refuses.

    >>> sizes, classes = np.array([1, 2, 3, 9]), np.array([20, 6, 4, 2])
    >>> estimated = estimate_slide_negative_binomial(Histogram(sizes, classes, sizes * classes), 620)
    >>> round(estimated.uniqueness, 4)
    0.0852
    """
    sample = count_sample(histogram, population)
    unique, twofold = (
        float(histogram.classes[histogram.class_size == size].sum()) for size in (1, 2)
    )
    if unique == 0 or twofold == 0 or sample.unique == sample.records:
        return Estimate(None, None, None, STATUS_SNB_UNSOLVED)
    classes = estimate_population_classes(histogram, sample.fraction)
    equations = MomentEquations(unique / classes, twofold / unique, sample.fraction)
    solutions = equations.solutions()
    if not len(solutions):
        return Estimate(None, None, None, STATUS_SNB_UNSOLVED)
    shares = classes / sample.population * np.exp(equations.alpha(solutions) * log_expit(solutions))
    return Estimate(min(1.0, float(shares.max())), None, None, STATUS_SNB)


@dataclass(frozen=True)
class MomentEquations:
    """Both moment equations as one in the logit of β.

    The sample gives the share of classes that show once, twofold classes per unique one, and the fraction.
    """

    once: float
    ratio: float
    fraction: float

    def alpha(self, logit: Floats) -> Floats:
        """α of each β: the positive root of d α² + (2 − d − r d) α − r (1 − d) = 0.

        r = 2 (s₂/s₁) (1 − d) / (f (1 − β)).
        """
        d, rest = self._thin(logit), expit(-logit)
        r = 2 * self.ratio * (1 - d) / (self.fraction * rest)
        middle = 2 - d - r * d
        root = np.hypot(middle, 2 * np.sqrt(d * r * (1 - d)))
        # The form of the root in which nothing cancels.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                np.where(middle > 0, 2 * r * (1 - d) / (middle + root), (root - middle) / (2 * d))
            )

    def miss(self, logit: Floats) -> Floats:
        """Logarithm of the modelled over the given share of classes that show once."""
        d, alpha = self._thin(logit), self.alpha(logit)
        # log_expit: the logarithm of expit(36) is 0, and the rounding of its neighbours would pass for a
        # solution.
        share = alpha * (log_expit(logit) - np.log1p(-d)) + np.log1p((alpha - 1) * d) - np.log1p(-d)
        return np.asarray(share + np.log(self.fraction / self.once))

    def miss_of_ratio(self, logit: Floats) -> Floats:
        """Logarithm of the modelled P(2)/P(1) over the given number of twofold per unique classes."""
        d, alpha = self._thin(logit), self.alpha(logit)
        twice = self.fraction / 2 * alpha * expit(-logit) * (2 + (alpha - 1) * d)
        return np.asarray(np.log(twice / ((1 - d) * (1 + (alpha - 1) * d)) / self.ratio))

    def solutions(self) -> Floats:
        """Logits of β that solve both equations, by halving; what solves only one is none.

        Each half is that between signs that differ.
        """
        values = self.miss(LOGIT_GRID)
        turns = np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) < 0)
        low, high, below = LOGIT_GRID[turns], LOGIT_GRID[turns + 1], np.sign(values[turns])
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            same = np.sign(self.miss(middle)) == below
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        roots = (low + high) / 2
        return roots[
            (np.abs(self.miss(roots)) < MAX_EQUATION_MISS)
            & (np.abs(self.miss_of_ratio(roots)) < MAX_EQUATION_MISS)
        ]

    def _thin(self, logit: Floats) -> Floats:
        return np.asarray((1 - self.fraction) * expit(-logit))


# The decision rule of Dankar, El Emam, Neisa and Roffey: which estimator to take when.
# The estimators are those of population uniqueness. Pitman's for samples of up to a tenth of the
# population, the slide negative binomial for larger ones, unless Zayatz' is lower; Zayatz' wherever the
# other has no answer. Source: Dankar et al. 2012; Rocher, Hendrickx & de Montjoye 2019, supplement,
# reference 1.

MAX_PITMAN_FRACTION: Final = 0.1


def sampling_fraction(records: int, population: float) -> float:
    """Share of the population in the sample; a tenth that was rounded up to whole records is a tenth.

    >>> sampling_fraction(3_257, 32_561), sampling_fraction(3_258, 32_561) > MAX_PITMAN_FRACTION
    (0.1, True)
    """
    return (
        MAX_PITMAN_FRACTION
        if records == ceil(population * MAX_PITMAN_FRACTION)
        else records / population
    )


def choose_by_dankar(fraction: float, of: Mapping[str, Callable[[], Estimate]]) -> Estimate:
    """Take the estimate that the rule prescribes for this sampling fraction; the status names its method.

    >>> answer = {"pitman": Estimate(None, None, None, "none"), "zayatz": Estimate(0.25, None, None, "ok")}
    >>> choose_by_dankar(0.05, {name: lambda name=name: answer[name] for name in answer}).status
    'by zayatz: the rule of Dankar et al. takes the estimate of zayatz'
    """
    is_small = fraction <= MAX_PITMAN_FRACTION
    safe, estimate = of["zayatz"](), of["pitman" if is_small else "snb"]()
    chosen = STATUS_BY_PITMAN if is_small else STATUS_BY_SNB
    share, least = estimate.uniqueness, safe.uniqueness
    if share is None or (not is_small and least is not None and least < share):
        chosen, estimate = STATUS_BY_ZAYATZ, safe
    notes = [chosen, *([] if estimate.status == OK else [estimate.status])]
    return replace(estimate, status="; ".join(notes))
