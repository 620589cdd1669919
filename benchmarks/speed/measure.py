"""A measurement: one job in a fresh process, whose own peak of memory is then the job's."""

import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from typing import Any, Final

RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024  # bytes in a unit of ru_maxrss


@dataclass(frozen=True)
class Job:
    """A module of this package, whose `run` gives a stopwatch and an answer, and what to hand it."""

    module: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """What one run took, and what it answered."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    answer: dict[str, int]


def measure(job: Job) -> Figures:
    """Run the job in a fresh process; RuntimeError where it fails or dies.

    A process starts with its parent's peak of memory as its own, so this one imports no engine.
    """
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(_measured, job).result()
        except BrokenProcessPool as error:
            raise RuntimeError(f"BrokenProcessPool: {error}") from error


def _measured(job: Job) -> Figures:
    try:
        took, answer = import_module(f"benchmarks.speed.{job.module}").run(**job.arguments)
    except Exception as error:  # noqa: BLE001 - an engine's own would import it here
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)  # a rival's work is a child's
    peak = max(resource.getrusage(who).ru_maxrss for who in whose) * RSS_UNIT
    return Figures(took.seconds, took.cpu_seconds, peak / 1e6, answer)
