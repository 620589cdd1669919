"""What Rocher, Hendrickx & de Montjoye 2025 measure, on the corpora that are at hand and on drawn labels."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from benchmarks.accuracy.corpora import Dataset
from benchmarks.accuracy.many import populations
from benchmarks.accuracy.published import FRACTIONS, METHODS
from benchmarks.accuracy.summary import chosen, map_fit, random_guess_error, rmse, within
from benchmarks.accuracy.synthetic import CORPORA, datasets
from benchmarks.accuracy.trial import Fitted, Trial, measure, sample_histogram
from reid_sql.models.classes.uniqueness import correctness_from_uniqueness
from reid_sql.models.pyc import pitman_yor
from reid_sql.models.pyc.extrapolation import extrapolate
from reid_sql.models.pyc.pitman_yor import fit_pitman_yor
from reid_sql.parameters import Integers

SEED: Final = 2025
MAX_RECORDS: Final = 20_000  # of a table whose ranks are drawn
DRAWS: Final = 200  # of a band
MASSACHUSETTS: Final = 6_016_425  # people in 1990
RANKS: Final = 50  # that are compared, evenly spaced in their logarithm


def measure_corpus(corpus: str, count: int) -> list[dict[str, Any]]:
    """Fit and extrapolate tables of a corpus, and compare their ranks."""
    found = []
    for dataset in datasets(corpus, count, SEED):
        if within(dataset.correctness):
            measured = measure(dataset, SEED)
            divergence, inside = compare_ranks(dataset)
            found.append(
                {
                    "fitted": asdict(measured.fitted),
                    "trials": [asdict(trial) for trial in measured.trials],
                    "divergence": divergence,
                    "inside": inside,
                }
            )
    return found


def compare_ranks(dataset: Dataset) -> tuple[float, float]:
    """Bits of divergence from the fitted process, and the share of ranks inside its 95 % band.

    Class sizes by rank are compared with those of tables of as many records, drawn from the MAP estimate.
    """
    histogram = dataset.histogram
    rng = np.random.default_rng([SEED, *dataset.name.encode()])
    if dataset.records > MAX_RECORDS:
        histogram = sample_histogram(histogram, MAX_RECORDS, rng)
    records = int(histogram.records.sum())
    found, _ = fit_pitman_yor(histogram)
    discount, concentration = map(float, pitman_yor.parameters(found.entropy, found.tail))
    drawn = _sizes_by_rank(populations(discount, concentration, records, DRAWS, SEED))
    own = np.repeat(histogram.class_size, histogram.classes.astype(np.int64))[::-1]
    drawn = np.pad(drawn, ((0, 0), (0, max(len(own) - drawn.shape[1], 0))))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    ranks = np.unique(np.geomspace(1, len(own), RANKS).round().astype(int)) - 1
    inside = float(((low[ranks] <= own[ranks]) & (own[ranks] <= high[ranks])).mean())
    expected = np.maximum(drawn.mean(axis=0)[: len(own)], 1 / DRAWS)
    return float(own @ np.log2(own / expected) / records), inside


def _sizes_by_rank(labels: Integers) -> Integers:
    """Sizes of the classes of each run, the largest first: (runs, classes)."""
    many = int(labels.max()) + 1
    return np.stack([np.sort(np.bincount(own, minlength=many))[::-1] for own in labels])


def summarize(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Table 1, S1 and S2, and the ranks by corpus."""
    fitted = [Fitted(**one["fitted"]) for one in found]
    trials = [Trial(**trial) for one in found for trial in one["trials"]]
    whole = chosen(trials, 1.0)
    return {
        "datasets": len(found),
        "map": map_fit(fitted),
        "ent": rmse([trial.errors["ent"] for trial in whole]),
        "table_1": {str(fraction): _errors(chosen(trials, fraction)) for fraction in FRACTIONS},
        "divergence": [one["divergence"] for one in found],
        "inside": {
            corpus: [one["inside"] for one in found if one["fitted"]["corpus"] == corpus]
            for corpus in CORPORA
        },
    }


def closed_forms() -> dict[str, float]:
    """Figures of the papers that need no data."""
    world = 7.53e9
    weld = correctness_from_uniqueness(np.array([0.58, 0.997]), MASSACHUSETTS)
    return {
        "weld": float(weld[0]),
        "weld_with_children": float(weld[1]),
        "extrapolated": float(extrapolate([100, 1000], [0.99, 0.80], 10_000, "pyc").correctness),
        "geometric_tail": float(pitman_yor.correctness(40 * np.log(2), 0.0, world)),
        "heavy_tail": float(pitman_yor.correctness(40 * np.log(2), 1.0, world)),
        "browsers": float(pitman_yor.correctness(41.54, 0.68, 4e9)),
    }


def _errors(trials: Sequence[Trial]) -> dict[str, float]:
    errors = {method: rmse([trial.errors[method] for trial in trials]) for method in METHODS}
    truth, measured = (
        np.array([getattr(t, name) for t in trials]) for name in ("correctness", "measured")
    )
    return errors | {"rnd": random_guess_error(truth, measured), "tables": len(trials)}
