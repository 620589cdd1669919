"""What stands above a picture: the words of the axis that goes up, and what each mark is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.charts.marks import Band, Bars, Dots, Line, Picture, Rule, short

SWATCH: Final = 28  # with the room behind it
GAP: Final = 18  # between two entries


@dataclass(frozen=True)
class Legend:
    """Words and swatches, each from the left and in a row from the top."""

    rows: int
    words: Sequence[tuple[float, int, str]]
    swatches: Sequence[tuple[float, int, Bars | Line | Dots | Band]]


def legend(picture: Picture, room: float, width: Callable[[str], float]) -> Legend:
    """Lay out the words of the axis, and behind them, to the right, the entries; in further rows at need."""
    named = [mark for mark in picture.marks if not isinstance(mark, Rule) and mark.words]
    words: list[tuple[float, int, str]] = [(0.0, 0, picture.up.words)]
    swatches: list[tuple[float, int, Bars | Line | Dots | Band]] = []
    lengths = [SWATCH + width(short(mark.words)) for mark in named]
    beside = width(picture.up.words) + GAP + sum(lengths) + GAP * len(lengths) <= room
    row = 0 if beside or not named else 1
    x = room - sum(lengths) - GAP * (len(lengths) - 1) if beside else 0.0
    for mark, length in zip(named, lengths, strict=True):
        if x > 0 and x + length > room + 1:
            row, x = row + 1, 0.0
        swatches.append((x, row, mark))
        words.append((x + SWATCH, row, short(mark.words)))
        x += length + GAP
    return Legend(row + 1, words, swatches)
