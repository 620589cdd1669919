"""How long something takes, by the clock and in the processors, which other work disturbs less.

The other work is that on the machine.
"""

from time import perf_counter, process_time
from typing import Self


class Stopwatch:
    """Seconds by the clock, and of all threads' processor time, of what runs inside `with`."""

    seconds = 0.0
    cpu_seconds = 0.0

    def __enter__(self) -> Self:
        self._started = perf_counter(), process_time()
        return self

    def __exit__(self, *_: object) -> None:
        began, cpu_began = self._started
        self.seconds, self.cpu_seconds = perf_counter() - began, process_time() - cpu_began
