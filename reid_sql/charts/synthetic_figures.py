"""The figure of attacks on a synthetic table: what each has in excess of its control."""

from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures import Row, rows_of
from reid_sql.charts.renderer import BLUE, DARK, figure_and_panels, label_in_percent, list_names, set_title
from reid_sql.errors import OutOfDomainError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ATTACK_COLUMNS: Final = ("attack", "column_name", "figure", "excess", "low", "high")
LEFT_OUT: Final = "true_positives"  # of each score of membership; its area is drawn, and the strongest of all
ROW_HEIGHT: Final = 0.28  # inches


def attacks(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the excess of each attack over people who were not used, in its 95 % interval.

    Of the answer of `audit_synthetic`. A full mark has an interval above 0: the synthetic table gives away
    its people. Of each membership score the area is drawn, less a half.

    >>> row = {"attack": "linkability", "column_name": None, "figure": "share"}
    >>> figure = attacks([row | {"excess": 0.1, "low": 0.05, "high": 0.15}])
    >>> [float(place) for place in figure.axes[0].lines[0].get_xdata()]
    [0.1]
    """
    rows = rows_of("attacks", answer, "audit_synthetic", ATTACK_COLUMNS)
    shown = [row for row in rows if row["excess"] is not None and not row["figure"].startswith(LEFT_OUT)]
    if not shown:
        raise OutOfDomainError(
            "attacks must be given the answer of audit_synthetic with a holdout, got one without any excess; "
            "pass holdout := people who were not used"
        )
    figure, (axes,) = figure_and_panels(ax, (8, 1.6 + ROW_HEIGHT * len(shown)))
    places = dict(enumerate(shown))
    axes.hlines(list(places), [r["low"] for r in shown], [r["high"] for r in shown], color=DARK)
    for is_above, color, label in (
        (True, BLUE, "gives away its people: the interval is above 0"),
        (False, DARK, "the interval contains 0, or lies below"),
    ):
        some = [place for place, row in places.items() if (row["low"] > 0) is is_above]
        (marks,) = axes.plot([places[place]["excess"] for place in some], some, "o", color=color, label=label)
        marks.set_fillstyle("full" if is_above else "none")
    axes.axvline(0, color=DARK, linewidth=0.8, linestyle=":")
    list_names(axes, [_name(row) for row in shown])
    axes.set(xlabel="excess over people who were not used, with its 95 % interval")
    label_in_percent(axes, "x")
    set_title(axes, "What attacks learn of the people behind a synthetic table")
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.4, -1.1 / len(shown) - 0.05), ncols=2)
    return figure


def _name(row: Row) -> str:
    words = str(row["attack"]).replace("_", " ")
    if row["column_name"] is not None:
        return f"{words}: {row['column_name']}"
    return words if row["figure"].startswith("share") else f"{words} ({row['figure']})".replace("_", " ")
