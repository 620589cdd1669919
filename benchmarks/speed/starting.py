"""How long a new Python takes over some code, beyond what it takes over some other."""

import resource
import subprocess
import sys
from time import perf_counter

from benchmarks.speed.stopwatch import Stopwatch


def run(code: str, beyond: str = "pass") -> tuple[Stopwatch, dict[str, int]]:
    """Run both in processes of their own, and say how much longer the first took, without threads waiting."""
    took = Stopwatch()
    (seconds, cpu), (less, cpu_less) = _took(code), _took(beyond)
    took.seconds, took.cpu_seconds = seconds - less, cpu - cpu_less
    return took, {}


def _took(code: str) -> tuple[float, float]:
    began, before = perf_counter(), _cpu()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
