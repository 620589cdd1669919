"""How many people of a population are unique, by every method."""

from typing import TYPE_CHECKING

from reid_sql.charts.figures.answers import rows_of
from reid_sql.charts.figures.style import BLUE, DARK, in_shares, listed, opened, plain_lines, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def methods(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw what each method estimates as the share of a population that is alone in its class.

    Of the answer of `population_uniqueness`: a mark with its 95 % interval, where the method has one.

    >>> rows = [{"method": "ewens", "uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.4}]
    >>> methods(rows).axes[0].lines[0].get_xdata().tolist()
    [0.2]
    """
    needed = ("method", "uniqueness", "uniqueness_low", "uniqueness_high")
    rows = rows_of("methods", answer, "population_uniqueness", needed, "method")
    figure, (axes,) = sheet(ax, (8, 1.8 + 0.34 * len(rows)))
    for place, row in enumerate(rows):
        if row["uniqueness"] is None:
            axes.text(0.0, place, plain_lines(row["status"], 60), va="center", fontsize="small")
            continue
        if row["uniqueness_low"] is not None:
            axes.hlines(place, row["uniqueness_low"], row["uniqueness_high"], color=BLUE)
        axes.plot([row["uniqueness"]], [place], "o", color=DARK)
    listed(axes, [row["method"] for row in rows])
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.set_xlabel("share of the population that is alone in its class, in 95 % intervals")
    in_shares(axes, "x")
    opened(axes, "Unique in the population, by method")
    return figure
