"""What a person sees who waits: after a second, what is being done, how far it is and for how long.

It stands on the terminal of standard error alone, and is gone before anything is printed; where nobody
watches there is nothing.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from reid_sql.visible import visible

PATIENCE: Final = 1.0  # seconds before progress is shown
MOMENT: Final = 0.25  # seconds between two looks at how far it is
GRACE: Final = 1.0  # seconds that what is shown gets to go

Share = Callable[[], float]  # percent that is done


class _Display:
    """A line that is drawn by a thread of its own, so that it lives while anything works."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.share: Share | None = None
        self.console = Console(stderr=True)
        self.at_look = threading.Lock()  # what is no longer done is not looked at any more
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._draw, daemon=True)
        self.thread.start()

    def say(self, words: str, share: Share | None = None) -> None:
        """Say what is done from now on."""
        with self.at_look:
            self.words, self.share = words, share

    def end(self) -> None:
        """Take the line away."""
        self.ended.set()
        self.thread.join(GRACE)

    def _draw(self) -> None:
        if self.ended.wait(PATIENCE):
            return
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
            while not self.ended.wait(MOMENT):
                task.description, task.completed, task.total = self._look()
                progress.refresh()

    def _look(self) -> tuple[str, float, float | None]:
        """The words to draw, how far it is, and of how many; of nothing where nobody knows."""
        with self.at_look:
            words = Text(visible(self.words)).markup
            return (words, 0.0, None) if self.share is None else (words, max(0.0, self.share()), 100.0)


_held: Final[list[_Display]] = []  # the one line, where there is one
_at_change: Final = threading.Lock()


def begin(words: str) -> bool:
    """Watch from now on, if a person does and nothing else began; whether it is so."""
    with _at_change:
        if _held or not sys.stderr.isatty():
            return False
        _held.append(_Display(words))
        return True


def end() -> None:
    """Take away what is shown, before something is printed."""
    with _at_change:
        while _held:
            _held.pop().end()


def say(words: str) -> None:
    """Say what is done from now on, where a line is shown."""
    for display in _held:
        display.say(words)


def tell(words: str) -> None:
    """Say what is done from now on in a line that stays, where a person watches."""
    if not sys.stderr.isatty():
        return
    say(words)
    console = _held[0].console if _held else Console(stderr=True)
    console.print(Text(visible(words), "dim"))


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
