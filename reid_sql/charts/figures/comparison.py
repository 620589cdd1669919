"""A release beside its original: the risk of both, and what each column no longer tells."""

from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures.answers import Row, rows_of
from reid_sql.charts.figures.style import DARK, HATCHED, PALE, in_shares, listed, opened, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RISKS: Final = {
    "uniqueness": "alone in their class",
    "records_at_risk": "at risk above the threshold",
    "average_risk": "matched rightly by their values",
    "correct_links": "matched rightly by an attack",
    "certain_links": "and the attacker can be sure",
}
NEEDED: Final = ("measure", "original", "released")


def comparison(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the risk of an original beside that of its release.

    Of the answer of `compare`, shares of the people; what is not known has no bar.
    """
    rows = rows_of("comparison", answer, "compare", NEEDED, "measure")
    figures = {row["measure"]: row for row in rows}
    names = [name for name in RISKS if name in figures]
    figure, (axes,) = sheet(ax, (7.5, 4.2))
    for side, shift, look in (
        ("original", -0.2, {"color": PALE, "edgecolor": DARK}),
        ("released", 0.2, HATCHED),
    ):
        shares = [figures[name][side] for name in names]
        at = [place + shift for place, share in enumerate(shares) if share is not None]
        known = [share for share in shares if share is not None]
        bars = axes.barh(at, known, height=0.38, label=side, **look)
        axes.bar_label(bars, [f"{100 * share:.3g} %" for share in known], padding=3)
    listed(axes, [RISKS[name] for name in names])
    axes.set(xlim=(0, 1.15), xlabel="share of the people")
    in_shares(axes, "x")
    opened(axes, "Risk, and right links of an attack")
    axes.legend(frameon=False, loc="lower right")
    return figure


def losses(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the share of each column's information that a release no longer tells, where it is known.

    Of the answer of `compare_columns`.
    """
    rows = rows_of("losses", answer, "compare_columns", ("column_name", "information_loss"), "column_name")
    figure, (axes,) = sheet(ax, (6.5, 1.8 + 0.34 * len(rows)))
    lost = [row["information_loss"] or 0.0 for row in rows]
    bars = axes.barh(range(len(rows)), lost, color=PALE, edgecolor=DARK)
    axes.bar_label(bars, [_told(row) for row in rows], padding=3)
    listed(axes, [row["column_name"] for row in rows])
    axes.set(xlim=(0, 1.15), xlabel="share of the column's information that is lost")
    in_shares(axes, "x")
    opened(axes, "What each column no longer tells")
    return figure


def _told(row: Row) -> str:
    return "not known" if row["information_loss"] is None else f"{100 * row['information_loss']:.3g} %"
