"""The time limit of a search: processor time of this process, so that other programs do not cut it short."""

import time
from collections.abc import Callable


def limit_time(seconds: float) -> Callable[[], bool]:
    """Return whether the processor time from now on is used up; all threads count."""
    ends = time.process_time() + seconds
    return lambda: time.process_time() > ends
