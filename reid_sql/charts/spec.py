"""What a chart is drawn from: the answer of a function; and what it contains: axes, marks, a legend."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from reid_sql.errors import NoRecordsError, OutOfDomainError, WrongTypeError
from reid_sql.parameters import ColumnNames, Rows
from reid_sql.terminal.control_characters import escape_control_characters

MAX_NAME_LENGTH: Final = 40  # characters of a name that fit next to an axis
HEADROOM: Final = 1.05  # of the highest value, where an axis goes up to it
LARGE: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))
TICK_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)  # from one number to the next, times a power of ten
MAX_SHARE_TICKS: Final = 6  # numbers of an axis of shares
MAX_PEOPLE_TICKS: Final = 8  # numbers of people that fit next to each other
NARROW_DECADES: Final = 2.0  # powers of ten, below which there are numbers between them
SWATCH_WIDTH: Final = 28  # with the room behind it
ENTRY_GAP: Final = 18  # between two entries


class Scale(Enum):
    """What an axis measures."""

    SHARE = "shares, in per cent"
    SYMLOG = "shares, in per cent; logarithmic on both sides of a linear part around 0"
    PEOPLE = "numbers of people, logarithmic"
    COUNT = "whole numbers"
    NAMES = "names, at 0, 1, 2, …, the first at the top or the left"


class Style(Enum):
    """The style of a mark, distinguishable without colour; the value is its CSS class in reports."""

    PLAIN = "bar"
    HATCHED = "risky"
    STRIPED = "striped"
    BAND = "band"
    SOLID = "curve"
    DASHED = "forecast"
    DOTTED = "other"
    DASHES_AND_DOTS = "another"
    STROKE = "stroke"
    MISSED = "missed"  # an interval without the truth
    HERE = "mark"  # a dotted rule at what is measured
    LIMIT = "limit"  # a rule that must not be crossed


class Marker(Enum):
    """The sign at a point; the value is its CSS class in reports."""

    DOT = "dot"
    POINT = "point"
    CROSS = "cross"
    OPEN = "open"


STROKES: Final = (Style.SOLID, Style.DASHED, Style.DOTTED, Style.DASHES_AND_DOTS)
SIGNS: Final = (Marker.DOT, Marker.CROSS, Marker.OPEN)
# of lines, none twice
LOOKS: Final = tuple(zip(STROKES * len(SIGNS), SIGNS * len(STROKES), strict=True))


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its scale and the range of its values; a symlog one is linear up to `linear`."""

    words: str
    scale: Scale
    low: float
    high: float
    names: Sequence[str] = ()
    linear: float = 1.0


def name_axis(names: Sequence[str], words: str = "") -> Axis:
    """Make an axis with a place for each of the names."""
    return Axis(words, Scale.NAMES, -0.5, len(names) - 0.5, names)


def share_axis(words: str, high: float = 1.0, low: float = 0.0) -> Axis:
    """Make an axis of shares, by default from 0 to 100 %."""
    return Axis(words, Scale.SHARE, low, high)


def count_axis(words: str, low: int, high: int) -> Axis:
    """Make an axis with a place for each of the whole numbers."""
    return Axis(words, Scale.COUNT, low - 0.5, high + 0.5)


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from 0, with words behind each; a length of None is masked."""

    places: Sequence[float]
    lengths: Sequence[float | None]
    behind: Sequence[str]
    style: Style
    words: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points, a marker at every few of them, or both."""

    across: Sequence[float]
    up: Sequence[float]
    words: str
    style: Style | None = None
    marker: Marker | None = None
    every: int = 1


@dataclass(frozen=True)
class Band:
    """The area between two lines."""

    across: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    words: str
    style: Style = Style.BAND


Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Strokes:
    """Straight strokes, each from a point to another, such as intervals."""

    ends: Sequence[tuple[Point, Point]]
    words: str
    style: Style = Style.STROKE


def intervals(
    rows: Rows, places: Sequence[float], low: str, high: str
) -> list[tuple[Point, Point]]:
    """Return the horizontal strokes from the low to the high ends of rows that have both."""
    return [
        ((row[low], place), (row[high], place))
        for row, place in zip(rows, places, strict=True)
        if row[low] is not None and row[high] is not None
    ]


def points(rows: Rows, across: str, up: str) -> tuple[list[float], list[float]]:
    """Return the places and the values of the rows that have a value."""
    measured = [row for row in rows if row.get(up) is not None]
    return [row[across] for row in measured], [row[up] for row in measured]


@dataclass(frozen=True)
class Cells:
    """Cells between two axes of names: shades from 0 to 1, and words on each."""

    across: Sequence[int]
    up: Sequence[int]
    shades: Sequence[float]
    words: Sequence[str]


@dataclass(frozen=True)
class Rule:
    """A line through the whole chart at one value, with a label or none."""

    at: float
    upright: bool
    style: Style
    words: str = ""


Mark: TypeAlias = Bars | Line | Band | Strokes | Cells | Rule


@dataclass(frozen=True)
class Chart:
    """A title, axes and marks, the lowest first; `instead` is the reason if there is nothing to draw."""

    title: str
    across: Axis
    up: Axis
    marks: Sequence[Mark]
    instead: str = ""


def shorten_name(name: object) -> str:
    r"""Shorten a name of the data to fit next to an axis, and escape its control characters.

    >>> shorten_name("a" * 50) == "a" * 39 + "…", shorten_name("a\x1b")
    (True, 'a\\x1b')
    """
    shown = escape_control_characters(str(name))
    return shown if len(shown) <= MAX_NAME_LENGTH else f"{shown[: MAX_NAME_LENGTH - 1]}…"


def format_people(number: float) -> str:
    """Write a number of people in words.

    >>> format_people(67_000_000), format_people(3000), format_people(1.5e9)
    ('67 million', '3,000', '1.5 billion')
    """
    for size, word in LARGE:
        if number >= size:
            return f"{number / size:.4g} {word}"
    return f"{number:,.0f}"


def format_share(share: float) -> str:
    """Write a share in percent.

    >>> format_share(0.25), format_share(1.0), format_share(0.0001)
    ('25 %', '100 %', '0.01 %')
    """
    return f"{100 * share:.6g} %"


def position_on(axis: Axis, value: float) -> float:
    """Return the value's position on the axis: 0 at its low end, 1 at its high end."""
    low, high, at = (_transform(axis, each) for each in (axis.low, axis.high, value))
    return (at - low) / (high - low)


def _transform(axis: Axis, value: float) -> float:
    if axis.scale is Scale.PEOPLE:
        return math.log10(value)
    if axis.scale is Scale.SYMLOG and abs(value) > axis.linear:
        return math.copysign(1 + math.log10(abs(value) / axis.linear), value)
    return value / axis.linear


def list_ticks(axis: Axis) -> list[tuple[float, str]]:
    """List each position with its label.

    >>> list_ticks(share_axis("share", 0.55))[-2:]
    [(0.4, '40 %'), (0.5, '50 %')]
    >>> [words for _, words in list_ticks(Axis("people", Scale.PEOPLE, 1, 2e6))][-2:]
    ['100,000', '1 million']
    >>> [words for _, words in list_ticks(Axis("", Scale.SYMLOG, -0.02, 0.002, linear=0.001))]
    ['-1 %', '-0.1 %', '0 %', '0.1 %']
    """
    if axis.scale is Scale.NAMES:
        return [(place, shorten_name(name)) for place, name in enumerate(axis.names)]
    if axis.scale is Scale.PEOPLE:
        return [(size, format_people(size)) for size in _sizes(axis.low, axis.high)]
    if axis.scale is Scale.COUNT:
        return [(count, f"{count:,.0f}") for count in _steps(axis.low, axis.high, 1.0)]
    shares = _powers(axis) if axis.scale is Scale.SYMLOG else _steps(axis.low, axis.high)
    return [(share, format_share(share)) for share in shares]


def _steps(low: float, high: float, least: float = 0.0) -> list[float]:
    coarse = max((high - low) / MAX_SHARE_TICKS, least)
    power = 10.0 ** math.floor(math.log10(coarse))
    sizes = [step * power for step in TICK_STEPS if not least or (step * power).is_integer()]
    step = next(size for size in sizes if size >= coarse * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]


def _powers(axis: Axis) -> list[float]:
    """Return 0 and the powers of ten on both sides of it, one of them in the linear part."""
    first = math.floor(math.log10(axis.linear) + 1e-9)
    last = math.floor(math.log10(max(-axis.low, axis.high)) + 1e-9)
    powers = [10.0**power for power in range(first, last + 1)]
    return [
        share
        for share in (*(-each for each in reversed(powers)), 0.0, *powers)
        if axis.low <= share <= axis.high
    ]


def _sizes(low: float, high: float) -> list[float]:
    between = (1.0, 2.0, 5.0) if math.log10(high / low) < NARROW_DECADES else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    sizes = [
        size for power in powers for part in between if low <= (size := part * 10.0**power) <= high
    ]
    return sizes[:: max(1, math.ceil(len(sizes) / MAX_PEOPLE_TICKS))]


Drawn: TypeAlias = Bars | Line | Band | Strokes


@dataclass(frozen=True)
class Legend:
    """Labels and swatches, each with its distance from the left and its row from the top."""

    rows: int
    words: Sequence[tuple[float, int, str]]
    swatches: Sequence[tuple[float, int, Drawn]]


def lay_out_legend(chart: Chart, room: float, width: Callable[[str], float]) -> Legend:
    """Lay out the label of the axis and, to its right, the entries; add rows where they do not fit."""
    named = [mark for mark in chart.marks if not isinstance(mark, Rule | Cells) and mark.words]
    lengths = [SWATCH_WIDTH + ENTRY_GAP + width(mark.words) for mark in named]
    free = room - sum(lengths)
    is_one_row = width(chart.up.words) + ENTRY_GAP <= free
    row = int(bool(named) and not is_one_row)
    x = free + ENTRY_GAP if is_one_row else 0.0
    words: list[tuple[float, int, str]] = [(0.0, 0, chart.up.words)]
    swatches: list[tuple[float, int, Drawn]] = []
    for mark, length in zip(named, lengths, strict=True):
        if x > 0 and x + length - ENTRY_GAP > room + 1:
            row, x = row + 1, 0.0
        swatches.append((x, row, mark))
        words.append((x + SWATCH_WIDTH, row, mark.words))
        x += length
    return Legend(row + 1, words, swatches)


def rows_of(
    chart: str, answer: object, function: str, columns: ColumnNames, key: str | None = None
) -> Rows:
    """Read the rows; refuse another function's answer, an empty one, and several groups.

    The frame is a relation of DuckDB, a frame of Polars, pandas or Arrow, or a list of rows by column name.
    `key` is a column whose values are unique within one group.
    """
    names, rows = read_frame(chart, answer, function)
    missing = [name for name in columns if name not in names]
    rule = f"{chart} must be given the answer of {function}"
    if missing:
        raise OutOfDomainError(
            f"{rule}, got a table without '{missing[0]}'; pass the answer of {function}"
        )
    if not rows:
        raise NoRecordsError(f"{rule}, got no rows; ask {function} about a table with records")
    keys = [str(row[key]) for row in rows] if key else []
    if len(set(keys)) < len(keys):
        twice = next(value for value in keys if keys.count(value) > 1)
        raise OutOfDomainError(
            f"{rule} of one group, got {key} '{twice}' more than once; keep the rows of one group first"
        )
    return rows


def tables_of(chart: str, page: object, command: str, columns: ColumnNames) -> Rows:
    """Return the tables of what a command prints as JSON: a whole page, or one of its tables."""
    listed = page.get("tables", [page]) if isinstance(page, Mapping) else []
    if not listed or not all(set(table) >= set(columns) for table in listed):
        raise WrongTypeError(
            f"{chart} must be given what reid-sql {command} --json prints, got {type(page).__name__} without tables that have {columns[-1]}; pass json.loads of it"
        )
    return list(listed)


def read_frame(chart: str, answer: object, function: str) -> tuple[Sequence[str], Rows]:
    """Read the columns and rows of a frame; refuse what is none."""
    if isinstance(answer, Sequence) and all(isinstance(row, Mapping) for row in answer):
        return list(answer[0]) if answer else [], list(answer)
    frame = answer.collect() if hasattr(answer, "collect") and hasattr(answer, "lazy") else answer
    if not hasattr(frame, "__arrow_c_stream__"):
        raise WrongTypeError(
            f"{chart} must be given the answer of {function}, got {type(answer).__name__}; pass a relation of DuckDB or a frame of Polars, pandas or Arrow"
        )
    import pyarrow as pa  # noqa: PLC0415 - help is shown without it

    table = pa.table(frame)
    return table.column_names, table.to_pylist()
