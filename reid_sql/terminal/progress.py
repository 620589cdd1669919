"""Progress for a person who waits: after a second, what is done, how far it is and for how long.

It is shown only on the terminal of standard error, and removed before anything is printed; without a
terminal nothing is shown. `configure` replaces this: lines of a log, or nothing on a terminal either.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reid_sql.terminal.progress_display import Display

Share = Callable[[], float]  # percent that is done
_displays: "Final[list[Display]]" = []  # at most one
_wanted: Final[list[bool]] = []  # whether to show progress, if the command asks for it
_lock: Final = threading.Lock()


def configure(wanted: bool | None) -> None:  # noqa: FBT001 - an option of the command
    """Show progress from now on, or never; with None, only on a terminal."""
    _wanted[:] = [] if wanted is None else [wanted]


def begin(words: str) -> bool:
    """Show progress from now on, unless it is shown already or not wanted; return whether this began it."""
    with _lock:
        if _displays or not (_wanted[0] if _wanted else _has_terminal()):
            return False
        _displays.append(_display(words))
        return True


def end() -> None:
    """Remove what is shown, before something is printed."""
    with _lock:
        while _displays:
            _displays.pop().end()


def update(words: str) -> None:
    """Replace the words that are shown."""
    for display in _displays:
        display.update(words)


def report(words: str) -> None:
    """Replace the words that are shown, and write them in a line that stays."""
    update(words)
    for display in _displays:
        display.report(words)


@contextmanager
def step(words: str, share: Share) -> Iterator[None]:
    """Show one step, and its percentage, while it lasts."""
    began = begin(words)
    for display in _displays:
        display.update(words, share)
    try:
        yield
    finally:
        update(words)
        if began:
            end()


def _has_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _display(words: str) -> "Display":
    from reid_sql.terminal.progress_display import LogLines, TerminalLine  # noqa: PLC0415 - loads rich

    return TerminalLine(words) if _has_terminal() else LogLines(words)
