"""Measure the accuracy of the forecasts, and print tables: `python -m benchmarks.accuracy --help`."""

import json
import os
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console

from benchmarks.accuracy import copula_summary, copulas, table
from benchmarks.accuracy.corpora import folder
from benchmarks.accuracy.coverage import PROCESSES, simulate
from benchmarks.accuracy.sparse import FILES, POINTS, measure_sparse
from benchmarks.accuracy.summary import map_fit, model_verdicts, sparse_verdict, verdicts, within
from benchmarks.accuracy.synthetic import CORPORA, datasets
from benchmarks.accuracy.trial import Measured, measure


def main() -> int:
    """Run the sections asked for; a missed target is no failure."""
    asked = arguments()
    console = Console(width=None if sys.stdout.isatty() else 180)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes to come: one core each
    if "datasets" in asked.only:
        folder()
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        found = {section: SECTIONS[section](asked, pool, console) for section in asked.only}
    if asked.json:
        asked.json.write_text(
            json.dumps({"seed": asked.seed} | found, indent=1, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
    return 0


def arguments() -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description=__doc__,
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--datasets", type=int, default=24, help="datasets drawn from a corpus")
    parser.add_argument("--runs", type=int, default=10, help="populations of a process")
    parser.add_argument(
        "--populations",
        type=int,
        default=50,
        help="populations of adult for copulas; others a third",
    )
    parser.add_argument("--seed", type=int, default=2025, help="seed of all that is drawn")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    sections = ", ".join(SECTIONS)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=list(SECTIONS),
        metavar="SECTION",
        help=sections,
    )
    parser.add_argument("--json", type=Path, help="file for every figure")
    return parser.parse_args()


def on_datasets(asked: Namespace, pool: Executor, console: Console) -> dict[str, Any]:
    """Forecast datasets whose truth is counted."""
    start = perf_counter()
    drawn = [
        one
        for some in pool.map(partial(datasets, count=asked.datasets, seed=asked.seed), CORPORA)
        for one in some
    ]
    kept = [one for one in drawn if within(one.correctness)]
    done = list(pool.map(partial(measure, seed=asked.seed), kept, chunksize=2))
    _show_datasets(console, table.counted(one.corpus for one in drawn), done)
    _told(f"{len(kept)} datasets in {perf_counter() - start:.0f} s")
    return {
        "map_fit": map_fit([one.fitted for one in done]),
        "datasets": [asdict(one) for one in done],
    }


def on_model(asked: Namespace, pool: Executor, console: Console) -> dict[str, Any]:
    """Forecast populations drawn from the model."""
    start = perf_counter()
    places = range(len(PROCESSES))
    runs = [
        run
        for some in pool.map(partial(simulate, runs=asked.runs, seed=asked.seed), places)
        for run in some
    ]
    console.print(table.model_coverage(runs), table.targets(model_verdicts(runs)))
    _told(f"{len(runs)} intervals in {perf_counter() - start:.0f} s")
    return {"runs": [asdict(run) for run in runs]}


def on_sets(asked: Namespace, pool: Executor, console: Console) -> dict[str, Any]:
    """Extrapolate what an attacker with some points of a set gets right; nothing is drawn by asked.seed."""
    start, curves = perf_counter(), [(file, points) for file in FILES for points in POINTS]
    found = [one for some in pool.map(measure_sparse, *zip(*curves, strict=True)) for one in some]
    console.print(table.sparse(found), table.targets([sparse_verdict(found)]))
    _told(
        f"{len(curves)} sparse curves, {asked.workers} processes, in {perf_counter() - start:.0f} s"
    )
    return {"sparse": [asdict(one) for one in found]}


def on_copulas(asked: Namespace, pool: Executor, console: Console) -> dict[str, Any]:
    """Fit copulas to samples of populations, and hold them against the whole."""
    start = perf_counter()
    counts = {
        corpus: asked.populations if corpus == "adult" else asked.populations // 3
        for corpus in copulas.CORPORA
    }
    drawn = [
        one
        for corpus, count in counts.items()
        for one in copulas.populations(corpus, count, asked.seed)
    ]
    found = list(pool.map(copulas.measure, drawn))
    for line in copula_summary.lines(found):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    _told(f"{len(found)} populations in {perf_counter() - start:.0f} s")
    return {"copulas": [asdict(one) for one in found]}


def _show_datasets(console: Console, drawn: dict[str, int], done: Sequence[Measured]) -> None:
    fitted, trials = [one.fitted for one in done], [trial for one in done for trial in one.trials]
    console.print(
        table.errors(trials, measured=True),
        table.errors(trials, measured=False),
        table.biases(trials),
    )
    console.print(table.corpora(drawn, fitted, trials), table.data_coverage(trials))
    console.print(table.targets(verdicts(fitted, trials)))


def _told(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


SECTIONS: dict[str, Callable[[Namespace, Executor, Console], dict[str, Any]]] = {
    "datasets": on_datasets,
    "sparse": on_sets,
    "coverage": on_model,
    "copulas": on_copulas,
}


if __name__ == "__main__":
    sys.exit(main())
