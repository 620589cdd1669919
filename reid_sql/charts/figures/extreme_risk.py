"""Extreme risk: over choices of columns, what each record adds, and what removals do."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures.answers import Row, rows_of
from reid_sql.charts.figures.style import (
    BLUE,
    DARK,
    HATCHED,
    MARKS,
    PALE,
    STROKES,
    in_legend,
    in_shares,
    opened,
    sheet,
    unavailable,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST: Final = 1e-4  # a share that is there to be seen where nothing falls
BINS: Final = 40  # of the risk over choices
RISK: Final = ("risk", "risk_low", "risk_high", "threshold")


def choices(answer: object, risk: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw how many choices of columns have which risk, and the extreme risk with its interval.

    Of the answers of `qar_quasi_identifiers` and of `qar_risk`.
    """
    rows = rows_of("choices", answer, "qar_quasi_identifiers", ("risk",))
    extreme = rows_of("choices", risk, "qar_risk", RISK)[0]
    figure, (axes,) = sheet(ax, (7, 4.5))
    axes.hist([row["risk"] for row in rows], bins=BINS, color=PALE, edgecolor=DARK, linewidth=0.5)
    if extreme["risk"] is not None:
        words = f"extreme risk: {100 * extreme['risk']:.1f} %"
        axes.axvline(extreme["risk"], color=BLUE, linewidth=2, label=words)
    if extreme["risk_low"] is not None:
        look = HATCHED | {"linewidth": 0, "alpha": 0.6}
        axes.axvspan(extreme["risk_low"], extreme["risk_high"], label="its 95 % interval", **look)
    if extreme["threshold"] is not None:
        axes.axvline(extreme["threshold"], color=DARK, linestyle=":", label="the law is fitted beyond")
    axes.set(xlabel="different combinations, as a share of the people", ylabel="choices of columns")
    axes.locator_params(axis="y", integer=True)
    axes.margins(y=0.35)
    in_shares(axes, "x")
    opened(axes, "Risk of each choice of columns")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper center", framealpha=1)
    return figure


def contributions(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw by how much the extreme risk would fall without each record, those that add most first.

    Of the answer of `qar_contributions`.
    """
    rows = rows_of("contributions", answer, "qar_contributions", ("contribution",))
    ranked = sorted((row["contribution"] for row in rows if row["contribution"] is not None), reverse=True)
    figure, (axes,) = sheet(ax, (6.5, 4.5))
    if ranked:
        axes.plot(range(1, len(ranked) + 1), ranked, color=DARK, drawstyle="steps-mid")
    else:
        unavailable(axes, str(rows[0].get("status")))
    axes.margins(y=0.1)
    axes.axhline(0, color=DARK, linewidth=0.8, linestyle=":")
    if ranked and ranked[0] > 0:
        axes.set_yscale("symlog", linthresh=ranked[0])  # some hold the risk down by far more
    axes.set(xlabel="people, those who add most first", ylabel="fall of the extreme risk without them")
    in_shares(axes, "y")
    opened(axes, "What each person adds to the extreme risk")
    return figure


def elimination(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw by what share the extreme risk falls with removals, under the most that any removals could do.

    Of the answer of `qar_elimination`, or of several of them by the names of the orders that chose the
    records, a line each.
    """
    given = answer if isinstance(answer, Mapping) and answer else {"removals": answer}
    paths = {
        by: sorted(
            rows_of("elimination", rows, "qar_elimination", ("step", "risk", "bound"), "step"), key=_step
        )
        for by, rows in given.items()
    }
    figure, (axes,) = sheet(ax, (8, 4.5))
    falls = {by: _falls(rows, "risk") for by, rows in paths.items()}
    for (by, (removed, fall)), stroke, mark in zip(falls.items(), cycle(STROKES), cycle(MARKS)):
        every = max(1, len(removed) // 6)
        axes.plot(
            removed, fall, linestyle=stroke, marker=mark, markevery=every, markersize=4, label=in_legend(by)
        )
    shown = [value for _, fall in falls.values() for value in fall]
    low, most_of_all = min(shown, default=0.0), max(shown, default=0.0)
    high = min(1.0, most_of_all + 0.4 * (most_of_all - low) + LEAST)  # room for the names of the lines
    removed, most = _falls(max(paths.values(), key=len), "bound")
    if any(fall <= high for fall in most[1:]):
        axes.plot(removed, most, color=DARK, linewidth=0.8, linestyle=":", label="no removal does more")
    axes.axhline(0, color=DARK, linewidth=0.8)
    axes.set(xlabel="people removed", ylabel="fall of the extreme risk, as a share of it")
    axes.set_ylim(low - 0.1 * (high - low), high)
    in_shares(axes, "y")
    opened(axes, "What removing people does, by the order that chooses them")
    axes.legend(frameon=False, loc="upper left", ncols=4)
    return figure


def _step(row: Row) -> int:
    return int(row["step"])


def _falls(rows: Sequence[Row], column: str) -> tuple[list[int], list[float]]:
    """Steps with a figure, and the fall from the risk of the whole table to it."""
    known = [row for row in rows if row[column] is not None]
    return [row["step"] for row in known], [1 - row[column] / rows[0]["risk"] for row in known]
