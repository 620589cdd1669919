"""The figure of an audit of published tables: each hidden cell by the width of its interval."""

from typing import TYPE_CHECKING, Final

import numpy as np

from reid_sql.charts.figures import Row, rows_of
from reid_sql.charts.renderer import figure_and_panels, plain_label, set_title
from reid_sql.errors import NoRecordsError, OutOfDomainError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AUDITED: Final = ("cell", "categories", "kind", "low", "high", "width", "finding")
WIDEST: Final = 10  # people; a wider interval has the same colour
MAX_CELLS: Final = 40 * 60  # that can still be read
COLUMNS: Final = 2  # of a table that a figure shows


def audited_cells(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the hidden cells of published tables, darker the narrower the interval that an attacker computes.

    Of the answer of `audit_tables` on tables of two columns, or of the first column by all others. A cell
    shows its interval; a cross marks one that is known exactly or known below k. Cells that are not hidden
    stay white.

    >>> row = {"cell": "a = x, b = y", "categories": ["x", "y"], "kind": "suppressed", "low": 2, "high": 2}
    >>> figure = audited_cells([row | {"width": 0, "finding": "recovered"}])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['2 ×']
    """
    rows = [
        row for row in rows_of("audited_cells", answer, "audit_tables", AUDITED) if row["kind"] != "published"
    ]
    if not rows:
        rule = "audited_cells must be given an answer with a hidden cell, got none"
        raise NoRecordsError(f"{rule}; there is nothing to draw")
    places = [(str(row["categories"][0]), ", ".join(map(str, row["categories"][1:]))) for row in rows]
    lines, columns = (list(dict.fromkeys(sorted(each[axis] for each in places))) for axis in range(COLUMNS))
    if len(lines) * len(columns) > MAX_CELLS:
        rule = f"audited_cells must be given at most {MAX_CELLS} cells, got {len(lines) * len(columns)}"
        raise OutOfDomainError(f"{rule}; draw a part of the answer")
    size = (max(6.5, 2.5 + 0.6 * len(columns)), max(2.5, 1.5 + 0.32 * len(lines)))
    figure, (axes,) = figure_and_panels(ax, size)
    widths = np.full((len(lines), len(columns)), np.nan)
    for row, (line, column) in zip(rows, places, strict=True):
        at = lines.index(line), columns.index(column)
        widths[at] = WIDEST if row["width"] is None else min(row["width"], WIDEST)
        ink = "white" if widths[at] < WIDEST / 2 else "black"
        axes.text(at[1], at[0], _interval(row), ha="center", va="center", color=ink, fontsize=8)
    axes.imshow(widths, cmap="Blues_r", vmin=0, vmax=1.3 * WIDEST, aspect="auto")
    axes.set_xticks(range(len(columns)), [plain_label(each) for each in columns], rotation=40, ha="right")
    axes.set_yticks(range(len(lines)), [plain_label(each) for each in lines])
    set_title(axes, "What an attacker computes of hidden cells")
    return figure


def _interval(row: Row) -> str:
    """The interval of a cell, with a cross where it is revealed."""
    low, high = row["low"], row["high"]
    shown = f"≥ {low}" if high is None else str(low) if low == high else f"{low}–{high}"
    return shown if row["finding"] == "protected" else f"{shown} ×"
