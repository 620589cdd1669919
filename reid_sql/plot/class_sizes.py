"""How many people share their values with how many: bars of a class size histogram."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reid_sql.plot.answers import Row, rows_of
from reid_sql.plot.style import DARK, HATCHED, PALE, RED, in_shares, listed, opened, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "class_sizes"
EDGES: Final = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000, 1_000_000)  # where ranges begin


@dataclass(frozen=True)
class Range:
    """People in classes of these sizes."""

    low: int
    words: str
    people: int


def class_sizes(answer: object, *, below: int = 5, ax: "Axes | None" = None) -> "Figure":
    """Draw how many people share their values with how many others.

    Bars of the answer of `class_size_histogram`, one for each range of class sizes; those of classes smaller
    than `below` are hatched.

    >>> sizes = [{"class_size": 1, "classes": 2, "records": 2}, {"class_size": 8, "classes": 1, "records": 8}]
    >>> [float(bar.get_width()) for bar in class_sizes(sizes).axes[0].patches]
    [0.2, 0.8]
    """
    rows = rows_of(HERE, answer, "class_size_histogram", ("class_size", "classes", "records"), "class_size")
    bins = [each for each in _ranges(rows, below) if each.people]
    people = sum(each.people for each in bins)
    figure, (axes,) = sheet(ax, (7.5, 1.2 + 0.34 * len(bins)))
    for small, look in ((True, HATCHED | {"edgecolor": RED}), (False, {"color": PALE, "edgecolor": DARK})):
        places = [place for place, each in enumerate(bins) if (each.low < below) is small]
        shares = [bins[place].people / people for place in places]
        words = f"in classes of fewer than {below}" if small else f"in classes of {below} or more"
        bars = axes.barh(places, shares, label=words, **look)
        axes.bar_label(bars, [f"{bins[place].people:,}" for place in places], padding=4)
    listed(axes, [each.words for each in bins])
    axes.set(xlabel="share of the people (their number behind the bar)", ylabel="people with the same values")
    axes.set_xlim(0, 1.12 * max(each.people / people for each in bins))
    in_shares(axes, "x")
    opened(axes, "Who shares their values with how many")
    if len({each.low < below for each in bins}) > 1:
        axes.legend(frameon=False)
    return figure


def _ranges(rows: Sequence[Row], below: int) -> list[Range]:
    """Add the people up by ranges of the class size, one of which ends at `below`."""
    edges = sorted({*EDGES, below})
    people = [0] * len(edges)
    for row in rows:
        people[bisect_right(edges, row["class_size"]) - 1] += row["records"]
    ends = [edge - 1 for edge in edges[1:]]
    words = [
        "alone",
        *(
            f"{low:,}" if low == high else f"{low:,} to {high:,}"
            for low, high in zip(edges[1:], ends[1:], strict=False)
        ),
    ]
    return [
        Range(low, word, count)
        for low, word, count in zip(edges, [*words, f"{edges[-1]:,} or more"], people, strict=True)
    ]
