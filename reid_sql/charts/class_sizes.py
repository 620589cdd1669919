"""How many people share their values with how many: a bar for each range of class sizes."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.charts.marks import Axis, Bars, Look, Picture, Scale
from reid_sql.models.numerics.quantiles import percent

EDGES: Final = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)  # where ranges of class sizes begin
MASKED: Final = "masked"


@dataclass(frozen=True)
class Range:
    """People in classes of these sizes: from, to, how many; None for no end, and for a number not told."""

    low: int
    high: int | None
    people: int | None

    @property
    def name(self) -> str:
        """The sizes in words.

        >>> [Range(*sizes, 9).name for sizes in ((1, 1), (2, 2), (3, 4), (1000, None))]
        ['alone', '2', '3 to 4', '1,000 or more']
        """
        if self.high is None:
            return f"{self.low:,} or more"
        if self.low == self.high:
            return "alone" if self.low == 1 else f"{self.low:,}"
        return f"{self.low:,} to {self.high:,}"


def ranges(rows: Iterable[Mapping[str, Any]], below: int) -> list[Range]:
    """Add the people of a histogram up by ranges of the class size, one of which ends at `below`."""
    edges = sorted({*EDGES, below})
    people = [0] * len(edges)
    for row in rows:
        people[bisect_right(edges, row["class_size"]) - 1] += row["records"]
    ends = [*(edge - 1 for edge in edges[1:]), None]
    return [Range(low, high, count) for low, high, count in zip(edges, ends, people, strict=True)]


def class_sizes(found: Sequence[Range], people: int, below: float) -> Picture:
    """Describe the bars of the ranges that somebody is in; those with classes smaller than `below` hatched.

    `people` are all, of whom the bars are shares.
    """
    shown = [each for each in found if each.people != 0]
    shares = [None if each.people is None else each.people / max(1, people) for each in shown]
    names = [each.name for each in shown]
    return Picture(
        "Who shares their values with how many",
        Axis(
            "share of the people (behind the bar their number)",
            Scale.SHARE,
            0.0,
            max(filter(None, shares), default=1.0),
        ),
        Axis("people with the same values", Scale.NAMES, -0.5, len(names) - 0.5, names),
        [bars for small in (True, False) if (bars := _bars(shown, shares, below, small=small)).places],
    )


def _bars(shown: Sequence[Range], shares: Sequence[float | None], below: float, *, small: bool) -> Bars:
    places = [place for place, each in enumerate(shown) if (each.low < below) is small]
    behind = [_told(shown[place].people, shares[place]) for place in places]
    look = Look.HATCHED if small else Look.PLAIN
    return Bars(places, [shares[place] for place in places], behind, look, _words(shown, below, small=small))


def _told(people: int | None, share: float | None) -> str:
    return MASKED if people is None or share is None else f"{people:,} ({percent(share)})"


def _words(shown: Sequence[Range], below: float, *, small: bool) -> str:
    """What the bars hold; a range that holds sizes on both sides is one of the small."""
    across = any(each.low < below and (each.high is None or each.high >= below) for each in shown)
    if small:
        return f"in ranges that begin below {below:,g}" if across else f"in classes of fewer than {below:,g}"
    return f"in classes of {below:,g} or more"
