"""How many people share their values with how many: bars of a class size histogram."""

from typing import TYPE_CHECKING, Final

from reid_sql.charts.class_sizes import class_sizes as described
from reid_sql.charts.class_sizes import ranges
from reid_sql.charts.figures.answers import rows_of
from reid_sql.charts.figures.drawn import drawn
from reid_sql.charts.figures.style import sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "class_sizes"


def class_sizes(answer: object, *, below: int = 5, ax: "Axes | None" = None) -> "Figure":
    """Draw how many people share their values with how many others.

    Bars of the answer of `class_size_histogram`, one for each range of class sizes; those of classes smaller
    than `below` are hatched.

    >>> sizes = [{"class_size": 1, "classes": 2, "records": 2}, {"class_size": 8, "classes": 1, "records": 8}]
    >>> [float(bar.get_width()) for bar in class_sizes(sizes).axes[0].patches]
    [0.2, 0.8]
    """
    rows = rows_of(HERE, answer, "class_size_histogram", ("class_size", "classes", "records"), "class_size")
    picture = described(ranges(rows, below), sum(row["records"] for row in rows), below)
    figure, (axes,) = sheet(ax, (7.5, 1.5 + 0.34 * len(picture.up.names)))
    drawn(axes, picture, alone=ax is None)
    return figure
