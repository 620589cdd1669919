"""The outcomes as a table, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any, Final

from rich.table import Table

from benchmarks.speed.compare import ALLOWED, Outcome
from benchmarks.speed.measure import Figures

SMALL: Final = 0.01  # ratios below are written with their power of ten
CAPTION: Final = f"""Ratios of seconds and of processor time: median (least to most) over pairs; \
targets are for seconds.
A peak is the whole process's, the functions imported on both sides; "peak ≤ 1" allows {ALLOWED:.2f} in the \
median.
The section noise is one query against itself."""


def table(outcomes: Sequence[Outcome], title: str) -> Table:
    """Lay out one line a case."""
    shown = Table(title=title, caption=CAPTION)
    for name in (
        "section",
        "shape",
        "unique",
        "ours",
        "rival",
        "ratio",
        "of CPU",
        "target",
        "peak MB",
        "rival's",
    ):
        shown.add_column(
            name,
            justify="left" if name in {"section", "shape", "target"} else "right",
            no_wrap=True,
        )
    shown.add_column("verdict")
    for outcome in outcomes:
        shown.add_row(*line(outcome))
    return shown


def line(outcome: Outcome) -> list[str]:
    """Write the cells of one case."""
    case, ours, rivals = outcome.case, outcome.ours, outcome.rivals
    times = (
        _unique(ours),
        time(ours),
        time(rivals),
        spread(outcome.ratio),
        spread(outcome.cpu_ratio),
    )
    return [
        case.section,
        case.words,
        *times,
        _targets(outcome),
        peak(ours),
        peak(rivals),
        outcome.verdict,
    ]


def figures(outcome: Outcome) -> dict[str, Any]:
    """Give the same as plain data, with every run."""
    case = outcome.case
    named = {
        "section": case.section,
        "shape": case.words,
        "target": case.target,
        "cpu_target": case.cpu_target,
        "memory_target": case.memory,
    }
    ratios = {
        "ratio": outcome.ratio,
        "cpu_ratio": outcome.cpu_ratio,
        "memory_ratio": outcome.memory_ratio,
        "verdict": outcome.verdict,
    }
    return (
        named
        | ratios
        | {
            "ours": [asdict(run) for run in outcome.ours],
            "rival": [asdict(run) for run in outcome.rivals],
        }
    )


def _targets(outcome: Outcome) -> str:
    words = target(outcome.case.target, outcome.case.cpu_target)
    return f"{words}, peak ≤ 1" if outcome.case.memory else words


def _unique(runs: list[Figures]) -> str:
    answer = runs[0].answer if runs else {}
    return (
        f"{answer['unique_records'] / answer['records']:.1%}" if "unique_records" in answer else ""
    )


def target(of: float | str | None, cpu_seconds: float | None) -> str:
    """Write the most that a ratio of seconds should be, and our seconds of processor time."""
    ratio = f"≤ {_ratio(of)}" if isinstance(of, float) else of or ""
    own = "" if cpu_seconds is None else f"≤ {cpu_seconds:g} s of processor time"
    return ", ".join(filter(None, (ratio, own)))


def time(runs: Sequence[Figures]) -> str:
    """Write the median of the seconds."""
    return _median([run.seconds for run in runs])


def processor_time(runs: Sequence[Figures]) -> str:
    """Write the median of the seconds of all processors."""
    return _median([run.cpu_seconds for run in runs])


def _median(seconds: Sequence[float]) -> str:
    if not seconds:
        return ""
    middle = median(seconds)
    return f"{middle:.2f} s" if middle >= 1 else f"{1000 * middle:.3g} ms"


def peak(runs: Sequence[Figures]) -> str:
    """Write the median of the megabytes."""
    return f"{median(run.peak_mb for run in runs):.0f}" if runs else ""


def spread(ratio: Sequence[float] | None) -> str:
    """Write a ratio's median, least and most."""
    return f"{_ratio(ratio[0])} ({_ratio(ratio[1])} to {_ratio(ratio[2])})" if ratio else ""


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= SMALL else f"{ratio:.1g}"
