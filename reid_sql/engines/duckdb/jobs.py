"""Python bodies in threads of their own, so that DuckDB hears an interrupt while it waits for one.

DuckDB looks for an interrupt between two calls of a function, never inside one. So a body is begun by one
call, and each row of a range asks for its answer: every such call waits a moment, and between two of them the
statement can end. A body goes on only while a call waits for it; if none comes any more, it pauses at its
next checkpoint, and then ends. Nothing shows whether the statement has ended, or is busy elsewhere: with
another body, with its own SQL, or on a machine that stood still. So what ended begins anew when it is asked.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

import pyarrow as pa

from reid_sql.models.interruption import InterruptedWorkError, checked

# seconds that one call waits; DuckDB runs 50 before it looks whether Ctrl-C was pressed
WAIT: Final = 0.02
MAX_IDLE: Final = 30.0  # seconds after which a body that nobody waits for ends
# seconds after which an answer that nobody fetched is dropped, once another begins
MAX_PAUSE: Final = 3600.0
LET_GO: Final = (
    f"a computation must be asked for its answer within {MAX_PAUSE / 60:g} minutes, got a longer pause; "
    "run the statement again, alone or with more threads"
)
THREAD: Final = "reid-sql body"
_NUMBERS: Final = count(1)
_JOBS: Final[dict[int, "_Job"]] = {}
# more than statements that run at a time
_ANSWERED: Final = deque[tuple[int, pa.DataType]](maxlen=1000)


class _Job:
    """A body at work in a thread of its own, and its answer."""

    def __init__(self, number: int, work: Callable[[], pa.Array]) -> None:
        self.number = number
        self.share = 0.0
        self.polled_at = time.monotonic()
        self.waited = threading.Event()
        # once nobody came; then no other thread of the work waits as long again
        self.is_left = False
        self.ended = threading.Event()
        self.at_work = threading.Lock()
        self.answer: pa.Array | None = None
        self.error: BaseException | None = None
        self.work: Callable[[], pa.Array] | None = work

    def go_on(self) -> None:
        """Begin the work, unless it is under way or has ended."""
        if not self.ended.is_set() and self.at_work.acquire(blocking=False):
            threading.Thread(target=self.run, name=THREAD, daemon=True).start()

    def run(self) -> None:
        """Work to the end, or until nobody waits; then it can begin anew."""
        self.is_left = False
        try:
            if self.work is not None:
                self.answer = checked(self.work, self.check)()
                self.end()
        except InterruptedWorkError:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised again where the engine waits
            self.error = error
            self.end()
        finally:
            self.at_work.release()

    def end(self) -> None:
        """Keep what came of the work, and nothing that it was given."""
        self.work = None
        self.ended.set()

    def check(self, share: float | None) -> None:
        """Pause while nobody waits, and end where nobody comes."""
        if share is not None:
            self.share = share
        if self.is_left or (not self.waited.is_set() and not self.waited.wait(MAX_IDLE)):
            self.is_left = True
            raise InterruptedWorkError


def begin(work: Callable[[], pa.Array]) -> int:
    """Begin the work in a thread of its own; the number asks for its answer."""
    for old in list(_JOBS.values()):
        if time.monotonic() - old.polled_at > MAX_PAUSE:
            _JOBS.pop(old.number, None)
    number = next(_NUMBERS)
    job = _JOBS[number] = _Job(number, work)
    job.go_on()
    return number


def answer(number: int) -> pa.Array | None:
    """Wait a moment for the answer; None where it has none yet, and no row where it has been returned.

    DuckDB 1.4 takes the answer, and asks once more before it stops.
    """
    job = _JOBS.get(number)
    if job is None:
        kinds = [kind for answered, kind in list(_ANSWERED) if answered == number]
        if not kinds:
            raise TimeoutError(LET_GO)
        return pa.nulls(0, kinds[0])
    job.polled_at = time.monotonic()
    job.waited.set()
    job.go_on()
    if not job.ended.wait(WAIT):
        job.waited.clear()
        return None
    _JOBS.pop(number, None)
    if job.error is not None:
        raise job.error
    if job.answer is not None:
        _ANSWERED.append((number, job.answer.type))
    return job.answer


def progress() -> float:
    """The share of the newest computation that is done, from 0 to 1."""
    job = _JOBS.get(max(_JOBS, default=0))
    return job.share if job else 0.0
