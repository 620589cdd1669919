"""Draw a chart with matplotlib: readable without colour, axes in percent or people, labels from the data."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from reid_sql.charts.spec import (
    Band,
    Bars,
    Chart,
    Dots,
    Line,
    Rule,
    Scale,
    Style,
    format_people,
    format_share,
    position_on,
    shorten_name,
)
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
TICKS: Final = 7  # numbers of people that fit next to each other
DECADES: Final = 2  # fewer than these have ticks between their powers of ten
STYLES: Final[Mapping[Style, Mapping[str, Any]]] = {
    Style.PLAIN: {"color": PALE, "edgecolor": DARK},
    Style.HATCHED: HATCHED | {"edgecolor": RED},
    Style.SOLID: {"color": DARK},
    Style.DASHED: {"color": BLUE, "linestyle": "--"},
    Style.DOTTED: {"color": DARK, "linestyle": ":"},
    Style.DASHES_AND_DOTS: {"color": DARK, "linestyle": "-."},
    Style.DOT: {"color": BLUE, "linestyle": "", "marker": "o"},
    Style.CROSS: {"color": DARK, "linestyle": "", "marker": "x"},
    Style.HERE: {"color": DARK, "linewidth": 1.0, "linestyle": (0, (1, 2))},
    Style.LIMIT: {"color": RED, "linewidth": 1.2},
}
BEHIND: Final = 0.018  # of the width, for a letter behind a bar
MARGIN: Final = 0.05  # beyond the values
AWAY: Final = 4  # points from a rule to its words
FAR: Final = 0.8  # of the width, from where a label is left of its rule


def figure_and_panels(
    ax: "Axes | None", size: tuple[float, float], panels: int = 1
) -> "tuple[Figure, list[Axes]]":
    """Return a figure and its panels: the user's own axes, or those of a new figure without a window."""
    if ax is not None:
        return ax.get_figure(root=True), [ax]  # type: ignore[return-value]
    figure = blank_figure(size)
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def blank_figure(size: tuple[float, float]) -> "Figure":
    """Make a figure without panels; refuse if the chart library is missing."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional extra
    except ImportError:
        rule = "a chart needs the chart library matplotlib, got none"
        raise ReidError(f"{rule}; install it with: pip install 'reid-sql[plot]'") from None
    return Figure(figsize=size, layout="constrained")


def plain_label(text: object) -> str:
    """Return text of the data as a label: no formula, control characters escaped, at most 40 characters."""
    return shorten_name(text).replace("$", r"\$")


def legend_label(name: object) -> str:
    """Return a label for a legend, which would omit empty labels and those that begin with an underscore."""
    shown = plain_label(name)
    return f" {shown}" if shown.startswith("_") or not shown else shown


def set_title(axes: "Axes", title: str) -> None:
    """Set the title, and remove the frame at the top and the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, loc="left")


def label_in_percent(axes: "Axes", way: str) -> None:
    """Label the axis in percent; beyond 100 % there is only space for words."""
    from matplotlib.ticker import FuncFormatter  # noqa: PLC0415 - an optional extra

    shown = FuncFormatter(lambda share, _: format_share(share) if share <= 1 + ROUNDING else "")
    (axes.xaxis if way == "x" else axes.yaxis).set_major_formatter(shown)


def scale_to_people(axes: "Axes", words: str, sizes: Sequence[float], ticks: int = TICKS) -> None:
    """Make the horizontal axis a logarithmic one of numbers of people, written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - an optional extra

    axes.set_xscale("log")
    close = max(sizes) < 10**DECADES * min(sizes)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if close else (1.0,), numticks=ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_people(size)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(words)


def list_names(axes: "Axes", names: Sequence[object]) -> None:
    """Write the names down the vertical axis, the first one at the top."""
    axes.set_yticks(range(len(names)), [plain_label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)


def put_legend_beneath(axes: "Axes", *, alone: bool) -> None:
    """Put the legend below the panel, or below the figure if the panel is the only one."""
    if not axes.get_legend_handles_labels()[0]:
        return
    if alone:
        axes.get_figure(root=True).legend(loc="outside lower center", frameon=False, ncols=2)  # type: ignore[union-attr]
    else:  # the figure may contain other panels, with legends of their own
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)


def write_status(axes: "Axes", status: str) -> None:
    """Write why there is nothing to draw."""
    axes.text(0.5, 0.5, wrap_plain(status), ha="center", va="center", transform=axes.transAxes)


def wrap_plain(text: str, width: int = 46) -> str:
    """Wrap text of any length into lines."""
    return "\n".join(wrap(escape_control_characters(text).replace("$", r"\$"), width))


def draw_chart(axes: "Axes", chart: Chart, ticks: int = TICKS, *, alone: bool = False) -> None:
    """Draw the chart on the axes; `ticks` are the numbers of people that fit on its axis.

    Bars leave no space for a legend: it goes below the panel, or below the figure if the panel is `alone`.
    """
    for mark in chart.marks:
        if isinstance(mark, Rule):
            _rule(axes, mark, chart)
        else:
            DRAW[type(mark)](axes, mark)
    if chart.instead:
        write_status(axes, chart.instead)
    _scale_axes(axes, chart, ticks)
    axes.set(xlabel=chart.across.words, ylabel=chart.up.words)
    set_title(axes, plain_label(chart.title))
    if chart.up.names:
        put_legend_beneath(axes, alone=alone)
    elif axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)


def _scale_axes(axes: "Axes", chart: Chart, ticks: int) -> None:
    """Set the ends of each axis, its numbers or names, and space for the words behind bars."""
    across, up = chart.across, chart.up
    if across.scale is Scale.PEOPLE:
        scale_to_people(axes, across.words, (across.low, across.high), ticks)
        ratio = (across.high / across.low) ** MARGIN
        axes.set_xlim(across.low / ratio, across.high * ratio)
    else:
        letters = [len(words) for mark in chart.marks if isinstance(mark, Bars) for words in mark.behind]
        axes.set_xlim(across.low, across.high * (1 + BEHIND * max(letters, default=0)))
        label_in_percent(axes, "x")
    if up.scale is Scale.NAMES:
        list_names(axes, up.names)
    else:
        below = MARGIN * up.high if any(isinstance(mark, Dots) for mark in chart.marks) else 0.0
        axes.set_ylim(up.low - below, up.high)
        label_in_percent(axes, "y")


def _bars(axes: "Axes", bars: Bars) -> None:
    shown = [each for each in zip(bars.places, bars.lengths, bars.behind, strict=True) if each[1] is not None]
    places, lengths, behind = zip(*shown, strict=True) if shown else ((), (), ())
    named: dict[str, Any] = {"label": legend_label(bars.words)} if bars.words else {}
    axes.bar_label(axes.barh(places, lengths, **named, **STYLES[bars.style]), behind, padding=4)


def _line(axes: "Axes", line: Line) -> None:
    mark: dict[str, Any] = {"marker": "o", "markersize": 4} if line.marked else {}
    axes.plot(line.across, line.up, label=legend_label(line.words), **mark, **STYLES[line.style])


def _dots(axes: "Axes", dots: Dots) -> None:
    axes.plot(dots.across, dots.up, markersize=5, label=legend_label(dots.words), **STYLES[dots.style])


def _band(axes: "Axes", band: Band) -> None:
    if len(band.across) > 1:
        axes.fill_between(band.across, band.low, band.high, label=legend_label(band.words), **BAND)
    else:
        axes.vlines(band.across, band.low, band.high, color=BLUE, linewidth=2, label=legend_label(band.words))


def _rule(axes: "Axes", rule: Rule, chart: Chart) -> None:
    """Draw a rule with its words at its upper end, or above its left end."""
    words = plain_label(rule.words)
    how: dict[str, Any] = {"textcoords": "offset points"}
    if rule.upright:
        axes.axvline(rule.at, **STYLES[rule.style])
        before = position_on(chart.across, rule.at) > FAR and not chart.up.names
        how |= {"xycoords": ("data", "axes fraction"), "va": "top", "ha": "right" if before else "left"}
        axes.annotate(words, (rule.at, 1.0), (-AWAY if before else AWAY, 0), **how)
    else:
        axes.axhline(rule.at, **STYLES[rule.style])
        how |= {"xycoords": ("axes fraction", "data"), "va": "bottom"}
        axes.annotate(words, (0.0, rule.at), (AWAY, 1), **how)


DRAW: Final[dict[type, Callable[..., None]]] = {
    Bars: _bars,
    Line: _line,
    Dots: _dots,
    Band: _band,
}
