"""How pictures look: told apart without colour, open at the top and the right, in words and shares."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from reid_sql.charts.marks import people, per_cent, short
from reid_sql.control_characters import escape_control_characters
from reid_sql.errors import ReidError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE: Final = "#1f6fb4"
DARK: Final = "#222222"
PALE: Final = "#d0d0d0"
RED: Final = "#b3261e"
STROKES: Final = ("-", "--", "-.", (0, (8, 3)), (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)))  # not by colour alone
MARKS: Final = ("o", "s", "^", "D", "v", "P")
HATCHED: Final[dict[str, Any]] = {"facecolor": "none", "edgecolor": BLUE, "hatch": "///"}
BAND: Final[dict[str, Any]] = {"facecolor": BLUE, "alpha": 0.2, "linewidth": 0}
ROUNDING: Final = 1e-9  # of the places of ticks
TICKS: Final = 7  # numbers of people that stand beside each other
DECADES: Final = 2  # fewer than these have ticks between their powers of ten


def sheet(ax: "Axes | None", size: tuple[float, float], panels: int = 1) -> "tuple[Figure, list[Axes]]":
    """The figure and its panels: the user's own axes, or those of a new figure that no window holds."""
    if ax is not None:
        return ax.get_figure(root=True), [ax]  # type: ignore[return-value]
    figure = blank(size)
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def blank(size: tuple[float, float]) -> "Figure":
    """A figure without panels; refuses where the chart library is not there."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional extra
    except ImportError:
        rule = "a picture needs the chart library matplotlib, got none"
        raise ReidError(f"{rule}; install it with: pip install 'reid-sql[plot]'") from None
    return Figure(figsize=size, layout="constrained")


def plain(text: object) -> str:
    """Words of the data as a chart writes them: every sign as it is, none a formula, control signs shown."""
    return short(text).replace("$", r"\$")


def in_legend(name: object) -> str:
    """The same in a legend, which leaves out what is empty or begins with an underscore."""
    shown = plain(name)
    return f" {shown}" if shown.startswith("_") or not shown else shown


def opened(axes: "Axes", title: str) -> None:
    """Leave the panel open at the top and the right, with its title."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, loc="left")


def in_shares(axes: "Axes", way: str) -> None:
    """Write the axis in per cent; beyond all people is only room for words."""
    from matplotlib.ticker import FuncFormatter  # noqa: PLC0415 - an optional extra

    shown = FuncFormatter(lambda share, _: per_cent(share) if share <= 1 + ROUNDING else "")
    (axes.xaxis if way == "x" else axes.yaxis).set_major_formatter(shown)


def over_people(axes: "Axes", words: str, sizes: Sequence[float], ticks: int = TICKS) -> None:
    """Make the horizontal axis one of numbers of people, logarithmic, written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - an optional extra

    axes.set_xscale("log")
    close = max(sizes) < 10**DECADES * min(sizes)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if close else (1.0,), numticks=ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: people(size)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(words)


def listed(axes: "Axes", names: Sequence[object]) -> None:
    """Put the names down the vertical axis, the first one at the top."""
    axes.set_yticks(range(len(names)), [plain(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)


def beneath(axes: "Axes", *, alone: bool) -> None:
    """Put the legend beneath the panel, where there is one; of the figure where no other panel is there."""
    if not axes.get_legend_handles_labels()[0]:
        return
    if alone:
        axes.get_figure(root=True).legend(loc="outside lower center", frameon=False, ncols=2)  # type: ignore[union-attr]
    else:  # the figure may hold other panels, whose words are not ours
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)


def unavailable(axes: "Axes", status: str) -> None:
    """Say why there is nothing to draw."""
    axes.text(0.5, 0.5, plain_lines(status), ha="center", va="center", transform=axes.transAxes)


def plain_lines(text: str, width: int = 46) -> str:
    """Words of any length, in lines."""
    from textwrap import wrap  # noqa: PLC0415 - only what is not available needs it

    return "\n".join(wrap(escape_control_characters(text).replace("$", r"\$"), width))
