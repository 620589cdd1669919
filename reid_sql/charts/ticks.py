"""The numbers and names that stand beside an axis drawn by our own lines, and where."""

import math
from typing import Final

from reid_sql.charts.marks import Axis, Scale, people, per_cent, short

STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)  # from one number to the next, times a power of ten
MOST: Final = 6  # numbers of an axis of shares
DECADES: Final = 8  # numbers of people that stand beside each other
CLOSE: Final = 2.0  # powers of ten, below which there are numbers between them


def placed(axis: Axis, value: float) -> float:
    """Where the value lies on the axis: 0 at its low end, 1 at its high end."""
    low, high = axis.low, axis.high
    if axis.scale is Scale.PEOPLE:
        low, high, value = math.log10(low), math.log10(high), math.log10(value)
    return (value - low) / (high - low)


def ticks(axis: Axis) -> list[tuple[float, str]]:
    """Each place with its words.

    >>> ticks(Axis("share", Scale.SHARE, 0.0, 0.55))[-2:]
    [(0.4, '40 %'), (0.5, '50 %')]
    >>> [words for _, words in ticks(Axis("people", Scale.PEOPLE, 1, 2e6))][-2:]
    ['100,000', '1 million']
    """
    if axis.scale is Scale.NAMES:
        return [(place, short(name)) for place, name in enumerate(axis.names)]
    if axis.scale is Scale.SHARE:
        return [(share, per_cent(share)) for share in _shares(axis.low, axis.high)]
    return [(size, people(size)) for size in _sizes(axis.low, axis.high)]


def _shares(low: float, high: float) -> list[float]:
    coarse = (high - low) / MOST
    power = 10.0 ** math.floor(math.log10(coarse))
    step = next(step * power for step in STEPS if step * power >= coarse * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]


def _sizes(low: float, high: float) -> list[float]:
    between = (1.0, 2.0, 5.0) if math.log10(high / low) < CLOSE else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [size for power in powers for part in between if low <= (size := part * 10.0**power) <= high]
    return found[:: max(1, math.ceil(len(found) / DECADES))]
