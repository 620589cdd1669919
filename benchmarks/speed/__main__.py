"""Measure, print a table, and keep the figures if asked: `python -m benchmarks.speed --help`.

With `--page`, the rows of docs/speed.md are measured and written there.
"""

import json
import os
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from timeit import repeat
from typing import Any

from rich.console import Console

from benchmarks.speed import page
from benchmarks.speed.cases import ROOT, SECTIONS, Setup
from benchmarks.speed.compare import Case, Outcome, compare
from benchmarks.speed.measure import Job, measure
from benchmarks.speed.table import figures, line, table

GAP_ROWS = 300_000  # at most, of a table with gaps
STEPS = 10_000_000  # of the loop by which machines are compared
HUGE = 10  # times the rows, of a table that is to pass the memory


def main() -> int:
    """Run the sections; 1 only where a run failed or two sides disagreed, never for a missed target."""
    asked = arguments()
    # for the processes to come, where the package is not installed
    sys.path.append(str(ROOT / "udfs"))
    os.environ["POLARS_MAX_THREADS"] = str(asked.threads)
    named = ("duckdb", "polars", *(["pyspark"] if find_spec("pyspark") else []))
    engines = ", ".join(f"{name} {version(name)}" for name in named)
    title = f"{asked.rows:,} rows, {asked.repeat} pairs, {asked.threads} threads, {engines}"
    outcomes: list[Outcome] = []
    with TemporaryDirectory(prefix="reid-sql-bench-", ignore_cleanup_errors=True) as folder:
        setup = Setup(Path(folder), asked.threads)
        cases = [case for section in asked.only or SECTIONS for case in SECTIONS[section](setup)]
        if asked.page:
            cases = [case for case in cases if page.is_shown(case.section, case.words)]
        generate(folder, cases, asked.rows)
        for case in cases:
            outcomes.append(told(compare(case, asked.repeat)))
            keep(asked.json, figures_of(title, outcomes))
    if asked.page:
        page.write_page(figures_of(title, outcomes))
    Console(width=None if sys.stdout.isatty() else 210).print(table(outcomes, title))
    return int(any(outcome.is_error for outcome in outcomes))


def figures_of(title: str, outcomes: list[Outcome]) -> dict[str, Any]:
    """The figures as plain data, with what they were measured on."""
    cases = [figures(outcome) for outcome in outcomes]
    return {"title": title, "machine": machine(), "commit": page.commit(), "cases": cases}


def keep(file: Path | None, told: dict[str, Any]) -> None:
    """Write the figures that there are, if asked: an hour's run may be stopped."""
    if file is not None:
        file.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def machine() -> str:
    """The machine in words, without its name; a loop is what a reader can compare with another machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    step = min(repeat("pass", number=STEPS, repeat=3)) / STEPS
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory; `python -m timeit pass`: {step * 1e9:.1f} ns"


def arguments() -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the generated tables")
    parser.add_argument("--repeat", type=int, default=3, help="pairs of runs of a case")
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count(), help="threads of either engine"
    )
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=f"of {', '.join(SECTIONS)}"
    )
    parser.add_argument(
        "--page", action="store_true", help="measure the rows of docs/speed.md, and write it"
    )
    parser.add_argument("--json", type=Path, help="file for the figures of every run")
    return parser.parse_args()


def generate(folder: str, cases: list[Case], rows: int) -> None:
    """Write the tables that the cases read, each in a process of its own."""
    for name in dict.fromkeys(case.table for case in cases if case.table):
        limit = (
            min(rows, GAP_ROWS)
            if name.startswith("gaps")
            else rows * (HUGE if name.startswith("huge") else 1)
        )
        made = measure(Job("generate", {"folder": folder, "table": name, "rows": limit}))
        print(f"{name}: {limit:,} rows in {made.seconds:.1f} s", file=sys.stderr, flush=True)


def told(outcome: Outcome) -> Outcome:
    """Say how a case went as soon as it is done."""
    print("; ".join(cell for cell in line(outcome) if cell), file=sys.stderr, flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
