"""Populations of a fitted copula: records drawn from it, and how unique people are among any number of them.

Source: Rocher, Hendrickx & de Montjoye 2019, algorithm 1 of the supplement, and eq. 12 to 15.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from reid_sql.interruption import checkpoint
from reid_sql.models.classes import uniqueness
from reid_sql.models.classes.disclosure import OK, Integers
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.numerics.quantiles import NORMAL_95
from reid_sql.models.numerics.rectangle import MAX_SIGMAS, Cells, Estimates, Precision, integrate
from reid_sql.models.numerics.scipy_functions import ndtri
from reid_sql.models.population.estimate import PopulationShares
from reid_sql.parameters import COUNT, Floats

CHUNK: Final = 2048  # records that are drawn from one stream of random numbers
ORDERS: Final = 16  # random orders of nominal columns, with as many records each
RECORDS: Final = 4096
COMPUTED: Final = "the interval is that of the computation, not of the model"
PEOPLE: Final = 1e-3  # people by whom the expected number of others may be wrong


@dataclass(frozen=True)
class CopulaForecast(PopulationShares):
    """Uniqueness Ξ and correctness κ of a population of the model, with 95 % intervals of the computation."""

    status: str


@dataclass(frozen=True)
class _Order:
    """One order of the values of each column: what comes where, and the latent ends between them."""

    values: list[Integers]
    bounds: list[Floats]


def forecast(model: GaussianCopula, populations: npt.ArrayLike) -> list[CopulaForecast]:
    """Expected share of people who are unique, and of right matches, in populations of these sizes.

    Ξ(n) is the mean of ξ(q(x), n) over records drawn from the model, equation 15: nothing of size n is drawn.
    Nominal columns are put in several random orders; the interval is from how much the orders differ.
    """
    sizes = COUNT.check("populations", populations)
    precision = Precision(256, 1024, 1e-2, absolute_error=PEOPLE / float(sizes.max()), seed=model.seed)
    cells = drawn_cells(model, precision)
    status = COMPUTED if model.status == OK else f"{COMPUTED}; {model.status}"
    return [_mean(cells, float(size), status) for size in sizes]


def drawn_cells(
    model: GaussianCopula, precision: Precision, orders: int = ORDERS, each: int = RECORDS // ORDERS
) -> list[Estimates]:
    """Cell probabilities of records drawn from the model, in several orders of its nominal columns."""
    return [_drawn_cells(model, order, each, precision) for order in range(orders)]


def sample_codes(model: GaussianCopula, places: Integers, seed: int) -> Integers:
    """Codes of records at these places of an endless sample, the same whoever asks: (places, columns).

    They are also the same whichever places are asked for.
    """
    order = _shuffled(model, np.random.default_rng([seed, 0]))
    found = np.empty((len(places), len(model.columns)), dtype=np.int64)
    chunks = places // CHUNK
    for chunk in np.unique(chunks).tolist():
        checkpoint()
        rows = chunks == chunk
        drawn = _codes(model, order, CHUNK, np.random.default_rng([seed, 1, chunk]))
        found[rows] = drawn[places[rows] % CHUNK]
    return found


def _mean(cells: list[Estimates], size: float, status: str) -> CopulaForecast:
    unique, right = (
        _interval(np.array([score(np.minimum(cell.probability, 1), size).mean() for cell in cells]))
        for score in (uniqueness.uniqueness_from_probability, uniqueness.correctness_from_probability)
    )
    return CopulaForecast(size, *unique, *right, status)


def _interval(means: Floats) -> tuple[float, float, float]:
    """Mean over the orders, and the ends of its 95 % interval within [0, 1]."""
    mean, half = float(means.mean()), NORMAL_95 * float(means.std(ddof=1)) / np.sqrt(len(means))
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def _drawn_cells(model: GaussianCopula, number: int, count: int, precision: Precision) -> Estimates:
    """Cell probabilities of records drawn under one order of the nominal columns, under that same order."""
    rng = np.random.default_rng([model.seed, 2, number])
    order = _shuffled(model, rng)
    codes = _codes(model, order, count, rng)
    placed = [np.argsort(values) for values in order.values]  # of each code: its place in the order
    cells = Cells(
        [bounds[:-1][place][:, None] for bounds, place in zip(order.bounds, placed, strict=True)],
        [bounds[1:][place][:, None] for bounds, place in zip(order.bounds, placed, strict=True)],
    )
    return model.calibrated(
        integrate(codes, lambda _: cells, model.correlation, model.order, precision), codes
    )


def _shuffled(model: GaussianCopula, rng: np.random.Generator) -> _Order:
    counts = [len(marginal.values) for marginal in model.marginals]
    values = [
        np.arange(n) if m.ordered else rng.permutation(n)
        for n, m in zip(counts, model.marginals, strict=True)
    ]
    bounds = [
        ndtri(np.append(0.0, np.cumsum(marginal.shares[own])).clip(0, 1)).clip(-MAX_SIGMAS, MAX_SIGMAS)
        for marginal, own in zip(model.marginals, values, strict=True)
    ]
    return _Order(values, bounds)


def _codes(model: GaussianCopula, order: _Order, count: int, rng: np.random.Generator) -> Integers:
    eigenvalues, vectors = np.linalg.eigh(model.correlation)
    latent = (
        rng.standard_normal((count, len(eigenvalues))) @ (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T
    )
    return np.stack(
        [
            own[np.searchsorted(bounds[1:-1], latent[:, c])]
            for c, (own, bounds) in enumerate(zip(order.values, order.bounds, strict=True))
        ],
        axis=1,
    )
