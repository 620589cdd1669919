"""Extrapolated curves of tables whose truth is counted: `python -m benchmarks.accuracy.curves --help`.

Errors of every method from a fraction of the table, and whether the 95 % intervals hold the truth. `--scores`
prints the quantiles that the intervals are made of, from tables of a seed and partly of corpora that the
other figures do not use.
"""

import json
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.accuracy.corpora import Dataset, folder
from benchmarks.accuracy.summary import random_guess_error, within
from benchmarks.accuracy.synthetic import CORPORA, LABELS, datasets
from reid_sql.models.classes.uniqueness import (
    correctness_curve,
    default_subset_sizes,
    uniqueness_curve,
)
from reid_sql.models.pyc.curve_families import Task, fit_pyc_curve
from reid_sql.models.pyc.extrapolation import (
    METHOD,
    MIN_HALF_WIDTH,
    WIDTH_PER_LOG_TIMES,
    extrapolate,
    point_quality,
)
from reid_sql.models.pyc.measurements import check_measurements
from reid_sql.models.pyc.tilted_curve import MAX_TIMES_MEASURED, fit_tilted_curve, log_odds
from reid_sql.parameters import Floats

FRACTIONS: Final = (0.1, 0.05, 0.01, 0.005, 0.001)
ROUGHLY: Final = (0.1, 0.01)  # where rounded, few and noisy points are tried too
ROUGH: Final = ("five", "two", "noisy")
LEAST: Final = 5  # records in the fraction
TARGETS: Final = 1000  # people by whom a noisy share was measured
LEARNT_ON: Final = ("brfss2020_heart", "hdv2003", "geometric", "zipf")
LEARNT_WITH: Final = 7  # the seed: other columns and parameters than those of the figures
# kind, measure, sizes, shares, standard errors
Points = tuple[str, str, Floats, Floats, Floats | None]


@dataclass(frozen=True)
class Trial:
    """One curve: what each method says of correctness, its interval, and the truth."""

    corpus: str
    name: str
    fraction: float
    times: float  # the table over the largest size
    kind: str
    measure: str
    truth: float
    measured: float
    answers: dict[str, tuple[float, float, float]]
    score: float  # what the interval of the tilted curve would have needed


def curves_of(dataset: Dataset, rng: np.random.Generator) -> Iterator[tuple[float, Points]]:
    """Give the points of every fraction: exact ones of κ and Ξ, five and two rounded, twelve noisy."""
    for fraction in FRACTIONS:
        most = round(dataset.records * fraction)
        if most < LEAST:
            continue
        sizes = default_subset_sizes(most)[1:].astype(np.float64)
        kappa = correctness_curve(dataset.histogram, sizes)
        if not within(float(kappa[-1])):
            continue
        yield fraction, ("exact", "correctness", sizes, kappa, None)
        if fraction in ROUGHLY:
            xi = uniqueness_curve(dataset.histogram, sizes)
            yield fraction, ("exact", "uniqueness", sizes[xi > 0], xi[xi > 0], None)
            yield from ((fraction, points) for points in _rough(dataset, most, rng))


def _rough(dataset: Dataset, most: int, rng: np.random.Generator) -> Iterator[Points]:
    five = np.unique(np.rint(np.geomspace(max(2, most / 30), most, 5)))
    rounded = np.round(correctness_curve(dataset.histogram, five), 2)
    if five.size > LEAST - 1 and rounded.min() > 0:
        yield "five", "correctness", five, rounded, None
        yield "two", "correctness", five[[1, 4]], rounded[[1, 4]], None
    twelve = np.unique(np.rint(np.geomspace(2, most, 12)))
    kappa = correctness_curve(dataset.histogram, twelve)
    errors = np.sqrt(kappa * (1 - kappa) / TARGETS) + 1e-4
    yield (
        "noisy",
        "correctness",
        twelve,
        np.clip(kappa + errors * rng.normal(size=kappa.size), 1e-4, 1),
        errors,
    )


def trial(dataset: Dataset, fraction: float, points: Points) -> Trial | None:
    """Extrapolate to the whole table by every method; None where the points do not fall."""
    kind, measure, sizes, shares, errors = points
    if sizes.size < 2 or not check_measurements(sizes, shares, errors).falls:
        return None
    answers = {}
    for method in METHOD.words:
        found = extrapolate(
            sizes, shares, [dataset.records], method, measure=measure, standard_errors=errors
        ).answers.get("correctness")
        if found is not None:
            answers[method] = float(found.value[0]), float(found.low[0]), float(found.high[0])
    times = dataset.records / float(sizes[-1])
    needed = score(dataset, points)
    named = dataset.corpus, dataset.name, fraction, times, kind, measure
    return Trial(*named, dataset.correctness, float(shares[-1]), answers, needed)


def score(dataset: Dataset, points: Points) -> float:
    """How many times what is open the truth lies away from the tilted curve, in log-odds."""
    _, measure, sizes, shares, errors = points
    task = Task(check_measurements(sizes, shares, errors), measure)
    tilted = fit_tilted_curve(task, fit_pyc_curve(task))
    reach = tilted.reach("correctness", np.array([float(dataset.records)]))
    away = dataset.correctness - reach.answer
    if abs(away[0]) <= MIN_HALF_WIDTH:
        return 0.0
    nearer = np.clip(dataset.correctness - np.sign(away) * MIN_HALF_WIDTH, 0, 1)
    grown = WIDTH_PER_LOG_TIMES[point_quality(tilted)] * np.log(max(dataset.records / sizes[-1], 1))
    open_width = reach.distance + reach.noise + grown
    return float((np.abs(log_odds(nearer) - log_odds(reach.answer)) / open_width)[0])


def lines(trials: Iterable[Trial]) -> Iterator[str]:
    """Give the tables of errors and of coverage, as Markdown."""
    done = list(trials)
    yield "| fraction | tables | " + " | ".join(METHOD.words) + " |"
    yield "| --- |" + " --- |" * (1 + len(METHOD.words))
    for fraction, real in product(FRACTIONS, (True, False)):
        some = [
            one
            for one in done
            if (one.kind, one.measure, one.fraction) == ("exact", "correctness", fraction)
            and (one.corpus not in LABELS) == real
        ]
        if some:
            errors = [f"{100 * error(some, method):.2f}" for method in METHOD.words]
            words = f"{fraction:.1%} | {len(some)} {'real' if real else 'synthetic'}"
            yield f"| {words} | {' | '.join(errors)} |"
    yield ""
    yield from rough_errors(done)
    yield ""
    yield from coverage(done)


def rough_errors(trials: list[Trial]) -> Iterator[str]:
    """Give the errors of every method from rough points, as Markdown."""
    yield "| points | fraction | tables | " + " | ".join(METHOD.words) + " |"
    yield "| --- |" + " --- |" * (2 + len(METHOD.words))
    for kind, fraction in product(ROUGH, ROUGHLY):
        some = [one for one in trials if (one.kind, one.fraction) == (kind, fraction)]
        if some:
            errors = " | ".join(f"{100 * error(some, method):.2f}" for method in METHOD.words)
            yield f"| {kind} | {fraction:.1%} | {len(some)} | {errors} |"


def error(trials: list[Trial], method: str) -> float:
    """Root mean square; of 'rnd' that of a guess uniform between 0 and the last measured share."""
    if method == "rnd":
        truth, measured = (
            np.array([getattr(one, name) for one in trials]) for name in ("truth", "measured")
        )
        return random_guess_error(truth, measured)
    squares = [(one.answers[method][0] - one.truth) ** 2 for one in trials]
    return float(np.sqrt(np.mean(squares)))


def coverage(trials: list[Trial]) -> Iterator[str]:
    """Give the shares of intervals that hold the truth, with mean and median width, by points and reach."""
    groups: dict[tuple[str, str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for one in trials:
        seen = "corpus learnt on" if one.corpus in LEARNT_ON else "corpus never seen"
        reach = "up to 30" if one.times <= MAX_TIMES_MEASURED * 1.02 else "beyond 30"
        for method, (_, low, high) in one.answers.items():
            if method == "tilted" or one.kind == "exact":
                held_and_width = float(low <= one.truth <= high), high - low
                groups[method, f"{one.kind} {one.measure}", reach, seen].append(held_and_width)
    yield "| method | points | times the largest size | tables | cases | held | mean width | median width |"
    yield "| --- |" + " --- |" * 7
    for (method, points, reach, seen), some in sorted(groups.items()):
        held, width, median = (
            np.mean([one[0] for one in some]),
            np.mean([one[1] for one in some]),
            np.median([one[1] for one in some]),
        )
        named = f"{method} | {points} | {reach} | {seen}"
        yield f"| {named} | {len(some)} | {held:.1%} | {width:.3f} | {median:.3f} |"


def scores(trials: list[Trial]) -> Iterator[str]:
    """Give the 95 % quantile of what the intervals of correctness needed.

    Of n cases the ⌈0.95 (n + 1)⌉-th.
    """
    groups: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for one in trials:
        groups[f"{one.kind} {one.measure}", one.times > MAX_TIMES_MEASURED * 1.02].append(one.score)
    for (points, far), found in sorted(groups.items()):
        place = min(len(found), int(np.ceil(0.95 * (len(found) + 1)))) - 1
        reach = "beyond" if far else "up to"
        yield f"{points}, {reach} 30 times: {np.sort(found)[place]:.2f} ({len(found)} curves)"


def run(corpora: Iterable[str], count: int, seed: int) -> list[Trial]:
    """Extrapolate every curve of every table whose correctness is neither 0 nor 1."""
    rng = np.random.default_rng(seed)
    drawn = (
        one
        for corpus in corpora
        for one in datasets(corpus, count, seed)
        if within(one.correctness)
    )
    found = (
        trial(one, fraction, points) for one in drawn for fraction, points in curves_of(one, rng)
    )
    return [one for one in found if one is not None]


def main() -> None:
    """Print the tables, or the scores."""
    parser = ArgumentParser(
        prog="python -m benchmarks.accuracy.curves",
        description=__doc__,
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--datasets", type=int, default=24, help="tables drawn from a corpus")
    parser.add_argument("--seed", type=int, default=2025, help="seed of the tables of the figures")
    parser.add_argument(
        "--scores", action="store_true", help="print the scores of the intervals instead"
    )
    parser.add_argument("--json", type=Path, help="file for every figure")
    asked = parser.parse_args()
    folder()
    done = (
        run(LEARNT_ON, asked.datasets, LEARNT_WITH)
        if asked.scores
        else run(CORPORA, asked.datasets, asked.seed)
    )
    print("\n".join(scores(done) if asked.scores else lines(done)))
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in done]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
