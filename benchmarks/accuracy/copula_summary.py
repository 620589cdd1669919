"""Errors of Ξ, and how well ξ tells unique persons, as lines of Markdown beside what the paper prints."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from scipy.stats import rankdata

from benchmarks.accuracy.copulas import FRACTIONS, GIVEN, METHODS, Fitted, Persons
from benchmarks.accuracy.published import PAPER_GIVEN, PAPER_MAE
from reid_sql.parameters import Floats, Integers

PAPER_PERSONS: Final = "| *ADULT, the paper* | 50 | 0.91 ± 0.05 | 15.62 % | 12.37 % | 7.62 % | | |"
THRESHOLDS: Final = (0.90, 0.95, 0.99)
BINS: Final = 10
DRAWS: Final = 2000
Statistic: TypeAlias = Callable[[Integers], float]


def lines(found: Sequence[Fitted]) -> Iterator[str]:
    """Both tables."""
    yield from _populations(found)
    yield ""
    yield from _persons(found)


def _populations(found: Sequence[Fitted]) -> Iterator[str]:
    """Mean absolute error ± standard deviation [its 95 % interval], by corpus, method and fraction."""
    yield (
        "| Ξ̂, mean absolute error | populations | 100 % | 10 % | 5 % | 1 % |\n" + "| --- " * 6 + "|"
    )
    for corpus in dict.fromkeys(one.population.corpus for one in found):
        own = [one for one in found if one.population.corpus == corpus]
        if corpus == "adult":
            yield f"| *ADULT, the paper* | 50 | {' | '.join(PAPER_MAE[fraction] for fraction in FRACTIONS)} |"
            given = " | ".join(PAPER_GIVEN[fraction] for fraction in FRACTIONS)
            yield f"| *ADULT, the paper, exact marginals* | 50 | {given} |"
        for method in (*METHODS, GIVEN):
            errors = " | ".join(_error(own, method, f) for f in FRACTIONS)
            yield f"| {corpus}, {method} | {len(own)} | {errors} |"


def _error(found: Sequence[Fitted], method: str, fraction: float) -> str:
    signed = np.array(
        [one.errors[method][fraction] for one in found if fraction in one.errors[method]]
    )
    if not len(signed):
        return "–"
    low, high = _interval(len(signed), lambda some: float(np.abs(signed[some]).mean()))
    return (
        f"{np.abs(signed).mean():.3f} ± {np.abs(signed).std(ddof=1):.3f} [{low:.3f}, "
        f"{high:.3f}], bias {signed.mean():+.3f}"
    )


def _persons(found: Sequence[Fitted]) -> Iterator[str]:
    """Area under the curve, false discoveries, Brier score over the best constant's, calibration.

    Of all persons together.
    """
    yield (
        "| ξ from 1 % | populations | AUC | FDR ξ > 0.90 | ξ > 0.95 | ξ > 0.99 "
        "| Brier / best constant | calibration error |\n" + "| --- " * 8 + "|"
    )
    for corpus in dict.fromkeys(one.population.corpus for one in found):
        if corpus == "adult":
            yield PAPER_PERSONS
        for method in (*METHODS, GIVEN):
            own = [
                one.persons[method]
                for one in found
                if one.population.corpus == corpus and method in one.persons
            ]
            if own:
                yield f"| {corpus}, {method} | {len(own)} | {' | '.join(_told(own))} |"


def _told(persons: Sequence[Persons]) -> list[str]:
    xi, unique = (
        [np.array(getattr(one, name), dtype=float) for one in persons] for name in ("xi", "unique")
    )
    areas = np.array([area(*pair) for pair in zip(xi, unique, strict=True)])
    areas = areas[np.isfinite(areas)]
    cells = [f"{areas.mean():.3f} ± {areas.std(ddof=1):.3f}"]
    for threshold in THRESHOLDS:
        named = np.array([(score > threshold).sum() for score in xi], dtype=float)
        wrong = np.array(
            [
                ((score > threshold) & (true == 0)).sum()
                for score, true in zip(xi, unique, strict=True)
            ],
            dtype=float,
        )
        cells.append(_share(wrong, named))
    brier = np.array([((score - true) ** 2).mean() for score, true in zip(xi, unique, strict=True)])
    constant = np.array([true.mean() * (1 - true.mean()) for true in unique])
    low, high = _interval(len(brier), lambda some: float(brier[some].sum() / constant[some].sum()))
    cells.append(f"{brier.sum() / constant.sum():.2f} [{low:.2f}, {high:.2f}]")
    return [*cells, f"{calibration_error(np.concatenate(xi), np.concatenate(unique)):.3f}"]


def _share(wrong: Floats, named: Floats) -> str:
    def pooled(some: Integers) -> float:
        return float(wrong[some].sum() / max(named[some].sum(), 1))

    low, high = _interval(len(wrong), pooled)
    return f"{100 * pooled(np.arange(len(wrong))):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _interval(count: int, statistic: Statistic) -> tuple[float, float]:
    """95 % bootstrap over populations."""
    rng = np.random.default_rng(0)
    drawn = [statistic(rng.integers(0, count, count)) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def area(scores: Floats, unique: Floats) -> float:
    """Chance that a unique person has a higher score than one who is not; NaN if either is missing."""
    ones, zeros = unique.sum(), (1 - unique).sum()
    if not ones or not zeros:
        return float("nan")
    return float((rankdata(scores)[unique == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def calibration_error(scores: Floats, unique: Floats) -> float:
    """Mean distance, over persons, between scores of a tenth and the share of them who are unique."""
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    count, score, true = (
        np.bincount(place, weights, BINS) for weights in (np.ones_like(scores), scores, unique)
    )
    return float(np.abs(score - true).sum() / count.sum())
