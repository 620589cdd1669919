"""Propose a hierarchy by what a column looks like: bands of numbers, parts of dates, prefixes of codes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor
from typing import Final

from reid_sql.hierarchies.hierarchy import Hierarchy, hierarchy
from reid_sql.hierarchies.step import DATE_PARTS, Bands, Common, DatePart, Prefix, Step
from reid_sql.models.columns import column_profile

BANDS: Final = 25  # the most that the narrowest bands make
FEWEST: Final = 2  # bands that the widest make
MOST: Final = 4  # widths, or lengths of beginnings, of one hierarchy
NICE: Final = tuple(digit * 10.0**power for power in range(-9, 16) for digit in (1, 2, 5))
SHARES: Final = (0.01, 0.05, 0.2)  # of the records, which a value must have to stay as it is
LEAST: Final = 10  # records that a value has at least which a step names
FAR: Final = (
    1.5  # how much wider all numbers spread than 98 % of them, from which the ends are one value each
)


@dataclass(frozen=True)
class Facts:
    """What a hierarchy depends on: a column's kind, range of numbers, text lengths and frequent values.

    `numbers` are all that can be no marks; `near_low` and `near_high` hold 98 % of the records between them.
    `frequent` are values with their records, the most frequent first; there may be more values.
    """

    column: str
    looks_like: str
    records: int
    numbers: bool = False
    whole: bool = True
    low: float = 0.0
    high: float = 0.0
    near_low: float = 0.0
    near_high: float = 0.0
    shortest: int = 0
    longest: int = 0
    frequent: tuple[tuple[str, int], ...] = ()


def proposed(facts: Facts) -> Hierarchy:
    """Propose a hierarchy; every one ends with leaving the column out, which is all there is for free text.

    >>> [step.words for step in proposed(Facts("age", "number", 100, True, True, 17, 90, 17, 90)).steps]
    ['in bands of 5', 'in bands of 10', 'in bands of 20', 'left out']
    >>> code = Facts("zip", "code", 100, shortest=5, longest=5)
    >>> [step.words for step in proposed(code).steps][:2]
    ['to its first 4 characters', 'to its first 3 characters']
    """
    kinds = {
        column_profile.DATE: _parts,
        column_profile.NUMBER: _bands,
        column_profile.CODE: _beginnings,
        column_profile.CATEGORY: _common,
    }
    found = kinds.get(facts.looks_like)
    return hierarchy(facts.column, list(found(facts)) if found else [])


def common(facts: Facts, least: float) -> Common:
    """Keep the values of at least so many records."""
    return Common(tuple(value for value, records in facts.frequent if records >= least))


def _parts(facts: Facts) -> Iterator[Step]:  # noqa: ARG001 - as the other kinds
    yield from (DatePart(part) for part in DATE_PARTS)


def _bands(facts: Facts) -> Iterator[Step]:
    below, above = facts.low, facts.high
    if facts.high - facts.low > FAR * (facts.near_high - facts.near_low) > 0:
        below, above = facts.near_low, facts.near_high
    found = list(widths(below, above, whole=facts.whole))
    if (below, above) == (facts.low, facts.high):
        yield from (Bands(width, whole=facts.whole) for width in found)
        return
    ended = [_ended(Bands(width, whole=facts.whole), facts) for width in found]
    if ended:
        yield replace(ended[0], width=None)
    yield from ended


def _ended(bands: Bands, facts: Facts) -> Bands:
    """Give the bands with ends at multiples of the width, inside which most records lie."""
    width = bands.width or 1.0
    low, high = ceil(facts.near_low / width) * width, floor(facts.near_high / width) * width
    far_below, far_above = low - facts.low > width, facts.high - high > width
    return replace(bands, below=low if far_below else None, above=high if far_above and high > low else None)


def widths(low: float, high: float, *, whole: bool) -> Iterator[float]:
    """Give up to four widths of bands, each a multiple of the one before, as people choose them: 5, 10, 20.

    >>> list(widths(17, 90, whole=True)), list(widths(1, 16, whole=True)), list(widths(0, 1, whole=False))
    ([5.0, 10.0, 20.0], [2.0, 4.0], [0.05, 0.1, 0.2, 0.4])
    """
    spread = high - low
    least = max(spread / BANDS, 2.0 if whole else 0.0)
    width = next((each for each in NICE if each >= least), spread)
    for _ in range(MOST):
        if not 0 < width <= spread / FEWEST:
            return
        yield width
        width = next((each for each in NICE if _multiple(each, width) and each <= spread / FEWEST), 2 * width)


def _multiple(width: float, other: float) -> bool:
    times = width / other
    return times > 1.5 and abs(times - round(times)) < 1e-6  # noqa: PLR2004 - more than itself


def _beginnings(facts: Facts) -> Iterator[Step]:
    lengths = range(facts.longest - 1, 0, -1)
    every = max(1, ceil(len(lengths) / MOST))
    yield from (Prefix(length) for length in lengths[::every])


def _common(facts: Facts) -> Iterator[Step]:
    """Keep fewer values at each step, and at least one: keeping none is leaving the column out."""
    steps = [common(facts, max(LEAST, share * facts.records)) for share in SHARES]
    first = Common(tuple(value for value, _ in facts.frequent))
    for before, step in pairwise((first, *steps)):
        if step.kept and len(step.kept) < len(before.kept):
            yield step


def merging(steps: Sequence[Step], values: Sequence[int]) -> list[Step]:
    """Leave out the steps that leave as many values as the one before; `values` has those of level 0 first.

    >>> [step.words for step in merging([Bands(5), Bands(10)], [80, 80, 9])]
    ['in bands of 10']
    """
    return [step for step, (before, after) in zip(steps, pairwise(values), strict=True) if after < before]
