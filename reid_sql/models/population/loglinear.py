"""Log-linear models: the chances of single records, by Poisson and by negative binomial counts.

Source: Skinner & Shlomo 2008; Rocher, Hendrickx & de Montjoye 2019, supplement, note 1, equations 14 and 15.
"""

from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

from reid_sql.errors import NoRecordsError, OutOfDomainError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.interruption import checkpoint
from reid_sql.models.numerics import quadrature, special_functions
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.numerics.special_functions import gammaln
from reid_sql.parameters import Floats, Integers, Number, plain

# Expected counts of a log-linear model with all two-way interactions, by iterative proportional fitting.
#
# A combination of values has an expected count above 0 only if each two of its values occur together
# somewhere, so only such combinations are listed, column by column, and the full cross-product is never
# built; the fit is the same. Proportional fitting converges slowly if few records determine the pairs, so
# two cycles are extrapolated: logarithms of counts stay within the model there. Source: Deming & Stephan
# 1940; Skinner & Shlomo 2008; Varadhan & Roland 2008 (SQUAREM, scheme S3).

Places = npt.NDArray[np.int32]
MAX_CELLS: Final = 4_000_000
MAX_PAIRS: Final = 40_000_000  # of values of two columns, as a table
MAX_CYCLES: Final = 900
MAX_CELL_UPDATES: Final = 4e9  # cells times pairs of columns that are gone through; about a minute
MAX_MISS: Final = 1e-6  # records by which a fitted pair of values may miss its count at the end
MAX_FITTED_MISS: Final = 1e-4  # and where it may be called one
MIN_LOG_COUNT: Final = -690.0  # logarithm of a count that is as good as none
MAX_LOG_LEAP: Final = 60.0  # by which a logarithm may be extrapolated at once


@dataclass(frozen=True)
class TwoWayFit:
    """Expected count of each distinct record, the worst pair's miss in records, and the parameters.

    The parameters are the number that the model has.
    """

    expected: Floats  # (distinct,)
    deviation: float
    parameters: int


def fit_two_way(codes: Integers, records: Integers) -> TwoWayFit:
    """Fit to distinct records: codes by column, and their numbers; refuses too many combinations.

    >>> sexes_and_towns = np.array([[1, 1], [1, 2], [2, 1]])
    >>> fit_two_way(sexes_and_towns, np.array([3, 1, 4])).expected.tolist()  # an exact fit
    [3.0, 1.0, 4.0]
    """
    dense = np.stack(
        [np.unique(column, return_inverse=True)[1] for column in codes.T], axis=1
    ).astype(np.int32)
    if dense.shape[1] == 1:
        return TwoWayFit(records.astype(np.float64), 0.0, len(records))
    pairs = {
        pair: number_occurring_pairs(dense, pair) for pair in combinations(range(dense.shape[1]), 2)
    }
    cells = list_possible_cells(dense, pairs)
    weight = records.astype(np.float64)
    observed = {pair: _count_pairs(table, dense, pair, weight) for pair, table in pairs.items()}
    if len(pairs) == 1:
        return TwoWayFit(weight, 0.0, _count_parameters(dense, observed))
    margins = [
        (table[cells[:, pair[0]], cells[:, pair[1]]], observed[pair])
        for pair, table in pairs.items()
    ]
    observed_records = np.zeros(len(cells))
    same = np.unique(np.concatenate([cells, dense]), axis=0, return_inverse=True)[1].ravel()
    cell_of = np.empty(int(same.max()) + 1, dtype=np.intp)
    cell_of[same[: len(cells)]] = np.arange(len(cells))
    place = cell_of[same[len(cells) :]]  # of each record among the cells
    observed_records[place] = weight
    expected, deviation = ProportionalFit(margins, observed_records).run()
    return TwoWayFit(expected[place], deviation, _count_parameters(dense, observed))


def list_possible_cells(codes: Places, pairs: dict[tuple[int, int], Places]) -> Places:
    """List the combinations of which each two values occur together, by their codes: (cells, columns).

    The cells are in the order of their codes. `pairs` numbers the pairs of values that occur of each two
    columns, −1 where one does not.
    """
    cells = np.unique(codes[:, :1], axis=0)
    for column in range(1, codes.shape[1]):
        checkpoint()
        narrow = min(
            range(column),
            key=lambda other: int((pairs[other, column] >= 0).sum(axis=1)[cells[:, other]].sum()),
        )
        table = pairs[narrow, column] >= 0  # (values of the narrowest, values of this column)
        many = table.sum(axis=1)[cells[:, narrow]]
        if int(many.sum()) > MAX_CELLS:
            raise OutOfDomainError(
                f"interactions := 2 must leave at most {MAX_CELLS} combinations whose values occur together, got {plain(int(many.sum()))}; pass fewer or coarser columns, or use interactions := 0"
            )
        left, right = np.repeat(np.arange(len(cells)), many), np.nonzero(table[cells[:, narrow]])[1]
        occurring = np.ones(len(left), dtype=bool)
        for other in range(column):
            checkpoint()
            occurring &= pairs[other, column][cells[left, other], right] >= 0
        cells = np.column_stack([cells[left[occurring]], right[occurring].astype(np.int32)])
    return cells


def number_occurring_pairs(codes: Places, pair: tuple[int, int]) -> Places:
    """Number the pairs of values that occur in two columns, −1 elsewhere."""
    first, second = codes[:, pair[0]], codes[:, pair[1]]
    height, width = int(first.max()) + 1, int(second.max()) + 1
    if height * width > MAX_PAIRS:
        raise OutOfDomainError(
            f"two columns must have at most {MAX_PAIRS} pairs of values for interactions := 2, got {height * width}; coarsen the columns, or use interactions := 0"
        )
    numbers = np.full(height * width, -1, dtype=np.int32)
    occurring = np.unique(first.astype(np.int64) * width + second)
    numbers[occurring] = np.arange(len(occurring))
    return numbers.reshape(height, width)


def _count_pairs(table: Places, codes: Places, pair: tuple[int, int], weight: Floats) -> Floats:
    return np.asarray(
        np.bincount(table[codes[:, pair[0]], codes[:, pair[1]]], weight), dtype=np.float64
    )


def _count_parameters(codes: Places, observed: dict[tuple[int, int], Floats]) -> int:
    """Count what the model can choose: main effects, and the occurring pairs of two columns beyond them."""
    values = [int(column.max()) + 1 for column in codes.T]
    beyond = sum(
        len(counts) - values[one] - values[other] + 1 for (one, other), counts in observed.items()
    )
    return beyond + sum(values) - len(values) + 1


@dataclass(frozen=True)
class ProportionalFit:
    """Proportional fitting: for each two columns, the pair of each cell, and the count of each pair.

    What was counted is of the table.
    """

    margins: list[tuple[Places, Floats]]
    records: Floats  # (cells,) in the sample

    def run(self) -> tuple[Floats, float]:
        """Give the expected counts, and the worst pair's miss in records as the last cycle began."""
        most = min(
            MAX_CYCLES, max(3, int(MAX_CELL_UPDATES / (len(self.records) * len(self.margins))))
        )
        logs, deviation = self.cycle(np.zeros(len(self.records)))
        for _ in range(most // 3):
            if deviation < MAX_MISS:
                break
            once, _ = self.cycle(logs)
            twice, deviation = self.cycle(once)
            if deviation >= MAX_MISS:
                # Where two steps lead if each of the next ones is shorter in the same
                # proportion.
                step, bend, weight = once - logs, (twice - once) - (once - logs), np.exp(twice)
                turned = float(weight @ bend**2)
                stretch = max(1.0, float(np.sqrt(weight @ step**2 / turned))) if turned > 0 else 1.0
                leap = np.clip(2 * stretch * step + stretch**2 * bend, -MAX_LOG_LEAP, MAX_LOG_LEAP)
                ahead, missed = self.cycle(np.maximum(logs + leap, MIN_LOG_COUNT))
                better = self.likelihood(ahead) >= self.likelihood(twice)
                twice, deviation = (ahead, missed) if better else (twice, deviation)
            logs = twice
        return np.exp(logs), deviation

    def cycle(self, logs: Floats) -> tuple[Floats, float]:
        """Scale the counts to each pair of columns in turn; by how many records the worst pair was missed."""
        expected, deviation = np.exp(logs), 0.0
        for pair, counted in self.margins:
            checkpoint()
            fitted = np.bincount(pair, expected, len(counted))
            deviation = max(deviation, float(np.abs(fitted - counted).max()))
            expected *= (counted / np.maximum(fitted, np.finfo(float).tiny))[pair]
        return np.log(np.maximum(expected, np.exp(MIN_LOG_COUNT))), deviation

    def likelihood(self, logs: Floats) -> float:
        """Log-likelihood after a cycle, when the counts add up to the sample, without its constant."""
        return float(self.records @ logs)


# How much more the counts of classes vary than their expected counts imply: the shape of a negative binomial.
# The count of a class of expected count μ is negative binomial with mean μ and variance μ + μ²/a. The shape
# a is the likeliest one for the classes that the sample has, given that it has them: those that it lacks
# need not be counted.

LOG_SHAPE_RANGE: Final = (-14.0, 14.0)
GRID_POINTS: Final = 57  # half a unit apart
GROUP_WIDTH: Final = 0.01  # of the groups of ln μ
# Of a group, by which they are moved: engines give ln μ to a thousandth, and one that lay on a border would
# fall to either side by its last digit.
GROUP_OFFSET: Final = 0.25
# logarithm of a shape from which on the counts are as good as Poisson
MIN_POISSON_LOG_SHAPE: Final = 13.0
# The log-likelihoods of a 95 % interval are at most so far below the largest
MAX_LIKELIHOOD_DROP: Final = NORMAL_95**2 / 2
INTERVAL_SHAPES: Final = 17  # shapes of an interval that are looked at


def fit_shape(sizes: Integers, expected: Floats, classes: Integers | Floats) -> float:
    """Likeliest shape a of so many classes of each size and expected count; infinite is Poisson.

    It is infinite where Poisson is as likely.

    >>> fit_shape(np.array([1, 2, 40]), np.array([0.5, 4.0, 5.0]), np.array([2, 1, 1])) < 5
    True
    """
    return _shape_from_log(ShapeLikelihood.of(sizes, expected, classes).likeliest())


def list_likely_shapes(
    sizes: Integers, expected: Floats, classes: Integers | Floats
) -> list[float]:
    """Shapes that span the 95 % interval of the likelihood, ascending.

    Infinity is one of them where Poisson is not ruled out.

    >>> counts = np.array([1, 2, 40]), np.array([0.5, 4.0, 5.0]), np.array([2, 1, 1])
    >>> shapes = list_likely_shapes(*counts)
    >>> shapes[0] < fit_shape(*counts) < shapes[-1]
    True
    """
    likelihood = ShapeLikelihood.of(sizes, expected, classes)
    low, high = likelihood.interval(likelihood.likeliest())
    return [_shape_from_log(log) for log in np.linspace(low, high, INTERVAL_SHAPES).tolist()]


def _shape_from_log(log: float) -> float:
    return float("inf") if log > MIN_POISSON_LOG_SHAPE else float(np.exp(log))


@dataclass(frozen=True)
class ShapeLikelihood:
    """How likely the sample's classes are under each shape, classes of nearly one kind as one group.

    Of one kind are classes of one size and nearly one expected count.
    """

    sizes: Floats  # (groups,)
    expected: Floats  # (groups,)
    counts: Floats  # (groups,)

    @classmethod
    def of(cls, sizes: Integers, expected: Floats, classes: Integers | Floats) -> "ShapeLikelihood":
        """Group the classes."""
        level = np.round(
            np.log(np.maximum(expected, np.finfo(float).tiny)) / GROUP_WIDTH + GROUP_OFFSET
        )
        groups, place = np.unique(
            np.stack([sizes.astype(np.float64), level]), axis=1, return_inverse=True
        )
        counts: Floats = np.bincount(place.ravel(), classes).astype(np.float64)
        return cls(groups[0], np.exp((groups[1] - GROUP_OFFSET) * GROUP_WIDTH), counts)

    def loss(self, log: float) -> float:
        """Negative log-likelihood of the shape of this logarithm."""
        f, mean, a = self.sizes, self.expected, np.exp(log)
        rare = a * np.log1p(mean / a)  # −ln P(0)
        seen = (
            gammaln(f + a)
            - gammaln(a)
            + f * np.log(mean / (a + mean))
            - rare
            - np.log(-np.expm1(-rare))
        )
        return -float(self.counts @ seen)

    def likeliest(self) -> float:
        """Logarithm of the likeliest shape."""
        grid = np.linspace(*LOG_SHAPE_RANGE, GRID_POINTS)
        best = int(np.argmin([self.loss(log) for log in grid]))
        return special_functions.minimize(
            self.loss, grid[max(best - 1, 0)], grid[min(best + 1, GRID_POINTS - 1)], xatol=1e-6
        )

    def interval(self, likeliest: float) -> tuple[float, float]:
        """Logarithms of the shapes between which the 95 % interval lies."""
        most = self.loss(likeliest) + MAX_LIKELIHOOD_DROP
        ends = []
        for end in LOG_SHAPE_RANGE:
            inside = self.loss(end) <= most
            ends.append(
                end
                if inside
                else special_functions.find_root(lambda log: self.loss(log) - most, likeliest, end)
            )
        return ends[0], ends[1]


# Risk of each record by log-linear models of the counts in the population.
# A class of expected sample count μ = f λ, f the sampled fraction, has F people of whom the sample shows
# some. With Poisson counts, P(F = 1 | sample unique) = e^−(1−f)λ; with negative binomial counts of shape a,
# ((a + μ)/(a + λ))^(a+1). The chance that a match is right is the mean of 1/F. τ₁ and τ₂ are the sums of
# both over the records that are unique in the sample. Source: Skinner & Shlomo 2008; Rocher, Hendrickx & de
# Montjoye 2019, supplement, note 1, equations 14 and 15.

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
MAX_PARAMETERS_PER_CLASS: Final = 0.25  # beyond, the two-way model mostly repeats the sample
STATUS_TOO_MANY: Final = "nearly_saturated: {} parameters for {} classes nearly repeat the sample and understate the risk"
STATUS_NOT_FITTED: Final = (
    "not_converged: the two-way model misses a pair of values by {:.2g} records"
)
STATUS_ONE_SIZE: Final = "one_class_size: all classes have one size, so the risk may be understated"
STATUS_SATURATED: Final = (
    "saturated: the main effects repeat the sample's counts, so the risk is understated"
)
SATURATION_TOLERANCE: Final = 2e-3  # in a logarithm, which may be rounded to a thousandth


@dataclass(frozen=True)
class FittedRecords:
    """Distinct records: their numbers, log of the count that main effects expect, codes if needed.

    A class's size differs from the number of its records only where people are counted, of whom some are in a
    smaller class, too.
    """

    records: Integers  # (distinct,)
    log_expected: Floats  # (distinct,)
    codes: Integers  # (distinct, columns), else (distinct, 0)
    class_size: Integers | None = None  # (distinct,); None where it is the number of records

    @property
    def sizes(self) -> Integers:
        """The sizes of the classes."""
        return self.records if self.class_size is None else self.class_size


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


def score_fitted_records(
    fitted: FittedRecords, sampling_fraction: float, interactions: int = 0
) -> LoglinearRisk:
    """Score each distinct record; refuses an empty table, and a two-way model with too many combinations.

    >>> four = FittedRecords(np.array([1, 3]), np.log([1.0, 3.0]), np.empty((2, 0), dtype=np.int64))
    >>> answer = score_fitted_records(four, 0.5)
    >>> answer.uniqueness.round(4).tolist(), answer.correctness.round(4).tolist()
    ([0.3679, 0.0], [0.6321, 0.1815])
    """
    f = float(FRACTION.check("sampling_fraction", sampling_fraction))
    if not len(fitted.records):
        raise NoRecordsError
    mu, notes = _expect_counts(fitted, interactions)
    sizes = fitted.sizes
    alone = sizes == 1
    a = fit_shape(sizes, mu, np.ones_like(sizes))
    if (sizes == sizes[0]).all():
        notes.append(STATUS_ONE_SIZE)
    xi, nb_xi = (np.where(alone, loglinear_uniqueness(mu, f, shape), 0.0) for shape in (np.inf, a))
    kappa = nb_kappa = quadrature.expected_inverse_poisson(sizes, (1 - f) * mu / f)
    if not np.isinf(a):
        nb_kappa = quadrature.expected_inverse_negative_binomial(
            sizes, a + sizes, (a + mu) / (a + mu / f)
        )
    tau1, tau2, nb_tau1, nb_tau2 = (fsum(values[alone]) for values in (xi, kappa, nb_xi, nb_kappa))
    nb_shape = None if np.isinf(a) else a
    status = "; ".join(notes) or OK
    return LoglinearRisk(
        sizes, xi, kappa, nb_xi, nb_kappa, tau1, tau2, nb_tau1, nb_tau2, nb_shape, status
    )


def is_saturated(sizes: Integers, log_expected: Floats) -> bool:
    """Whether the model expects just what was counted, so that it adds nothing to the sample."""
    return bool(np.abs(log_expected - np.log(sizes)).max() < SATURATION_TOLERANCE)


def loglinear_uniqueness(expected: Floats, fraction: float, shape: float = np.inf) -> Floats:
    """Chance that a record unique in the sample is unique in the population.

    An infinite shape is Poisson's. `expected` are the counts μ that the model expects in the sample:
    e^−(1−f)λ, else ((a + μ)/(a + λ))^(a+1), λ = μ/f.

    >>> loglinear_uniqueness(np.array([0.0, 1.0]), 0.5).round(4).tolist()
    [1.0, 0.3679]
    >>> loglinear_uniqueness(np.array([1.0]), 0.5, 1.0).round(4).tolist()
    [0.4444]
    """
    people = expected / fraction
    if np.isinf(shape):
        return np.asarray(np.exp(-(1 - fraction) * people))
    return np.asarray(np.exp((shape + 1) * (np.log1p(expected / shape) - np.log1p(people / shape))))


def _expect_counts(fitted: FittedRecords, interactions: int) -> tuple[Floats, list[str]]:
    """Give the expected sample count of each distinct record, and notes on the fit."""
    if INTERACTIONS.check("interactions", interactions) == 1:
        raise OutOfDomainError(INTERACTIONS.sentence("interactions", "1"))
    if interactions == 0:
        return np.exp(fitted.log_expected), [STATUS_SATURATED] * is_saturated(
            fitted.sizes, fitted.log_expected
        )
    two_way, classes, notes = fit_two_way(fitted.codes, fitted.records), len(fitted.records), []
    if two_way.parameters > MAX_PARAMETERS_PER_CLASS * classes:
        notes.append(STATUS_TOO_MANY.format(two_way.parameters, classes))
    if two_way.deviation > MAX_FITTED_MISS:
        notes.append(STATUS_NOT_FITTED.format(two_way.deviation))
    return two_way.expected, notes
