"""How well subsets of columns tell people apart: two marks a subset."""

from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures.answers import rows_of
from reid_sql.charts.figures.style import BLUE, DARK, beneath, in_shares, listed, opened, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "attribute_risk"


def attribute_risk(answer: object, *, most: int = 20, ax: "Axes | None" = None) -> "Figure":
    """Draw how well each subset of the columns tells people apart, those that do it best first.

    Of the answer of `attribute_risk`, the `most` subsets with the highest distinction: a full mark at the
    share of distinct combinations, an open one at the share of pairs of people who differ.

    >>> told = [{"columns": ["age"], "distinction": 0.1, "separation": 0.9, "status": "ok"}]
    >>> [line.get_xdata().tolist() for line in attribute_risk(told).axes[0].lines]
    [[0.1], [0.9]]
    """
    rows = rows_of(HERE, answer, "attribute_risk", ("columns", "distinction", "separation"), "columns")
    known = [row for row in rows if row["distinction"] is not None]
    shown = sorted(known, key=lambda row: -row["distinction"])[:most]
    figure, (axes,) = sheet(ax, (8, 2.2 + 0.3 * len(shown)))
    places = range(len(shown))
    distinction, separation = ([row[name] or 0.0 for row in shown] for name in ("distinction", "separation"))
    axes.hlines(places, distinction, separation, color=DARK, linewidth=0.8, linestyle=":")
    axes.plot(distinction, places, "o", color=BLUE, label="different combinations, as a share of the people")
    axes.plot(separation, places, "D", color=DARK, fillstyle="none", label="pairs of people who differ")
    listed(axes, [", ".join(row["columns"]) for row in shown])
    axes.set(xlim=(-0.02, 1.02), xlabel="share")
    in_shares(axes, "x")
    opened(axes, "Which columns tell people apart")
    beneath(axes, alone=ax is None)
    return figure
