"""A console that escapes control characters, and the numbers and tables of its pages."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any, Final

from rich import text as rich_text
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Column, Table

from reid_sql.models.classes.disclosure import OK
from reid_sql.parameters import ColumnNames, Row
from reid_sql.terminal.control_characters import escape_control_characters
from reid_sql.terminal.hints import in_options
from reid_sql.terminal.runner import Answer

ONE_ROW_ONE_PERSON: Final = "One row per person is assumed."
SHORT: Final = 60  # a longer value is a line of its own
NARROW: Final = 20  # narrower pages would lose figures
INDENT: Final = 4  # of the figures of a block
MIN_LARGE, MAX_WRITTEN = 1e4, 1e15  # between which four digits would need an exponent
MIN_WRITTEN, MIN_SCIENTIFIC = 1e-9, 1e-4  # the same below 1
PLAIN: Final = {"box": None, "padding": (0, 2, 0, 0)}  # of a table without lines
WIDE: Final = 160  # a pipe has no width of its own


class Text(rich_text.Text):
    """Text for a terminal: control characters of data or of a policy are escaped, advice names options."""

    def __init__(self, text: str = "", style: str = "", **options: Any) -> None:  # noqa: ANN401 - rich's
        """Write the text before anything is measured or wrapped."""
        super().__init__(escape_control_characters(in_options(text)), style, **options)


class VisibleConsole(Console):
    """A console that prints no control character but its own colours."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render with control characters escaped."""
        for each in super().render(renderable, options):
            if each.control:
                yield each
            else:
                yield Segment(
                    "\n".join(escape_control_characters(line) for line in each.text.split("\n")),
                    each.style,
                )


def heading(text: str) -> Text:
    """A sentence that stands out: a heading in HTML."""
    return Text(text, style="bold")


def note(text: str) -> Text:
    """A remark beside the figures."""
    return Text(text, style="dim")


def caution(text: str) -> Text:
    """What is doubtful: among the cautions in HTML."""
    return Text(text, style="yellow")


def statuses(rows: Iterable[Row]) -> list[str]:
    """Return what is doubtful of an answer, each status once."""
    return [status for status in dict.fromkeys(row["status"] for row in rows) if status != OK]


def page(*parts: RenderableType) -> Group:
    """Put parts one below the other: `""` is a blank line, and a sentence without words is left out."""
    return Group(*(part for part in parts if part or not isinstance(part, Text)))


def word_columns(*names: str) -> list[Column]:
    """Make columns of words."""
    return [Column(Text(name)) for name in names]


def figure_columns(*names: str) -> list[Column]:
    """Make columns of figures, which are aligned to the right."""
    return [Column(Text(name), justify="right") for name in names]


def note_columns(*names: str) -> list[Column]:
    """Make columns of remarks beside the figures."""
    return [Column(Text(name), style="dim") for name in names]


class TextTable(Table):
    """A table whose rows are given with its columns; a cell is a text of the data, or a bar."""

    def __init__(
        self,
        columns: Iterable[Column] = (),
        rows: Iterable[Iterable[RenderableType]] = (),
        **layout: Any,  # noqa: ANN401 - rich's
    ) -> None:
        """Write texts as they are: nothing in them is markup."""
        super().__init__(*columns, **{"header_style": "bold", "caption_justify": "left"} | layout)
        for row in rows:
            self.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))


class FigureTable(TextTable):
    """A table of texts that never cuts a figure: words wrap, and where that is not enough, rows are blocks.

    Figures are the columns that are aligned to the right. `names_all` names the columns of words, too, where
    rows are blocks: the reader of any query's answer must see which column a word is from.
    """

    names_all = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table if its figures fit the page."""
        needed = [self._least_width(console, options, column) for column in self.columns]
        padding = self.padding[1] + self.padding[3]
        if (
            sum(needed) + len(needed) * (padding + bool(self.box)) + bool(self.box)
            > options.max_width
        ):
            yield from self._blocks(options.max_width - INDENT)
            return
        if Measurement.get(console, options.update(width=WIDE), self).maximum > options.max_width:
            for column, width in zip(self.columns, needed, strict=True):
                column.width = width if column.justify == "right" else None
                column.overflow = "fold"
        yield from super().__rich_console__(console, options)

    @staticmethod
    def _least_width(console: Console, options: ConsoleOptions, column: Column) -> int:
        """Return the widest figure, or the longest word."""
        header, *cells = (
            Measurement.get(console, options.update(width=WIDE), cell)
            for cell in (column.header, *column.cells)
        )
        figures = column.justify == "right"
        return max([header.minimum, *(cell.maximum if figures else cell.minimum for cell in cells)])

    def _blocks(self, width: int) -> Iterator[RenderableType]:
        """Give the words of each row as a line, then its figures, each after the name of its column."""
        if self.names_all:
            yield from self._named_blocks(width)
            return
        heads = [str(column.header) for column in self.columns if column.justify != "right"]
        if len(heads) > 1:
            yield note(" · ".join(heads))
        for row in zip(*(column.cells for column in self.columns), strict=True):
            words, figures = self._split(map(str, row))
            yield heading(" · ".join(words or figures[:1]))
            yield from _indented(figures if words else figures[1:], width)
        if self.caption:
            yield note(str(self.caption))

    def _split(self, cells: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the words of a row, and its figures, each after the name of its column."""
        words, figures = [], []
        for column, cell in zip(self.columns, cells, strict=True):
            if cell and column.justify == "right":
                figures.append(f"{column.header}: {cell}")
            elif cell:
                words.append(cell)
        return words, figures

    def _named_blocks(self, width: int) -> Iterator[RenderableType]:
        """Give each row of any table: every value after the name of its column, longer texts on their own.

        One row alone is a list: a line for each column.
        """
        if self.row_count == 1:
            sides = [Column(style="dim", overflow="fold"), Column(overflow="fold")]
            values = ((column.header, next(iter(column.cells))) for column in self.columns)
            yield TextTable(sides, values, show_header=False, **PLAIN)
            return
        for place, row in enumerate(zip(*(column.cells for column in self.columns), strict=True)):
            named = [
                f"{column.header}: {cell}" for column, cell in zip(self.columns, row, strict=True)
            ]
            yield heading(f"row {place + 1}")
            short: list[str] = []
            for cell in named:
                if len(cell) <= SHORT:
                    short.append(cell)
                    continue
                yield from _indented(short, width)
                yield from _indented([cell], width)
                short = []
            yield from _indented(short, width)


def _indented(cells: Sequence[str], width: int) -> Iterator[RenderableType]:
    """Join cells while they fit into a line: a line ends between two of them."""
    lines: list[str] = []
    for cell in cells:
        if lines and len(lines[-1]) + 2 + len(cell) <= width:
            lines[-1] += f"; {cell}"
        else:
            lines.append(cell)
    for line in lines:
        yield Padding(Text(line), (0, 0, 0, INDENT))


def console() -> Console:
    """Return the console to print on: as wide as the terminal, as COLUMNS, or as a wide page."""
    terminal = VisibleConsole(highlight=False)
    has_width = terminal.is_terminal or os.environ.get("COLUMNS", "").isdigit()  # which rich obeys
    if has_width and terminal.width >= NARROW:
        return terminal
    width = NARROW if has_width and terminal.width else WIDE  # COLUMNS=0 is no width
    return VisibleConsole(highlight=False, width=width)


def number(value: Any) -> str:  # noqa: ANN401 - a cell of any table
    """Write a value as people read it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    return _float(value) if isinstance(value, float) else str(value)


def _float(value: float) -> str:
    """Write four digits without an exponent, and all digits before the point.

    >>> [_float(each) for each in (1e5, 12345.678, 0.35034, 1.7494e-05, 1e-12, 0.9999999999999998)]
    ['100,000', '12,346', '0.3503', '0.00001749', '1e-12', '1']
    """
    size = abs(value)
    if MIN_LARGE <= size < MAX_WRITTEN:
        return f"{value:,.0f}"
    if MIN_WRITTEN <= size < MIN_SCIENTIFIC:
        return f"{value:.{3 - floor(log10(size))}f}".rstrip("0")
    return f"{value:.4g}"


def answer_table(answer: Answer) -> Table:
    """Show any answer, numbers to the right."""
    columns: list[Column] = []
    for place, name in enumerate(answer.columns):
        is_numeric = any(isinstance(row[place], int | float) for row in answer.rows)
        columns += figure_columns(name) if is_numeric else word_columns(name)
    table = FigureTable(columns, (map(number, row) for row in answer.rows))
    table.names_all = True
    return table


def words_table(columns: ColumnNames, rows: Sequence[Sequence[str]]) -> Table:
    """Show rows of words, wrapped where they are long."""
    folded = [Column(name, overflow="fold", no_wrap=not at) for at, name in enumerate(columns)]
    table = TextTable(folded, rows, **PLAIN)
    table.add_row()
    return table


@dataclass(frozen=True)
class Folded:
    """Details of a page: a reader of HTML unfolds them, one of a terminal gets them as CSV."""

    title: str
    parts: tuple[RenderableType, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Say where the details are."""
        yield note(f"{self.title}: --format csv, or --html")


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
