"""The figures as tables, in percentage points."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.table import Table

from benchmarks.accuracy.coverage import PRIORS, PROCESSES, SAMPLES, Run
from benchmarks.accuracy.published import DATASETS, FRACTIONS, METHODS, TABLE_1
from benchmarks.accuracy.sparse import SPARSE_FRACTIONS, Sparse
from benchmarks.accuracy.summary import (
    MEASURES,
    Verdict,
    bias,
    by_method,
    chosen,
    coverage,
    map_fit,
    rmse,
)
from benchmarks.accuracy.synthetic import CORPORA
from benchmarks.accuracy.trial import Fitted, Trial

TITLE: Final = (
    "κ(N) from a fraction of N, {} (p.p.); paper: table 1 of Rocher, Hendrickx & de Montjoye 2025"
)
SELECTED: Final = "the paper's selection: 0.01 < κ < 0.99 at the measured size too"


def errors(trials: Sequence[Trial], *, measured: bool) -> Table:
    """RMSE by fraction and method, the paper's in brackets where the selection is the paper's."""
    words = SELECTED if measured else "all datasets with 0.01 < κ(N) < 0.99 and 3 records measured"
    shown = _table(
        TITLE.format("RMSE"), ("measured", "datasets", *METHODS, "MAP, one sample"), words
    )
    for fraction in FRACTIONS:
        some = chosen(trials, fraction, measured=measured)
        found, paper = by_method(some, rmse), TABLE_1[fraction] if measured else {}
        cells = [
            _points(found[name]) + (f" ({_points(paper[name])})" if measured else "")
            for name in METHODS
        ]
        count = f"{len(some)} ({DATASETS[fraction]})" if measured else str(len(some))
        shown.add_row(_share(fraction), count, *cells, _points(found["map"]))
    return shown


def biases(trials: Sequence[Trial]) -> Table:
    """Give the mean error by fraction and method, in the paper's selection."""
    shown = _table(
        TITLE.format("bias").partition(";")[0], ("measured", *METHODS, "MAP, one sample"), SELECTED
    )
    for fraction in FRACTIONS:
        found = by_method(chosen(trials, fraction), bias)
        shown.add_row(_share(fraction), *(f"{100 * value:+.1f}" for value in found.values()))
    return shown


def corpora(drawn: dict[str, int], fitted: Sequence[Fitted], trials: Sequence[Trial]) -> Table:
    """Datasets by corpus, and what they say of the MAP fit and of a tenth."""
    names = (
        "corpus",
        "drawn",
        "kept",
        "fit RMSE",
        "fit bias",
        "fit RMSE at N",
        "bias at N",
        "pyc 10 %",
        "MAP 10 %",
    )
    shown = _table(
        "Datasets, MAP fit to all records, RMSE from a tenth (p.p.)",
        names,
        "fit: over the curve's sizes; paper: 1.7, +1.3",
    )
    for corpus in CORPORA:
        own = [one for one in fitted if one.corpus == corpus]
        tenth = [trial for trial in chosen(trials, 0.1) if trial.corpus == corpus]
        shown.add_row(corpus, str(drawn[corpus]), str(len(own)), *_of_fit(own), *_of_tenth(tenth))
    shown.add_section()
    shown.add_row(
        "all",
        str(sum(drawn.values())),
        str(len(fitted)),
        *_of_fit(fitted),
        *_of_tenth(chosen(trials, 0.1)),
    )
    return shown


def data_coverage(trials: Sequence[Trial]) -> Table:
    """Share of the MAP forecast's 95 % intervals that hold the truth of the data."""
    words = "real and synthetic data follow no Pitman–Yor process exactly: no target"
    shown = _table(
        "95 % intervals that hold the dataset's truth", ("measured", "datasets", *MEASURES), words
    )
    for fraction in FRACTIONS[:-1]:
        some = chosen(trials, fraction, measured=False)
        shown.add_row(_share(fraction), str(len(some)), *_shares(trial.covered for trial in some))
    return shown


def model_coverage(runs: Sequence[Run]) -> Table:
    """Share of the 95 % intervals that hold what a population of the process came out as."""
    names = (
        "processes",
        "entropy",
        "tail",
        "samples",
        "intervals",
        *(f"{name} {prior}" for prior in PRIORS for name in MEASURES),
    )
    shown = _table(
        "95 % intervals that hold the truth, populations of 20,000 from the model",
        names,
        "d < 0: outside the prior archer",
    )
    for d, alpha in PROCESSES:
        own = [run for run in runs if (run.discount, run.concentration) == (d, alpha)]
        shown.add_row(
            f"d {d:g}, α {alpha:g}",
            f"{own[0].entropy:.2f}",
            f"{own[0].tail:.2f}",
            "all",
            *_by_prior(own),
        )
    shown.add_section()
    for words, has in (("d < 0", _is_finite), ("d ≥ 0", _is_infinite)):
        own = [run for run in runs if has(run)]
        for sample in SAMPLES:
            shown.add_row(
                words, "", "", str(sample), *_by_prior([run for run in own if run.sample == sample])
            )
        shown.add_row(words, "", "", "all", *_by_prior(own))
    return shown


def sparse(found: Sequence[Sparse]) -> Table:
    """RMSE by fraction and method over the curves of sparse matching."""
    shown = _table(
        "κ among all people from a fraction of them, sparse matching, RMSE (p.p.)",
        ("measured", "curves", *METHODS),
        "",
    )
    for fraction in SPARSE_FRACTIONS:
        some = [one for one in found if one.fraction == fraction]
        errors = [_points(rmse([one.errors[name] for one in some])) for name in METHODS]
        shown.add_row(_share(fraction), str(len(some)), *errors)
    return shown


def targets(verdicts: Sequence[Verdict]) -> Table:
    """Say of each target whether it was met."""
    shown = _table("Targets", ("target", "found", "verdict"), "")
    for verdict in verdicts:
        shown.add_row(verdict.target, verdict.found, "met" if verdict.met else "missed")
    return shown


def counted(names: Iterable[str]) -> dict[str, int]:
    """Count the datasets of each corpus."""
    return dict(Counter(names))


def _is_finite(run: Run) -> bool:
    return run.discount < 0


def _is_infinite(run: Run) -> bool:
    return run.discount >= 0


def _table(title: str, columns: Sequence[str], caption: str) -> Table:
    shown = Table(title=title, caption=caption)
    for place, name in enumerate(columns):
        shown.add_column(name, justify="right" if place else "left", no_wrap=True)
    return shown


def _of_fit(fitted: Sequence[Fitted]) -> Iterator[str]:
    over = map_fit(fitted) if fitted else {}
    return (
        f"{100 * value:+.2f}" if "bias" in name else _points(value) for name, value in over.items()
    )


def _of_tenth(trials: Sequence[Trial]) -> list[str]:
    found = by_method(trials, rmse)
    return [_points(found["pyc"]), _points(found["map"])]


def _by_prior(runs: Sequence[Run]) -> list[str]:
    shares = [
        share
        for prior in PRIORS
        for share in _shares(run.covered for run in runs if run.prior == prior)
    ]
    return [str(len(runs) // len(PRIORS)), *shares]


def _shares(covered: Iterable[dict[str, bool]]) -> list[str]:
    return [f"{share:.1%}" for share in coverage(list(covered)).values()]


def _share(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"
