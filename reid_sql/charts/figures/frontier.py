"""Risk against loss: of the forms of a table that were counted, those that no other one betters in both."""

from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures.answers import tables_of
from reid_sql.charts.figures.drawn import drawn
from reid_sql.charts.figures.style import sheet
from reid_sql.charts.frontier import frontier as described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDED: Final = ("name", "losses", "frontier")


def frontier(page: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw risk against loss of the forms of a table that were counted to prepare its release.

    Of what `reid-sql prepare --json` prints: the page, a panel for each of its tables, or one of its tables.
    Each mark is a form that no other one betters in both.
    """
    tables = tables_of("frontier", page, "prepare", NEEDED)
    figure, panels = sheet(ax, (2 + 5 * len(tables), 4.5), len(tables))
    for axes, table in zip(panels, tables, strict=True):
        drawn(axes, described(table))
    return figure
