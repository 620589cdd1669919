"""A Gaussian copula: the probability of each record, and forecasts for populations drawn from it."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.repeats import STATUS_FEWER_REPEATS
from reid_sql.models.copula.calibration import temper_cells
from reid_sql.models.copula.marginals import Marginal, cell_ends, parse_number, sort_keys
from reid_sql.models.fitted_model import Doubt, draw_places, encode_columns
from reid_sql.models.marginals.column import (
    NEW,
    SEEN,
    WITHOUT_SHARE,
    RecordCells,
    Scale,
    describe_few_records,
    describe_records,
    join_status,
    scale_of,
)
from reid_sql.models.numerics import quadrature
from reid_sql.models.numerics.rectangle import MAX_SIGMAS, Cells, Estimates, Precision, integrate
from reid_sql.models.numerics.special_functions import ndtri
from reid_sql.parameters import COUNT, Choice, Floats, Integers, order_by_name

# Scores ξ and κ of records under a copula: people are spread over the cells by the probabilities alone.
# The other people of a cell are binomial. Of N people N − 1 are others; if a sample of n is known and shows s
# people of the cell, the N − n people outside it are, and the class has F = s + Binomial(N − n, q) people:
#
#     ξ = (1 − q)^(N − n) for s = 1, else 0
#     κ = E 1/F
#
# A sample that consists of the person alone, n = s = 1, is the case in which nothing is known.
# Source: Rocher, Hendrickx & de Montjoye 2019, eq. 2 and 27; supplement eq. 17.


@dataclass(frozen=True)
class CopulaCells(RecordCells):
    """Cell probabilities of records under a copula, and the number of records of its sample."""

    records: int

    def uniqueness(self, population: npt.ArrayLike) -> Floats:
        """Chance ξ that a person of each cell is the only one in it."""
        return uniqueness.uniqueness_from_probability(self.probability, population)

    def correctness(self, population: npt.ArrayLike) -> Floats:
        """Mean κ of 1/F for a person of each cell."""
        return uniqueness.correctness_from_probability(self.probability, population)

    def known(self, class_size: Integers, population: npt.ArrayLike) -> tuple[Floats, Floats]:
        """ξ and κ for records of the sample itself, by class size; N is at least the number of records."""
        people = np.maximum(np.asarray(population, dtype=np.float64), self.records)
        unseen, q = people - self.records, np.minimum(self.probability, 1.0)
        alone = uniqueness.uniqueness_from_probability(q, unseen + 1)
        kappa = quadrature.expected_inverse_binomial(class_size, unseen, q)
        return np.where(np.asarray(class_size) == 1, alone, 0.0), kappa


# The Gaussian copula of a table's columns: marginals, joined by a correlation of latent normal variables.
# Source: Rocher, Hendrickx & de Montjoye 2019. A model sees no record: only how often each value, and each
# pair of values of two columns, occurs.

METHODS: Final = ("paper", "calibrated", "sharp")
Method = Annotated[Literal["paper", "calibrated", "sharp"], Choice(METHODS)]
MAX_ABSOLUTE_ERROR: Final = 1e-11  # moves no ξ by more than 0.003 in a population of 300 million
EXACT_PRECISION: Final = {"points": 128, "most": 1024, "relative_error": 5e-3}
AVERAGED_PRECISION: Final = {"points": 256, "most": 256}  # over the orders of nominal columns
# distinct records that are scored together, so that memory stays bounded
RECORDS_PER_BLOCK: Final = 2048
MAX_CACHED_SCORES: Final = 1 << 20  # scores that a model caches


def last_code(marginal: Marginal) -> int:
    """Code of values unlike the sample's: after the values, and the gaps between them or all other values."""
    return 2 * len(marginal.values) + 1 if marginal.ordered else len(marginal.values) + 1


@dataclass(frozen=True)
class GaussianCopula:
    """A fitted model: what it needs to score and to draw any record, and nothing of any single record.

    What it draws is new records.
    """

    columns: tuple[str, ...]
    marginals: tuple[Marginal, ...]
    correlation: Floats  # (columns, columns)
    records: int  # of the sample
    method: str
    seed: int
    # how many times more often rare records repeat than the copula expects
    calibration: float = 1.0
    status: str = OK  # of the fit
    _scores: dict[bytes, tuple[float, float]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def _codes(self) -> list[dict[str | None, int]]:
        return [
            {value: code for code, value in enumerate(marginal.values)}
            for marginal in self.marginals
        ]

    @cached_property
    def _scales(self) -> list[Scale | None]:
        return [
            scale_of(marginal.values) if marginal.ordered else None for marginal in self.marginals
        ]

    @cached_property
    def by_name(self) -> list[int]:
        """Columns in the order of their names, in which random numbers are drawn."""
        return order_by_name(self.columns)

    @cached_property
    def order(self) -> list[int]:
        """Columns in the order of integration: most values first, as their intervals are narrowest."""
        return sorted(self.by_name, key=lambda column: -len(self.marginals[column].values))

    def select(self, places: Sequence[int]) -> "GaussianCopula":
        """The distribution of these columns, by their numbers from 0, which is a Gaussian copula too."""
        return replace(
            self,
            columns=tuple(self.columns[place] for place in places),
            marginals=tuple(self.marginals[place] for place in places),
            correlation=self.correlation[np.ix_(places, places)],
            _scores={},
        )

    @property
    def precision(self) -> Precision:
        """Points of the integration; the average over orders of nominal columns gets more."""
        return Precision(
            **(EXACT_PRECISION if all(m.ordered for m in self.marginals) else AVERAGED_PRECISION),
            absolute_error=MAX_ABSOLUTE_ERROR,
            seed=self.seed,
        )

    def codes(self, values: Sequence[Sequence[Any]]) -> Integers:
        """Codes (records, columns) of records given by column; values never seen have codes of their own.

        Values are text or None.
        """
        return encode_columns(self, values)

    def light(self) -> "GaussianCopula":
        """The model without the scores that it remembers."""
        return replace(self, _scores={})

    def column_codes(self, column: int, values: Sequence[str | None]) -> Integers:
        """Codes of the values of one column, by its number from 0."""
        code_of = self._codes[column]
        return np.array(
            [code_of[v] if v in code_of else self._foreign(column, v) for v in values],
            dtype=np.int64,
        )

    def _foreign(self, column: int, value: str | None) -> int:
        """Code of a text not among the values: another spelling of a number, or a value never seen.

        The last code of an ordered column is for values unlike the sample's.
        """
        marginal = self.marginals[column]
        scale = self._scales[column]
        if scale is not None and scale.excludes(value):
            return last_code(marginal)
        parsed = parse_number(value)
        same = (
            ()
            if parsed is None
            else (
                place
                for place, spelling in enumerate(marginal.values)
                if parse_number(spelling) == parsed
            )
        )
        code = next(iter(same), len(marginal.values))
        if code == len(marginal.values) and marginal.ordered:
            code += bisect_left(sort_keys(marginal.values), sort_keys([value])[0])
        return code

    def texts(self, codes: Integers) -> list[list[str | None]]:
        """Values of records of codes, by column."""
        return [
            np.array(m.values, dtype=object)[column_codes].tolist()
            for m, column_codes in zip(self.marginals, codes.T, strict=True)
        ]

    def cell_probability(self, values: Sequence[Sequence[Any]]) -> CopulaCells:
        """Probability q(x) that a person has exactly these values, with the error of its integration.

        The error is a standard error. `values` are given by column, as text or None. q of values that the
        sample saw is never 0.
        """
        return self.scored(self.codes(values))

    def scored(self, codes: Integers) -> CopulaCells:
        """Cell probabilities of coded records, each distinct one integrated once; the model remembers."""
        distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
        keys = [record.tobytes() for record in distinct]
        missing = [place for place, key in enumerate(keys) if key not in self._scores]
        fresh: dict[bytes, tuple[float, float]] = {}
        for start in range(0, len(missing), RECORDS_PER_BLOCK):
            some = missing[start : start + RECORDS_PER_BLOCK]
            estimates = self.integrated(distinct[some])
            pairs = zip(
                estimates.probability.tolist(), estimates.standard_error.tolist(), strict=True
            )
            fresh |= dict(zip([keys[place] for place in some], pairs, strict=True))
        scores = np.array([fresh.get(key) or self._scores[key] for key in keys]).reshape(-1, 2)[
            inverse.ravel()
        ]
        if len(self._scores) + len(fresh) <= MAX_CACHED_SCORES:
            self._scores.update(fresh)
        status = describe_records(self.columns, self._unseen_cases(codes), self.records)
        return CopulaCells(scores[:, 0], scores[:, 1], status, self.records, doubts=self.doubts)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What casts doubt on every score: the status of the fit."""
        return tuple(
            Doubt(status, understates=status == STATUS_FEWER_REPEATS)
            for status in self.status.split("; ")
            if status != OK
        )

    def _unseen_cases(self, codes: Integers) -> Integers:
        """Whether the sample contains each value, (records, columns)."""
        seen = [len(marginal.values) for marginal in self.marginals]
        has_share = [marginal.unseen > 0 for marginal in self.marginals]
        is_new = (codes < [last_code(marginal) for marginal in self.marginals]) & has_share
        return np.where(codes < seen, SEEN, np.where(is_new, NEW, WITHOUT_SHARE))

    def integrated(self, codes: Integers) -> Estimates:
        """Integrate distinct records of codes; q is 0 where a value's share is."""
        impossible = (self._unseen_cases(codes) == WITHOUT_SHARE).any(axis=1)
        codes = np.minimum(codes, [last_code(marginal) - 1 for marginal in self.marginals])
        used = [np.unique(column, return_inverse=True) for column in codes.T]

        def cells(points: int) -> Cells:
            placed = [
                cell_ends(marginal, distinct, points, [self.seed, self.by_name.index(column)])
                for column, (marginal, (distinct, _)) in enumerate(
                    zip(self.marginals, used, strict=True)
                )
            ]
            return Cells([low for low, _ in placed], [high for _, high in placed])

        renumbered = np.stack([inverse for _, inverse in used], axis=1)
        estimates = integrate(renumbered, cells, self.correlation, self.order, self.precision)
        calibrated = self.calibrated(estimates, codes)
        return Estimates(
            np.where(impossible, 0.0, calibrated.probability),
            np.where(impossible, 0.0, calibrated.standard_error),
        )

    def calibrated(self, estimates: Estimates, codes: Integers) -> Estimates:
        """Multiply by the calibration where cells are rare, up to the frequency of the rarest value.

        No record is more frequent than the rarest of its values.
        """
        if self.calibration == 1:
            return estimates
        shares = [
            np.append(m.shares, m.unseen)[np.minimum(c, len(m.shares))]
            for m, c in zip(self.marginals, codes.T, strict=True)
        ]
        most = np.maximum(np.min(shares, axis=0), estimates.probability)
        moved = temper_cells(estimates.probability, self.calibration, self.records)
        grown = moved / np.maximum(estimates.probability, np.finfo(float).tiny)
        return Estimates(np.minimum(moved, most), estimates.standard_error * grown)


# Populations of a fitted copula: records drawn from it, and how unique people are among any number of them.
# Source: Rocher, Hendrickx & de Montjoye 2019, algorithm 1 of the supplement, and eq. 12 to 15.

RANDOM_ORDERS: Final = 16  # random orders of nominal columns, with as many records each
RECORDS_PER_FORECAST: Final = 4096
STATUS_NO_INTERVAL: Final = (
    "no_interval: an interval would contain the error of the computation, not of the model"
)
MAX_PEOPLE_ERROR: Final = 1e-3  # people by whom the expected number of others may be wrong


@dataclass(frozen=True)
class CopulaForecast:
    """Uniqueness Ξ and correctness κ of a population of a model, with 95 % intervals; None for a copula.

    Of a copula only the error of the computation is known, and the truth was above that interval in two of
    three samples.
    """

    population: float
    uniqueness: float
    uniqueness_low: float | None
    uniqueness_high: float | None
    correctness: float
    correctness_low: float | None
    correctness_high: float | None
    status: str


@dataclass(frozen=True)
class _Order:
    """One order of the values of each column: what comes where, and the latent ends between them."""

    values: list[Integers]
    bounds: list[Floats]


def forecast_copula(model: GaussianCopula, populations: npt.ArrayLike) -> list[CopulaForecast]:
    """Expected share of people who are unique, and of right matches, in populations of these sizes.

    Ξ(n) is the mean of ξ(q(x), n) over records drawn from the model, equation 15: nothing of size n is drawn.
    Nominal columns are put in several random orders.
    """
    sizes = COUNT.check("populations", populations)
    precision = Precision(
        256, 1024, 1e-2, absolute_error=MAX_PEOPLE_ERROR / float(sizes.max()), seed=model.seed
    )
    cells = draw_cells(model, precision)
    status = join_status(*describe_few_records(model.records), STATUS_NO_INTERVAL, model.status)
    # a mean of each order, then of all of them
    cells_by_order = [np.minimum(cell.probability, 1) for cell in cells]
    forecasts = []
    for size in sizes.tolist():
        unique, right = (
            float(np.mean([score(q, size).mean() for q in cells_by_order]))
            for score in (
                uniqueness.uniqueness_from_probability,
                uniqueness.correctness_from_probability,
            )
        )
        forecasts.append(CopulaForecast(size, unique, None, None, right, None, None, status))
    return forecasts


def draw_cells(
    model: GaussianCopula,
    precision: Precision,
    orders: int = RANDOM_ORDERS,
    each: int = RECORDS_PER_FORECAST // RANDOM_ORDERS,
) -> list[Estimates]:
    """Cell probabilities of records drawn from the model, in several orders of its nominal columns."""
    return [_draw_order_cells(model, order, each, precision) for order in range(orders)]


def sample_codes(model: GaussianCopula, places: Integers, seed: int) -> Integers:
    """Codes of records at these places of an endless sample: (places, columns).

    A place has the same record in every call, whatever the other places.
    """
    order = _shuffle_orders(model, np.random.default_rng([seed, 0]))
    return draw_places(
        model, places, seed, lambda count, rng: _draw_codes(model, order, count, rng)
    )


def _draw_order_cells(
    model: GaussianCopula, number: int, count: int, precision: Precision
) -> Estimates:
    """Cell probabilities of records drawn under one order of the nominal columns, under that same order."""
    rng = np.random.default_rng([model.seed, 2, number])
    order = _shuffle_orders(model, rng)
    codes = _draw_codes(model, order, count, rng)
    places = [np.argsort(values) for values in order.values]  # of each code: its place in the order
    ends = list(zip(order.bounds, places, strict=True))
    cells = Cells(
        [bounds[:-1][place][:, None] for bounds, place in ends],
        [bounds[1:][place][:, None] for bounds, place in ends],
    )
    estimates = integrate(codes, lambda _: cells, model.correlation, model.order, precision)
    return model.calibrated(estimates, codes)


def _shuffle_orders(model: GaussianCopula, rng: np.random.Generator) -> _Order:
    values = [np.arange(len(marginal.values)) for marginal in model.marginals]
    for column in model.by_name:
        if not model.marginals[column].ordered:
            values[column] = rng.permutation(values[column])
    bounds = [
        ndtri(np.append(0.0, np.cumsum(marginal.shares[permuted])).clip(0, 1)).clip(
            -MAX_SIGMAS, MAX_SIGMAS
        )
        for marginal, permuted in zip(model.marginals, values, strict=True)
    ]
    return _Order(values, bounds)


def _draw_codes(
    model: GaussianCopula, order: _Order, count: int, rng: np.random.Generator
) -> Integers:
    eigenvalues, vectors = np.linalg.eigh(model.correlation[np.ix_(model.by_name, model.by_name)])
    latent = (
        rng.standard_normal((count, len(eigenvalues)))
        @ (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T
    )
    codes = np.empty((count, len(eigenvalues)), dtype=np.int64)
    for column, normals in zip(model.by_name, latent.T, strict=True):
        codes[:, column] = order.values[column][
            np.searchsorted(order.bounds[column][1:-1], normals)
        ]
    return codes
