"""Render charts as SVG, without a chart library and without a network.

Its colours and strokes are the CSS rules of charts.css. A report changes the colours on a dark screen.
A picture, for notebooks and files, has several charts one below the other, and styles of its own.
"""

import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from html import escape as escaped
from importlib import resources
from pathlib import Path
from textwrap import wrap
from typing import Final, ParamSpec, TypeAlias

from reid_sql.charts.spec import (
    Band,
    Bars,
    Cells,
    Chart,
    Drawn,
    Line,
    Marker,
    Rule,
    Scale,
    Strokes,
    Style,
    lay_out_legend,
    list_ticks,
    position_on,
    shorten_name,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.terminal.control_characters import escape_control_characters

WIDTH: Final = 760
ROW: Final = 28  # of a bar with the room about it
BAR: Final = 18
LINE: Final = 20  # of words
HEIGHT: Final = 270  # of what is drawn between two axes of numbers
LETTER: Final = 7.9  # the width of a letter, about, of a wide font
EDGE: Final = 26  # to the right of the last number of an axis
NUMBERS: Final = 56  # for the numbers of the axis that goes up
STRIPE: Final = 7  # from one stripe of a hatched bar to the next
DOT: Final = 4
TURN: Final = -40  # degrees of long names below
SLOPE: Final = 0.64  # the sine of it
LONGEST_UPRIGHT: Final = 60
MASKED_LENGTH: Final = 12.0  # of the bar of a masked number
LEAST: Final = 1.5  # length of a bar of anything at all


@dataclass(frozen=True)
class Frame:
    """The positions of values on the sheet."""

    chart: Chart
    left: float
    right: float
    top: float
    bottom: float

    def x(self, value: float) -> float:
        """From the left."""
        return self.left + position_on(self.chart.across, value) * (self.right - self.left)

    def y(self, value: float) -> float:
        """From the top; names go down, numbers up."""
        share = position_on(self.chart.up, value)
        downwards = share if self.chart.up.scale is Scale.NAMES else 1 - share
        return self.top + downwards * (self.bottom - self.top)


def read_styles() -> str:
    """Read the CSS rules of charts, in light colours."""
    return resources.files("reid_sql.charts").joinpath("charts.css").read_text(encoding="utf-8")


def svg(chart: Chart, of: str = "") -> str:
    """Draw the chart for a page; `of` completes its title for screen readers."""
    height, drawn = draw_chart(chart)
    title = escape(chart.title + of)
    attributes = f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{title}"'
    return f"<svg {attributes}><title>{title}</title>{drawn}</svg>"


def draw_chart(chart: Chart) -> tuple[float, str]:
    """Draw the chart without its title; return its height and its elements."""
    frame, head = _frame(chart), lay_out_legend(chart, WIDTH - 6, width)
    reasons = wrap(frame.chart.instead, 80)  # why there is nothing to draw
    middle = (frame.left + frame.right) / 2
    top = (frame.top + frame.bottom - LINE * len(reasons)) / 2
    drawn = [
        _group(
            "head",
            [
                *(text(x, LINE * (row + 1) - 6, words) for x, row, words in head.words),
                *(_swatch(mark, x, LINE * (row + 1) - 10) for x, row, mark in head.swatches),
            ],
        ),
        _group("across", _across(frame)),
        _group("up", _up(frame)),
        *(DRAW[type(mark)](frame, mark) for mark in chart.marks),
        *(
            text(middle, top + LINE * place, line, "middle", "soft behind")
            for place, line in enumerate(reasons)
        ),
    ]
    return frame.bottom + _below(chart) + LINE + 4, "".join(drawn)


def escape(words: str) -> str:
    """Escape text for SVG."""
    return escaped(escape_control_characters(words))


def width(words: str) -> float:
    """Estimate the width of text; East Asian characters are twice as wide."""
    return LETTER * sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in words)


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "soft") -> str:
    """Write text on the sheet."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _frame(chart: Chart) -> Frame:
    names = [width(shorten_name(name)) for name in chart.up.names]
    rules = any(isinstance(mark, Rule) and mark.upright and mark.words for mark in chart.marks)
    top = LINE * (lay_out_legend(chart, WIDTH - 6, width).rows + rules) + 8
    left = max(names, default=NUMBERS - 12) + 12
    return Frame(
        chart, left, _right(chart, left), top, top + (ROW * len(names) if names else HEIGHT)
    )


def _right(chart: Chart, left: float) -> float:
    """Return the end of the axis where the words behind each bar fit on the sheet."""
    edge = float(WIDTH - EDGE)
    bars = [mark for mark in chart.marks if isinstance(mark, Bars)]
    for length, behind in (
        (length, words)
        for bar in bars
        for length, words in zip(bar.lengths, bar.behind, strict=True)
    ):
        share = position_on(chart.across, length) if length else 0.0
        if share > 0:
            edge = min(edge, left + (WIDTH - 10 - width(behind) - left) / share)
    return edge


def _group(kind: str, drawn: Sequence[str]) -> str:
    return f'<g class="{kind}">{"".join(drawn)}</g>'


def _across(frame: Frame) -> list[str]:
    """Draw the numbers of the axis below and its label, and a line at each number if there are names."""
    drawn = [
        text(WIDTH, frame.bottom + _below(frame.chart) + LINE - 4, frame.chart.across.words, "end")
    ]
    turned = _below(frame.chart) > LINE
    for value, words in list_ticks(frame.chart.across):
        x, y = frame.x(value), frame.bottom + LINE - 4
        if frame.chart.up.names and not frame.chart.across.names:
            drawn.append(_line("axis", x, x, frame.top, frame.bottom))
        place = f'transform="rotate({TURN} {x:.1f} {y:.1f})" ' if turned else ""
        drawn.append(
            text(x, y, words, "end" if turned else _within(x, words)).replace(
                "<text ", f"<text {place}"
            )
        )
    return drawn


def _below(chart: Chart) -> float:
    """Return the height of the numbers or names of the lower axis; long names are turned."""
    longest = max((width(shorten_name(name)) for name in chart.across.names), default=0.0)
    return LINE + (longest * SLOPE if longest > LONGEST_UPRIGHT else 0.0)


def _up(frame: Frame) -> list[str]:
    """Draw the names of bars; else the numbers of the axis that goes up, with a line at each."""
    drawn = []
    for value, words in list_ticks(frame.chart.up):
        y = frame.y(value)
        if frame.chart.up.scale is Scale.NAMES:
            drawn.append(text(frame.left - 10, y + 5, words, "end", ""))
        else:
            drawn.append(_line("axis", frame.left, frame.right, y, y))
            drawn.append(text(frame.left - 8, y + 4, words, "end"))
    return drawn


def _within(x: float, words: str) -> str:
    """Center the text at the position, or end there if it would not fit on the sheet."""
    return "end" if x + width(words) / 2 > WIDTH else "middle"


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def _bars(frame: Frame, bars: Bars) -> str:
    drawn = []
    for place, value, behind in zip(bars.places, bars.lengths, bars.behind, strict=True):
        length = MASKED_LENGTH if value is None else frame.x(value) - frame.left
        length = max(length, LEAST) if value else length
        top = frame.y(place) - BAR / 2
        drawn.append(_bar("masked" if value is None else bars.style.value, frame.left, top, length))
        drawn.append(text(frame.left + length + 8, frame.y(place) + 5, behind, kind="soft behind"))
    return "".join(drawn)


def _bar(kind: str, left: float, top: float, length: float) -> str:
    """A bar, with stripes if it must be distinguishable on grey paper."""
    drawn = f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{length:.1f}" height="{BAR}" rx="2"/>'
    if kind not in {Style.HATCHED.value, Style.STRIPED.value}:
        return drawn
    steps = (STRIPE * number for number in range(1, int((length + BAR) / STRIPE) + 1))
    lines = (
        f"M{left + max(0, step - BAR):.1f} {top + min(step, BAR):.1f}"
        f"L{left + min(step, length):.1f} {top + max(0, step - length):.1f}"
        for step in steps
    )
    return f'{drawn}<path class="hatch {kind}" d="{"".join(lines)}"></path>'


def _points(frame: Frame, across: Sequence[float], up: Sequence[float]) -> str:
    return " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in zip(across, up, strict=True))


def _curve(frame: Frame, line: Line) -> str:
    style, marker = line.style, line.marker
    drawn = (
        f'<polyline class="{style.value}" points="{_points(frame, line.across, line.up)}"/>'
        if style
        else ""
    )
    marked = zip(line.across[:: line.every], line.up[:: line.every], strict=True)
    return drawn + "".join(_sign(marker, frame.x(x), frame.y(y)) for x, y in marked if marker)


def _sign(marker: Marker, x: float, y: float) -> str:
    if marker is not Marker.CROSS:
        return f'<circle class="{marker.value}" cx="{x:.1f}" cy="{y:.1f}" r="{DOT}"></circle>'
    reach = 2 * DOT
    strokes = f"M{x - DOT:.1f} {y - DOT:.1f}l{reach} {reach}m0 -{reach}l-{reach} {reach}"
    return f'<path class="cross" d="{strokes}"></path>'


def _band(frame: Frame, band: Band) -> str:
    upper, lower = (_points(frame, band.across, ends).split() for ends in (band.high, band.low))
    return f'<polygon class="{band.style.value}" points="{" ".join([*upper, *reversed(lower)])}"/>'


def _strokes(frame: Frame, strokes: Strokes) -> str:
    kind = strokes.style.value
    return "".join(
        _line(kind, frame.x(x1), frame.x(x2), frame.y(y1), frame.y(y2))
        for (x1, y1), (x2, y2) in strokes.ends
    )


def _cells(frame: Frame, cells: Cells) -> str:
    drawn = []
    for column, row, shade, words in zip(
        cells.across, cells.up, cells.shades, cells.words, strict=True
    ):
        left, right, top = frame.x(column - 0.5), frame.x(column + 0.5), frame.y(row - 0.5)
        place = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{ROW}"'
        drawn.append(f'<rect class="cell" {place} fill-opacity="{shade:.2f}"/>')
        drawn.append(text((left + right) / 2, frame.y(row) + 5, words, "middle", "behind"))
    return "".join(drawn)


def _rule(frame: Frame, rule: Rule) -> str:
    """Draw a rule with its label: above the chart, or on it."""
    kind = rule.style.value
    if rule.upright:
        x = frame.x(rule.at)
        half = width(rule.words) / 2
        words = (
            text(min(max(x, half), WIDTH - half), frame.top - 5, rule.words, "middle")
            if half
            else ""
        )
        return _line(kind, x, x, frame.top, frame.bottom) + words
    y = frame.y(rule.at)
    above = y - LINE > frame.top
    words = (
        text(frame.left + 6, y - 6 if above else y + LINE - 4, rule.words, kind=f"{kind}-text")
        if rule.words
        else ""
    )
    return _line(kind, frame.left, frame.right, y, y) + words


def _swatch(mark: Drawn, x: float, y: float) -> str:
    """Draw the mark's style for a legend."""
    if isinstance(mark, Bars):
        return _bar(mark.style.value, x, y - BAR / 2 + 1, 22)
    if isinstance(mark, Band):
        return (
            f'<rect class="{mark.style.value}" x="{x:.1f}" y="{y - 6:.1f}" width="22" height="12"/>'
        )
    stroke = _line(mark.style.value, x, x + 22, y, y) if mark.style else ""
    return stroke + (
        _sign(mark.marker, x + 11, y) if isinstance(mark, Line) and mark.marker else ""
    )


DRAW: Final[dict[type, Callable[..., str]]] = {
    Bars: _bars,
    Line: _curve,
    Band: _band,
    Strokes: _strokes,
    Cells: _cells,
    Rule: _rule,
}


MAX_LETTERS: Final = 95  # of a line of a title
MARGIN: Final = 12  # around the picture, and above each chart
Charts: TypeAlias = Chart | Sequence[Chart]
P = ParamSpec("P")
VARIABLE: Final = re.compile(r"--(\w+): (#\w+);")


@dataclass(frozen=True)
class Picture:
    """Charts of an answer: `charts` is what they contain, a notebook shows them, `save` writes them."""

    charts: tuple[Chart, ...] = field(repr=False)
    title: str = ""

    def svg(self) -> str:
        """Draw the charts one below the other under their titles, as SVG that needs no page around it."""
        drawn, top = [], float(MARGIN)
        for title, chart in ((self.title, None), *((chart.title, chart) for chart in self.charts)):
            for line in (each for part in title.split("\n") for each in wrap(part, MAX_LETTERS)):
                top += LINE
                drawn.append(text(0, top - 6, line, kind="title"))
            if chart is not None:
                height, elements = draw_chart(chart)
                drawn.append(f'<g transform="translate(0 {top:g})">{elements}</g>')
                top += height + MARGIN
        name = escape(self.title or "; ".join(chart.title for chart in self.charts))
        width = WIDTH + 2 * MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {width} {top:g}" '
            f'width="{width}" height="{top:g}" role="img" aria-label="{name}">'
            f"<title>{name}</title><style>\n{_fixed_styles()}</style>\n"
            f'<rect class="paper" x="{-MARGIN}" width="{width}" height="{top:g}"/>\n'
            + "\n".join(drawn)
            + "\n</svg>\n"
        )

    def save(self, file: str | Path) -> None:
        """Write the picture to an SVG file."""
        Path(file).write_text(self.svg(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, as an image: its styles do not reach the page."""
        name = escape(self.title or "; ".join(chart.title for chart in self.charts))
        data = b64encode(self.svg().encode()).decode("ascii")
        style = f"width:{WIDTH}px;max-width:100%"
        return f'<img alt="{name}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def _fixed_styles() -> str:
    """Write each colour in place of its name: some viewers of SVG know no names of colours."""
    rules = read_styles()
    colours = dict(VARIABLE.findall(rules))
    return re.sub(r"var\(--(\w+)\)", lambda name: colours[name[1]], rules)


def draw(charts: Charts, title: str = "") -> Picture:
    """Put one or more charts into a picture."""
    return Picture((charts,) if isinstance(charts, Chart) else tuple(charts), title)


def pictured(make: Callable[P, Charts]) -> Callable[P, Picture]:
    """Return the function that puts into a picture what another one draws."""

    @wraps(make)
    def draw_answer(*arguments: P.args, **options: P.kwargs) -> Picture:
        return draw(make(*arguments, **options))

    return draw_answer


def check_plot_file(file: str) -> None:
    """Refuse a file that is not SVG, or in no folder, before any counting."""
    if Path(file).suffix != ".svg":
        raise OutOfDomainError(f"--plot must be an SVG file, got '{file}'; name it like chart.svg")
    if not Path(file).absolute().parent.is_dir():
        raise OutOfDomainError(
            f"--plot must be in an existing folder, got '{file}'; make the folder first"
        )


def save(charts: Charts, title: str, file: str, people: str = "") -> None:
    """Draw the charts into the file, under a title.

    `people` describes how people are counted, or warns that rows may not be people.
    """
    draw(charts, "\n".join(each for each in (title, people) if each)).save(file)
