"""A bar of a page: as long as a share of the width that the page has for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement

from reid_sql.terminal.console import Text


@dataclass(frozen=True)
class Bar:
    """A share and its colour."""

    share: float
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Draw blocks, at least one."""
        yield Text("█" * max(1, round(options.max_width * self.share)), style=self.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Take what there is."""
        return Measurement(1, options.max_width)
