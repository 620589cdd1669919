"""Whether a model foretells the very table that it was fitted to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reid_sql.charts.figures.style import BAND, BLUE, DARK, in_shares, opened, sheet
from reid_sql.errors import WrongTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reid_sql.models.people.diagnostics import Check


def model_check(checks: "Sequence[Check]", *, ax: "Axes | None" = None) -> "Figure":
    """Draw the table's share of people in small classes on what the model expects of such a table.

    A posterior predictive check, by `reid_sql.models.people.diagnostics`. Source: Rocher, Hendrickx & de
    Montjoye 2025, figure 1.
    """
    if not isinstance(checks, Sequence) or not all(hasattr(each, "expected") for each in checks):
        rule = f"model_check must be given the checks of a model, got {type(checks).__name__}"
        raise WrongTypeError(
            f"{rule}; pass what predictive_checks of reid_sql.models.people.diagnostics answers"
        )
    figure, (axes,) = sheet(ax, (6, 4.2))
    places = range(len(checks))
    low, high = [check.low for check in checks], [check.high for check in checks]
    axes.fill_between(places, low, high, label="95 % of tables that the model makes", **BAND)
    axes.plot(places, [check.expected for check in checks], color=BLUE, linestyle="--", label="expected")
    axes.plot(places, [check.observed for check in checks], "o", color=DARK, label="measured")
    axes.set_xticks(places, [f"{check.below:,}" for check in checks])
    axes.set(ylim=(0, 1.02), xlabel="in classes smaller than this many people")
    axes.set_ylabel("share of the table's people")
    in_shares(axes, "y")
    opened(axes, "Does the model foretell this table?")
    axes.legend(frameon=False)
    return figure
