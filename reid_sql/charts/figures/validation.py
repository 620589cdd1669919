"""What each method says of samples of a table, beside the truth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from reid_sql.charts.figures.answers import Row, rows_of
from reid_sql.charts.figures.style import BLUE, DARK, RED, in_shares, listed, opened, sheet
from reid_sql.errors import OutOfDomainError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "validation"
NEEDED: Final = ("method", "fraction", "sample", "figure", "value", "low", "high", "truth")


def validation(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw what each method says of samples of a table whose truth is counted, each with its interval.

    Of the answer of `validate_risk`, the share of people who are alone in their class; a panel a size of the
    samples. An interval that missed the truth is dashed, and its estimate is a cross.
    """
    rows = rows_of(HERE, answer, "validate_risk", NEEDED)
    fractions = sorted({row["fraction"] for row in rows}, reverse=True)
    if ax is not None and len(fractions) > 1:
        rule = f"ax must be given for samples of one size, got {len(fractions)} sizes"
        raise OutOfDomainError(f"{rule}; keep the rows of one fraction, or leave ax away")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, panels = sheet(ax, (2.5 + 4.2 * len(fractions), 1.8 + 0.36 * len(methods)), len(fractions))
    truth = next(row["truth"] for row in rows if row["truth"] is not None)
    for axes, fraction in zip(panels, fractions, strict=True):
        told = [row for row in rows if row["sample"] and row["figure"] == "uniqueness"]
        _estimates(
            axes, [row for row in told if row["fraction"] == fraction and row["value"] is not None], methods
        )
        axes.axvline(truth, color=DARK, linewidth=1.2, label="the truth")
        listed(axes, methods if axes is panels[0] else [""] * len(methods))
        axes.set(xlim=(-0.01, 1.01), xlabel="share of people who are alone in their class")
        in_shares(axes, "x")
        opened(axes, f"Samples of {100 * fraction:g} % of the table")
    handles = {
        word: handle
        for axes in panels
        for handle, word in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def _estimates(axes: "Axes", rows: Sequence[Row], methods: Sequence[str]) -> None:
    """Draw each estimate on the line of its method, the samples one below the other."""
    most = max((row["sample"] for row in rows), default=1)
    for row in rows:
        line = methods.index(row["method"]) + 0.6 * (row["sample"] - (most + 1) / 2) / most
        within = row["low"] is not None and row["high"] is not None
        missed = within and not row["low"] <= row["truth"] <= row["high"]
        if within:
            look: dict[str, Any] = {"color": RED, "linestyle": "--"} if missed else {"color": BLUE}
            words = "95 % interval that missed it" if missed else "95 % interval that held it"
            axes.hlines(line, row["low"], row["high"], linewidth=1, label=words, **look)
        mark, words = ("x", "its estimate") if missed else ("o", "estimate")
        axes.plot(row["value"], line, mark, markersize=4, color=DARK, label=words)
