"""Long computations stop where they are asked to: every long loop calls `checkpoint()`."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

Check = Callable[[float | None], None]


class InterruptedWorkError(BaseException):
    """Nobody waits for the answer any more. It is no refusal, so no body catches it on its way out."""


_CHECK: Final[ContextVar[Check | None]] = ContextVar("reid_sql_check", default=None)


def checkpoint(share: float | None = None) -> None:
    """Let the computation be paused, or ended, here; `share` is how much of it is done, if that is known.

    It costs next to nothing where nobody can interrupt. In Python itself, Ctrl-C ends a computation as ever.

    >>> checkpoint()
    """
    check = _CHECK.get()
    if check is not None:
        check(share)


def checked(work: Callable[..., Any], check: Check | None) -> Callable[..., Any]:
    """The work, with its checkpoints asking `check`."""

    def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever the work takes and gives
        token = _CHECK.set(check)
        try:
            return work(*arguments, **options)
        finally:
            _CHECK.reset(token)

    return call


def carried(work: Callable[..., Any]) -> Callable[..., Any]:
    """The work for other threads, which stop where this one would.

    >>> carried(abs)(-1)
    1
    """
    return checked(work, _CHECK.get())
