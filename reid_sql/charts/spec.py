"""What a chart contains, whatever draws it: axes with ticks, marks with values and styles, a legend."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from reid_sql.control_characters import escape_control_characters

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
    PEOPLE = "numbers of people, logarithmic"
    NAMES = "names, at 0, 1, 2, …, the first at the top"


class Style(Enum):
    """The style of a mark, distinguishable without colour; the value is its CSS class in reports."""

    PLAIN = "bar"
    HATCHED = "risky"
    SOLID = "curve"
    DASHED = "forecast"
    DOTTED = "other"
    DASHES_AND_DOTS = "another"
    DOT = "dot"
    CROSS = "cross"
    HERE = "mark"  # a dotted rule at what is measured
    LIMIT = "limit"  # a rule that must not be crossed


@dataclass(frozen=True)
class Axis:
    """An axis: its label, its scale and the range of its values."""

    words: str
    scale: Scale
    low: float
    high: float
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from 0, with words behind each; a length of None is masked."""

    places: Sequence[int]
    lengths: Sequence[float | None]
    behind: Sequence[str]
    style: Style
    words: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points, with a marker at each point where there are few."""

    across: Sequence[float]
    up: Sequence[float]
    style: Style
    words: str
    marked: bool = False


@dataclass(frozen=True)
class Dots:
    """Markers without a line."""

    across: Sequence[float]
    up: Sequence[float]
    style: Style
    words: str


@dataclass(frozen=True)
class Band:
    """An interval at each of some positions; a single one is drawn as a stroke."""

    across: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    words: str


@dataclass(frozen=True)
class Rule:
    """A line through the whole chart at one value, with a label."""

    at: float
    upright: bool
    style: Style
    words: str


Mark: TypeAlias = Bars | Line | Dots | Band | Rule


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
    low, high = axis.low, axis.high
    if axis.scale is Scale.PEOPLE:
        low, high, value = math.log10(low), math.log10(high), math.log10(value)
    return (value - low) / (high - low)


def list_ticks(axis: Axis) -> list[tuple[float, str]]:
    """List each position with its label.

    >>> list_ticks(Axis("share", Scale.SHARE, 0.0, 0.55))[-2:]
    [(0.4, '40 %'), (0.5, '50 %')]
    >>> [words for _, words in list_ticks(Axis("people", Scale.PEOPLE, 1, 2e6))][-2:]
    ['100,000', '1 million']
    """
    if axis.scale is Scale.NAMES:
        return [(place, shorten_name(name)) for place, name in enumerate(axis.names)]
    if axis.scale is Scale.SHARE:
        return [(share, format_share(share)) for share in _shares(axis.low, axis.high)]
    return [(size, format_people(size)) for size in _sizes(axis.low, axis.high)]


def _shares(low: float, high: float) -> list[float]:
    coarse = (high - low) / MAX_SHARE_TICKS
    power = 10.0 ** math.floor(math.log10(coarse))
    step = next(step * power for step in TICK_STEPS if step * power >= coarse * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]


def _sizes(low: float, high: float) -> list[float]:
    between = (1.0, 2.0, 5.0) if math.log10(high / low) < NARROW_DECADES else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    sizes = [size for power in powers for part in between if low <= (size := part * 10.0**power) <= high]
    return sizes[:: max(1, math.ceil(len(sizes) / MAX_PEOPLE_TICKS))]


@dataclass(frozen=True)
class Legend:
    """Labels and swatches, each with its distance from the left and its row from the top."""

    rows: int
    words: Sequence[tuple[float, int, str]]
    swatches: Sequence[tuple[float, int, Bars | Line | Dots | Band]]


def lay_out_legend(chart: Chart, room: float, width: Callable[[str], float]) -> Legend:
    """Lay out the label of the axis and, to its right, the entries; add rows where they do not fit."""
    named = [mark for mark in chart.marks if not isinstance(mark, Rule) and mark.words]
    words: list[tuple[float, int, str]] = [(0.0, 0, chart.up.words)]
    swatches: list[tuple[float, int, Bars | Line | Dots | Band]] = []
    lengths = [SWATCH_WIDTH + width(shorten_name(mark.words)) for mark in named]
    one_row = width(chart.up.words) + ENTRY_GAP + sum(lengths) + ENTRY_GAP * len(lengths) <= room
    row = 0 if one_row or not named else 1
    x = room - sum(lengths) - ENTRY_GAP * (len(lengths) - 1) if one_row else 0.0
    for mark, length in zip(named, lengths, strict=True):
        if x > 0 and x + length > room + 1:
            row, x = row + 1, 0.0
        swatches.append((x, row, mark))
        words.append((x + SWATCH_WIDTH, row, shorten_name(mark.words)))
        x += length + ENTRY_GAP
    return Legend(row + 1, words, swatches)
