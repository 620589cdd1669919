"""Progress for a person who waits: after a second, what is done, how far it is and for how long.

It is shown only on the terminal of standard error, and removed before anything is printed; without a
terminal nothing is shown. `configure` replaces this: lines of a log, or nothing on a terminal either.
"""

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Final

from reid_sql.terminal.control_characters import escape_control_characters

Share = Callable[[], float]  # percent that is done
DELAY: Final = 1.0  # seconds before progress is shown
REDRAW_INTERVAL: Final = 0.25  # seconds
LOG_INTERVAL: Final = 10.0  # seconds between two lines of a log
JOIN_TIMEOUT: Final = 1.0  # seconds for the display to disappear


class Display(ABC):
    """Shows progress in a thread of its own, so that it moves while the main thread works."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.share: Share | None = None
        self.began = monotonic()
        self.lock = threading.Lock()  # the percentage of a finished step is not asked for
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._wait, daemon=True)
        self.thread.start()

    def update(self, words: str, share: Share | None = None) -> None:
        """Replace the words, and how to get the percentage."""
        with self.lock:
            self.words, self.share = words, share

    def end(self) -> None:
        """Stop showing progress."""
        self.ended.set()
        self.thread.join(JOIN_TIMEOUT)

    @abstractmethod
    def report(self, words: str) -> None:
        """Write words that stay."""

    @abstractmethod
    def draw(self) -> None:
        """Show what is done until it has ended."""

    def look(self) -> tuple[str, float | None]:
        """Return the words, and the percentage done if it is known."""
        with self.lock:
            return escape_control_characters(self.words), None if self.share is None else max(
                0.0, self.share()
            )

    def _wait(self) -> None:
        if not self.ended.wait(DELAY):
            self.draw()


class TerminalLine(Display):
    """A line of the terminal, removed at the end."""

    def __init__(self, words: str) -> None:
        from rich.console import Console  # noqa: PLC0415 - help is shown without rich

        self.console = Console(stderr=True)
        super().__init__(words)

    def report(self, words: str) -> None:
        """Write the words above the line."""
        from rich.text import Text  # noqa: PLC0415 - the same

        self.console.print(Text(escape_control_characters(words), "dim"))

    def draw(self) -> None:
        """Redraw the line."""
        from rich.progress import (  # noqa: PLC0415 - the same
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.text import Text  # noqa: PLC0415 - the same

        percent = TaskProgressColumn("{task.percentage:>3.0f} %")
        columns = (TextColumn("{task.description}"), BarColumn(), percent, TimeElapsedColumn())
        with Progress(
            *columns,
            console=self.console,
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as progress:
            progress.add_task("", total=None)
            [task] = progress.tasks
            while not self.ended.wait(REDRAW_INTERVAL):
                words, done = self.look()
                task.description, task.completed = Text(words).markup, done or 0.0
                task.total = None if done is None else 100.0
                progress.refresh()


class LogLines(Display):
    """Lines of a log: after a second, at each change, and again at long intervals."""

    def report(self, words: str) -> None:
        """Write the words as a line."""
        print(escape_control_characters(words), file=sys.stderr, flush=True)  # noqa: T201 - a log has lines

    def draw(self) -> None:
        """Write a line at most each second."""
        printed, when = "", self.began
        while True:
            words, done = self.look()
            now = monotonic()
            if words != printed or now - when >= LOG_INTERVAL:
                printed, when = words, now
                share = f", {done:.0f} %" if done else ""  # nothing may be all that is known
                self.report(f"{words}{share}, {timedelta(seconds=int(now - self.began))}")
            if self.ended.wait(DELAY):
                return


_displays: Final[list[Display]] = []  # at most one
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
        _displays.append(TerminalLine(words) if _has_terminal() else LogLines(words))
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
