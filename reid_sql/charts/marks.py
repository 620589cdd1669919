"""What a picture is made of: axes with their words, and marks with their values and looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from reid_sql.control_characters import escape_control_characters

LONGEST: Final = 40  # characters of a name that fit beside an axis
ROOM: Final = 1.05  # of the highest value, where an axis goes up to it
LARGE: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


class Scale(Enum):
    """What an axis measures."""

    SHARE = "shares, in per cent"
    PEOPLE = "numbers of people, logarithmic"
    NAMES = "names, at 0, 1, 2, …, the first at the top"


class Look(Enum):
    """How a mark looks: told apart without colour; the value is its class in the report's rules of style."""

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
    """An axis: its words, what it measures, and from where to where its values go."""

    words: str
    scale: Scale
    low: float
    high: float
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Bars:
    """Bars that lie, from 0, with words behind each; a length of None is not told."""

    places: Sequence[int]
    lengths: Sequence[float | None]
    behind: Sequence[str]
    look: Look
    words: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points, which bear a mark each where they are few."""

    across: Sequence[float]
    up: Sequence[float]
    look: Look
    words: str
    marked: bool = False


@dataclass(frozen=True)
class Dots:
    """Marks that no line joins."""

    across: Sequence[float]
    up: Sequence[float]
    look: Look
    words: str


@dataclass(frozen=True)
class Band:
    """An interval at each of some places; of a single one it is a stroke."""

    across: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    words: str


@dataclass(frozen=True)
class Rule:
    """A line through the whole picture at one value, with its words beside it."""

    at: float
    upright: bool
    look: Look
    words: str


Mark: TypeAlias = Bars | Line | Dots | Band | Rule


@dataclass(frozen=True)
class Picture:
    """A title, axes, and what is drawn, the lowest first; `instead` says why there is nothing to draw."""

    title: str
    across: Axis
    up: Axis
    marks: Sequence[Mark]
    instead: str = ""


def short(name: object) -> str:
    r"""A name of the data as it fits beside an axis, with its control characters shown.

    >>> short("a" * 50) == "a" * 39 + "…", short("a\x1b")
    (True, 'a\\x1b')
    """
    shown = escape_control_characters(str(name))
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def people(number: float) -> str:
    """A number of people as it is said.

    >>> people(67_000_000), people(3000), people(1.5e9)
    ('67 million', '3,000', '1.5 billion')
    """
    for size, word in LARGE:
        if number >= size:
            return f"{number / size:.4g} {word}"
    return f"{number:,.0f}"


def per_cent(share: float) -> str:
    """A share as an axis has it.

    >>> per_cent(0.25), per_cent(1.0), per_cent(0.0001)
    ('25 %', '100 %', '0.01 %')
    """
    return f"{100 * share:.6g} %"
