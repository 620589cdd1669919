"""One dataset: what each method says of its full size, from a fraction of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np

from benchmarks.accuracy import fitted_curves
from benchmarks.accuracy.corpora import Dataset
from benchmarks.accuracy.published import FRACTIONS, METHODS
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.models.classes.uniqueness import correctness_curve, default_subset_sizes
from reid_sql.models.pyc import extrapolation, pitman_yor
from reid_sql.models.pyc.pitman_yor import fit_pitman_yor
from reid_sql.models.pyc.pitman_yor_forecast import PycForecast, forecast_pitman_yor
from reid_sql.parameters import Floats, Integers
from tests.urn import histogram_of

LEAST: Final = 3  # records: equation 4 needs two sizes above 1
K: Final = 5
Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Trial:
    """Errors of κ(N), forecast less true, by method; whether 95 % intervals hold the truth, by measure."""

    corpus: str
    name: str
    records: int
    fraction: float
    correctness: float  # of the full size
    measured: float  # of the fraction's size
    errors: dict[str, float]
    covered: dict[str, bool]


@dataclass(frozen=True)
class Fitted:
    """The MAP fit to the full histogram: the errors of its closed form along the curve of sizes."""

    corpus: str
    name: str
    entropy: float
    tail: float
    bias: float  # mean over the sizes
    squared: float  # mean over the sizes
    last: float  # at the full size
    status: str


@dataclass(frozen=True)
class Measured:
    """All that is measured on one dataset."""

    fitted: Fitted
    trials: list[Trial]


def measure(dataset: Dataset, seed: int) -> Measured:
    """Fit the whole of it, and forecast from each fraction that is large enough."""
    fitted = _fitted(dataset)
    return Measured(fitted, list(_trials(dataset, fitted, seed)))


def truth(histogram: Histogram) -> dict[str, float]:
    """Correctness, uniqueness and the share of records in classes smaller than 5, as counted."""
    records = int(histogram.records.sum())
    alone, few = (int(histogram.records[histogram.class_size < k].sum()) for k in (2, K))
    return {"κ": int(histogram.classes.sum()) / records, "Ξ": alone / records, "V5": few / records}


def intervals(found: PycForecast) -> dict[str, Interval]:
    """Give the 95 % intervals by measure."""
    return {
        "κ": (found.correctness_low, found.correctness_high),
        "Ξ": (found.uniqueness_low, found.uniqueness_high),
        "V5": (found.k_violation_low, found.k_violation_high),
    }


def held(found: PycForecast, true: dict[str, float]) -> dict[str, bool]:
    """Whether each interval holds the truth."""
    return {name: low <= true[name] <= high for name, (low, high) in intervals(found).items()}


def _fitted(dataset: Dataset) -> Fitted:
    sizes = default_subset_sizes(dataset.records)
    found, _ = fit_pitman_yor(dataset.histogram)
    tail = np.clip(found.tail, pitman_yor.TAIL.low, pitman_yor.TAIL.high)
    error = pitman_yor.correctness(found.entropy, tail, sizes) - correctness_curve(
        dataset.histogram, sizes
    )
    errors = float(error.mean()), float((error**2).mean()), float(error[-1])
    return Fitted(dataset.corpus, dataset.name, found.entropy, found.tail, *errors, found.status)


def _trials(dataset: Dataset, fitted: Fitted, seed: int) -> Iterator[Trial]:
    named = dataset.corpus, dataset.name, dataset.records
    for fraction in FRACTIONS:
        size = round(dataset.records * fraction)
        if size >= LEAST:
            errors, measured = _extrapolated(dataset, size)
            errors["map"], covered = (
                (fitted.last, {}) if fraction == 1 else _forecast(dataset, size, seed)
            )
            yield Trial(*named, fraction, dataset.correctness, measured, errors, covered)


def _extrapolated(dataset: Dataset, size: int) -> tuple[dict[str, float], float]:
    """Errors of the four curves, fitted to the exact curve up to this size; and κ at it."""
    sizes = default_subset_sizes(size)
    curve = correctness_curve(dataset.histogram, sizes)
    found = {name: _at_full_size(name, sizes, curve, dataset.records) for name in METHODS}
    return {name: kappa - dataset.correctness for name, kappa in found.items()}, float(curve[-1])


def _at_full_size(method: str, sizes: Integers, curve: Floats, records: int) -> float:
    found = extrapolation.extrapolate(sizes, curve, records, method)
    if sizes[-1] == records and found.parameters:
        return fitted_curves.fitted(method, found.parameters, records)
    return float(found.correctness)


def _forecast(dataset: Dataset, size: int, seed: int) -> tuple[float, dict[str, bool]]:
    """Error of the MAP forecast from one random sample of this size, and whether its intervals hold."""
    rng = np.random.default_rng([seed, crc32(f"{dataset.corpus} {dataset.name}".encode()), size])
    found = forecast_pitman_yor(sample_histogram(dataset.histogram, size, rng), dataset.records, K)[
        0
    ]
    return found.correctness - dataset.correctness, held(found, truth(dataset.histogram))


def sample_histogram(histogram: Histogram, size: int, rng: np.random.Generator) -> Histogram:
    classes = np.repeat(histogram.class_size, histogram.classes.astype(np.int64))  # (classes,)
    ends = np.cumsum(classes)
    drawn = rng.choice(int(ends[-1]), size, replace=False)
    return histogram_of(np.bincount(np.searchsorted(ends, drawn, side="right")))
