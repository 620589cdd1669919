"""What each quasi-identifier of a release does to its risk: bars of the gate's report."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures.answers import tables_of
from reid_sql.charts.figures.drawn import drawn
from reid_sql.charts.figures.style import sheet
from reid_sql.charts.quasi_identifiers import measured
from reid_sql.charts.quasi_identifiers import quasi_identifiers as described
from reid_sql.errors import NoRecordsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "quasi_identifiers"
NEEDED: Final = ("name", "records", "records_dropped", "classes", "columns")


def quasi_identifiers(page: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the average risk that stays where each quasi-identifier is left out, beside the risk by all.

    Of what `reid-sql check --json` prints: the page, a panel for each of its tables that has two
    quasi-identifiers or more, or one of its tables. The shorter the bar, the more that column drives the
    risk.
    """
    tables = [table for table in tables_of(HERE, page, "check", NEEDED) if measured(table)]
    if not tables:
        rule = f"{HERE} must be given a table whose columns were left out one by one, got none"
        raise NoRecordsError(f"{rule}; check two quasi-identifiers or more, with NULL as a value or dropped")
    pictures = [described(table) for table in tables]
    most = max(len(picture.up.names) for picture in pictures)
    figure, panels = sheet(ax, (1 + 6.5 * len(tables), 1.6 + 0.34 * most), len(tables))
    for axes, table, picture in zip(panels, tables, pictures, strict=True):
        title = f"{table['name']}: {picture.title}" if len(tables) > 1 else picture.title
        drawn(axes, replace(picture, title=title))
    return figure
