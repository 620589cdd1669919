"""The pictures of the commands: several panels on one page."""

from typing import TYPE_CHECKING, Any

from reid_sql.charts.figures.comparison import comparison, losses
from reid_sql.charts.figures.extreme_risk import choices, contributions, elimination
from reid_sql.charts.figures.forecast import forecast
from reid_sql.charts.figures.model_check import model_check
from reid_sql.charts.figures.style import blank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from reid_sql.charts.figures.answers import Row
    from reid_sql.models.people.diagnostics import Check


def forecast_page(
    measured: "Sequence[Row]", foretold: "Sequence[Row]", older: "Sequence[Row]", checks: "Sequence[Check]"
) -> "Figure":
    """Draw the curve measured and foretold, and whether the model foretells the table's own class sizes."""
    figure = blank((13, 4.8))
    left, right = figure.subplots(1, 2)
    beside = {"by an older method (Pitman–Yor)": older}
    forecast(foretold, measured=measured, beside=beside, share="correctness", ax=left)
    model_check(checks, ax=right)
    return figure


def extreme_page(
    found: "Sequence[Row]", risk: "Row", added: "Sequence[Row]", paths: "Mapping[str, Sequence[Row]]"
) -> "Figure":
    """Draw the risk over choices with its extreme, what each record adds to it, and what removals do."""
    figure = blank((12, 8.5))
    panels: dict[str, Any] = figure.subplot_mosaic("CA;RR" if added else "C;R")
    choices(found, [risk], ax=panels["C"])
    if added:
        contributions(added, ax=panels["A"])
    elimination(paths, ax=panels["R"])
    return figure


def comparison_page(figures: "Sequence[Row]", columns: "Sequence[Row]") -> "Figure":
    """Draw the risk of an original and of its release, and what each column no longer tells."""
    figure = blank((13, 4.8))
    left, right = figure.subplots(1, 2)
    comparison(figures, ax=left)
    losses(columns, ax=right)
    return figure
