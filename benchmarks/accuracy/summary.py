"""Root mean squares, means and shares of many trials, and whether they meet the targets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from benchmarks.accuracy.coverage import PRIORS, Run
from benchmarks.accuracy.published import (
    BOUNDS,
    COVERED,
    FRACTIONS,
    MAP_BIAS,
    MAP_RMSE,
    METHODS,
    TENTH_RMSE,
)
from benchmarks.accuracy.sparse import SPARSE_TENTH, Sparse
from benchmarks.accuracy.trial import Fitted, Trial
from reid_sql.parameters import Floats

MEASURES: Final = ("κ", "Ξ", "V5")
Errors: TypeAlias = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Verdict:
    """A target, what came out, and whether it was met."""

    target: str
    found: str
    met: bool


def rmse(errors: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")


def bias(errors: Sequence[float]) -> float:
    return float(np.mean(errors)) if errors else float("nan")


def random_guess_error(correctness: Floats, measured: Floats) -> float:
    """RMSE of the paper's RND: a guess uniform between 0 and the last measured correctness.

    The paper prints "between 0 and n⁽⁰⁾", which is 1. Such a guess has an RMSE of at least √(1/12) = 0.289
    for any correctness; table 1 has 0.213. The guess has the mean m/2, which `pyc_extrapolate` returns, and
    the variance m²/12.
    """
    return float(np.sqrt(np.mean((measured / 2 - correctness) ** 2 + measured**2 / 12)))


def within(value: float) -> bool:
    return BOUNDS[0] < value < BOUNDS[1]


def chosen(trials: Iterable[Trial], fraction: float, *, measured: bool = True) -> list[Trial]:
    """Keep the trials of a fraction, and those of table 1: κ lies within bounds at its size too.

    The size is the measured one.
    """
    return [
        trial
        for trial in trials
        if trial.fraction == fraction and (within(trial.measured) or not measured)
    ]


def by_method(trials: Sequence[Trial], statistic: Errors) -> dict[str, float]:
    return {
        method: statistic([trial.errors[method] for trial in trials])
        for method in (*METHODS, "map")
    }


def map_fit(fitted: Sequence[Fitted]) -> dict[str, float]:
    """Summarise the MAP fits: over all sizes of the curves, and at the full size alone."""
    last = [one.last for one in fitted]
    over = {
        "rmse": float(np.sqrt(np.mean([one.squared for one in fitted]))),
        "bias": bias([one.bias for one in fitted]),
    }
    return over | {"rmse_at_full_size": rmse(last), "bias_at_full_size": bias(last)}


def coverage(covered: Sequence[dict[str, bool]]) -> dict[str, float]:
    return {
        name: float(np.mean([one[name] for one in covered])) if covered else float("nan")
        for name in MEASURES
    }


def verdicts(fitted: Sequence[Fitted], trials: Sequence[Trial]) -> list[Verdict]:
    """Hold the datasets against the published accuracy."""
    over = map_fit(fitted)
    tenth = by_method(chosen(trials, 0.1), rmse)["pyc"]
    return [
        _at_most("MAP fit, RMSE over the curves", over["rmse"], MAP_RMSE),
        _at_most("MAP fit, |bias| over the curves", over["bias"], MAP_BIAS),
        _at_most("MAP fit, RMSE at the full size", over["rmse_at_full_size"], MAP_RMSE),
        _at_most("MAP fit, |bias| at the full size", over["bias_at_full_size"], MAP_BIAS),
        _at_most("pyc from 10 %, RMSE", tenth, TENTH_RMSE),
        _best(trials),
    ]


def model_verdicts(runs: Sequence[Run]) -> list[Verdict]:
    """Hold the intervals against their promise, for processes that the prior does not rule out."""
    covered = {
        prior: coverage([run.covered for run in runs if run.prior == prior and run.is_inside])
        for prior in PRIORS
    }
    return [
        Verdict(
            f"intervals under the model, prior {prior}, {name} ≥ {COVERED:.0%}",
            f"{share:.1%}",
            share >= COVERED,
        )
        for prior, shares in covered.items()
        for name, share in shares.items()
    ]


def sparse_verdict(found: Sequence[Sparse]) -> Verdict:
    """Hold the extrapolation of sparse matching from a tenth against the paper's."""
    tenth = [one.errors["pyc"] for one in found if one.fraction == 0.1]
    return _at_most("pyc from 10 %, sparse matching, RMSE", rmse(tenth), SPARSE_TENTH)


def _at_most(words: str, found: float, most: float) -> Verdict:
    return Verdict(
        f"{words} ≤ {100 * most:.1f} p.p.", f"{100 * found:+.2f} p.p.", abs(found) <= most
    )


def _best(trials: Sequence[Trial]) -> Verdict:
    beaten = []
    for fraction in FRACTIONS:
        errors = by_method(chosen(trials, fraction), rmse)
        best = min(METHODS, key=errors.__getitem__)
        beaten += [f"{best} at {fraction:.1%}"] if best != "pyc" else []
    return Verdict(
        "pyc has the least RMSE of the four at every fraction",
        ", ".join(beaten) or "at all six",
        not beaten,
    )
