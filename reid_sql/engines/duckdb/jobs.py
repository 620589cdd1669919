"""Python bodies in threads of their own, so that DuckDB hears an interrupt while it waits for one.

DuckDB looks for an interrupt between two calls of a function, never inside one. So a body is begun by one
call, and each row of a range asks for its answer: every such call waits a moment, and between two of them the
statement can end. A body goes on only while a call waits for it; if none comes any more, it pauses at its
next checkpoint, and then ends.
"""

import threading
from collections.abc import Callable
from itertools import count
from typing import Any, Final

import pyarrow as pa

from reid_sql.interruption import InterruptedWorkError, checked

MOMENT: Final = 0.02  # seconds that one call waits; DuckDB runs 50 before it looks whether Ctrl-C was pressed
PATIENCE: Final = 30.0  # seconds after which a body that nobody waits for ends
GIVEN_UP: Final = (
    f"a computation must be asked for its answer within {PATIENCE:g} seconds, got a longer pause; "
    "run the statement again, alone or with more threads"
)
THREAD: Final = "reid-sql body"
_NUMBERS: Final = count(1)
_JOBS: Final[dict[int, "_Job"]] = {}


class _Job:
    """A body at work in a thread of its own, and its answer."""

    def __init__(self, number: int, work: Callable[[], pa.Array]) -> None:
        self.number = number
        self.share = 0.0
        self.waited = threading.Event()
        self.ended = threading.Event()
        self.taken = threading.Event()
        self.answer: pa.Array | None = None
        self.error: BaseException | None = None
        self.work: Callable[[], pa.Array] | None = work

    def run(self) -> None:
        """Work to the end, or until nobody waits; then keep the answer until it is taken."""
        try:
            self.answer = checked(self.work or _nothing, self.check)()
        except InterruptedWorkError:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised again where the engine waits
            self.error = error
        self.work = None  # and with it what it was given
        self.ended.set()
        self.taken.wait(PATIENCE)
        _JOBS.pop(self.number, None)

    def check(self, share: float | None) -> None:
        """Pause while nobody waits, and end where nobody comes."""
        if share is not None:
            self.share = share
        if not self.waited.is_set() and not self.waited.wait(PATIENCE):
            raise InterruptedWorkError


def begin(work: Callable[[], pa.Array]) -> int:
    """Begin the work in a thread of its own; the number asks for its answer."""
    number = next(_NUMBERS)
    job = _JOBS[number] = _Job(number, work)
    threading.Thread(target=job.run, name=THREAD, daemon=True).start()
    return number


def answer(number: int) -> pa.Array | None:
    """Wait a moment for the answer; None where it has none yet."""
    job = _JOBS.get(number)
    if job is None:
        raise TimeoutError(GIVEN_UP)
    job.waited.set()
    if not job.ended.wait(MOMENT):
        job.waited.clear()
        return None
    job.taken.set()
    if job.answer is None and job.error is None:  # it ended as this call came
        raise TimeoutError(GIVEN_UP)
    if job.error is not None:
        raise job.error
    return job.answer


def progress() -> float:
    """The share of the newest computation that is done, from 0 to 1."""
    job = _JOBS.get(max(_JOBS, default=0))
    return job.share if job else 0.0


def _nothing() -> Any:  # noqa: ANN401 - never called: the work is dropped only after it ended
    raise InterruptedWorkError
