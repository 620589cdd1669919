"""What a person sees who waits: after a second, what is being done, how far it is and for how long.

It is shown only on the terminal of standard error, and removed before anything is printed; without a
terminal nothing is shown. `ask` has it otherwise: lines for a log, or nothing on a terminal either.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reid_sql.terminal.progress_display import Display

Share = Callable[[], float]  # percent that is done
_held: "Final[list[Display]]" = []  # what is shown, where it is
_asked: Final[list[bool]] = []  # whether it is to be shown, where somebody asked
_at_change: Final = threading.Lock()


def ask(wanted: bool | None) -> None:  # noqa: FBT001 - an option of the command
    """Show progress from now on, or do not; with None, where a person watches."""
    _asked[:] = [] if wanted is None else [wanted]


def watched() -> bool:
    """Whether progress is shown."""
    return _asked[0] if _asked else _terminal()


def begin(words: str) -> bool:
    """Watch from now on, if a person does and nothing else began; whether it is so."""
    with _at_change:
        if _held or not watched():
            return False
        _held.append(_display(words))
        return True


def end() -> None:
    """Take away what is shown, before something is printed."""
    with _at_change:
        while _held:
            _held.pop().end()


def say(words: str) -> None:
    """Say what is done from now on, where that is shown."""
    for display in _held:
        display.say(words)


def tell(words: str) -> None:
    """Say what is done from now on in a line that stays, where a person watches."""
    say(words)
    for display in _held:
        display.tell(words)


@contextmanager
def step(words: str, share: Share) -> Iterator[None]:
    """Show one step, and how far it is, while it lasts."""
    began = begin(words)
    for display in _held:
        display.say(words, share)
    try:
        yield
    finally:
        say(words)
        if began:
            end()


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _display(words: str) -> "Display":
    from reid_sql.terminal.progress_display import LogLines, TerminalLine  # noqa: PLC0415 - only who watches needs it

    return TerminalLine(words) if _terminal() else LogLines(words)
