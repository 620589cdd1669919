"""Draw charts with matplotlib: side by side in a figure, readable without colour, labels from the data."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from reid_sql.charts import spec
from reid_sql.charts.spec import Marker, Style
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.terminal.control_characters import escape_control_characters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE: Final = "#1f6fb4"
DARK: Final = "#222222"
PALE: Final = "#d0d0d0"
RED: Final = "#b3261e"
STYLES: Final[Mapping[Style | None, Mapping[str, Any]]] = {
    None: {"linestyle": ""},
    Style.PLAIN: {"facecolor": PALE, "edgecolor": DARK},
    Style.HATCHED: {"facecolor": "none", "edgecolor": RED, "hatch": "///"},
    Style.STRIPED: {"facecolor": "none", "edgecolor": BLUE, "hatch": "///"},
    Style.BAND: {"facecolor": BLUE, "alpha": 0.2, "linewidth": 0},
    Style.SOLID: {"color": DARK, "linestyle": "-"},
    Style.DASHED: {"color": BLUE, "linestyle": "--"},
    Style.DOTTED: {"color": DARK, "linestyle": ":"},
    Style.DASHES_AND_DOTS: {"color": DARK, "linestyle": "-."},
    Style.STROKE: {"color": BLUE, "linestyle": "-"},
    Style.MISSED: {"color": RED, "linestyle": "--"},
    Style.HERE: {"color": DARK, "linewidth": 1.0, "linestyle": (0, (1, 2))},
    Style.LIMIT: {"color": RED, "linewidth": 1.2},
}
MARKERS: Final[Mapping[Marker | None, Mapping[str, Any]]] = {
    None: {},
    Marker.DOT: {"color": BLUE, "marker": "o", "markersize": 5},
    Marker.POINT: {"color": DARK, "marker": "o", "markersize": 5},
    Marker.CROSS: {"color": DARK, "marker": "x", "markersize": 5},
    Marker.OPEN: {"color": DARK, "marker": "o", "markersize": 5, "fillstyle": "none"},
}
# Sizes in inches.
PANEL_WIDTH: Final = 4.2  # of each of several
WIDTH: Final = 7.5  # of one alone
HEIGHT: Final = 4.2
ROW_HEIGHT: Final = 0.34  # of a name
COLUMN_WIDTH: Final = 0.75  # of a cell
LETTER: Final = 6.0  # points of width, about
SWATCH: Final = 44  # points of width of a legend's sign, with the space about it
LEGEND_BELOW: Final = 42  # points from the axis to the legend, over the numbers and the label
BEHIND_WIDTH: Final = 60  # letters of a line behind a bar
MAX_LABEL: Final = 0.6  # of the width, for the words behind a bar
SHORT_NAME: Final = 12  # letters of names for which there is space
MARGIN: Final = 0.03  # of an axis of numbers, beyond its values
AWAY: Final = 4  # points from a rule to its words
FAR: Final = 0.8  # of the width, from where a label is left of its rule
DARK_SHADE: Final = 0.6  # of a cell, from which its words are white
MAX_UPRIGHT_NAME: Final = 6  # letters of a name below an axis that is not turned
SUFFIXES: Final = (".png", ".svg")
TITLE_WIDTH: Final = 100  # characters of a line of it


def draw(charts: spec.Chart | Sequence[spec.Chart], ax: "Axes | None" = None) -> "Figure":
    """Draw the charts side by side in a new figure, without a window, or one chart on the user's own axes."""
    listed = [charts] if isinstance(charts, spec.Chart) else list(charts)
    if ax is not None:
        if len(listed) > 1:
            rule = f"ax must be given for one chart, got {len(listed)} charts"
            raise OutOfDomainError(f"{rule}; keep the rows of one, or omit ax")
        _draw_chart(ax, listed[0], spec.MAX_PEOPLE_TICKS)
        _put_legend_beneath(ax)
        return ax.get_figure(root=True)  # type: ignore[return-value]
    figure = _blank_figure(listed)
    names = {tuple(chart.up.names) for chart in listed}
    panels = figure.subplots(
        1, len(listed), squeeze=False, sharey=len(names) == 1 and names != {()}
    )[0]
    for axes, chart in zip(panels, listed, strict=True):
        _draw_chart(axes, chart, spec.MAX_PEOPLE_TICKS // min(len(listed), 2))
    entries = [axes.get_legend_handles_labels() for axes in panels]
    handles = {words: handle for each in entries for handle, words in zip(*each, strict=True)}
    if handles:
        columns = _legend_columns(list(handles), figure.get_figwidth())
        place: dict[str, Any] = {"loc": "outside lower center", "frameon": False, "ncols": columns}
        figure.legend(handles.values(), handles.keys(), **place)
    return figure


def _blank_figure(charts: Sequence[spec.Chart]) -> "Figure":
    """Make a figure that the charts fit into; refuse if the chart library is missing."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional extra
    except ImportError:
        rule = "a chart needs the chart library matplotlib, got none"
        raise ReidError(f"{rule}; install it with: pip install 'reid-sql[plot]'") from None
    columns = max(len(chart.across.names) for chart in charts)
    cells = any(isinstance(mark, spec.Cells) for chart in charts for mark in chart.marks)
    alone = max(WIDTH, 2.5 + COLUMN_WIDTH * columns) if cells else WIDTH
    letters = max((len(name) for chart in charts for name in chart.up.names), default=0)
    width = alone if len(charts) == 1 else 2.0 + PANEL_WIDTH * len(charts)
    width += LETTER / 72 * max(0, min(letters, spec.MAX_NAME_LENGTH) - SHORT_NAME)
    rows = [
        1.8 + ROW_HEIGHT * len(chart.up.names) if chart.up.names else HEIGHT for chart in charts
    ]
    return Figure(figsize=(width, max(rows)), layout="constrained")


def plain_label(text: object) -> str:
    """Return text of the data as a label: no formula, control characters escaped, at most 40 characters."""
    return spec.shorten_name(text).replace("$", r"\$")


def _legend_entry(words: str) -> dict[str, Any]:
    """Return the entry of a mark with words; a legend would omit words that begin with an underscore."""
    shown = escape_control_characters(words).replace("$", r"\$")
    return {"label": f" {shown}" if shown.startswith("_") else shown} if words else {}


def wrap_plain(text: str, width: int = 46) -> str:
    """Wrap text of any length into lines."""
    return "\n".join(wrap(escape_control_characters(text).replace("$", r"\$"), width))


def _draw_chart(axes: "Axes", chart: spec.Chart, ticks: int) -> None:
    for mark in chart.marks:
        if isinstance(mark, spec.Rule):
            _rule(axes, mark, chart)
        else:
            DRAW[type(mark)](axes, mark)
    if chart.instead:
        axes.text(
            0.5, 0.5, wrap_plain(chart.instead), ha="center", va="center", transform=axes.transAxes
        )
    axes.set(xlabel=chart.across.words, ylabel=chart.up.words)
    _scale_axes(axes, chart, ticks)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(wrap_plain(chart.title, TITLE_WIDTH), loc="left")


def _scale_axes(axes: "Axes", chart: spec.Chart, ticks: int) -> None:
    """Set the scale, the ends and the labels of each axis."""
    if chart.across.scale is spec.Scale.PEOPLE:
        axes.set_xscale("log")
    if chart.up.scale is spec.Scale.SYMLOG:
        axes.set_yscale("symlog", linthresh=chart.up.linear)
    across, up = (spec.list_ticks(axis, ticks) for axis in (chart.across, chart.up))
    turned = any(len(name) > MAX_UPRIGHT_NAME for name in chart.across.names)
    how: dict[str, Any] = {"rotation": 40, "ha": "right"} if turned else {}
    axes.set_xticks([at for at, _ in across], [plain_label(words) for _, words in across], **how)
    axes.set_yticks([at for at, _ in up], [plain_label(words) for _, words in up])
    axes.minorticks_off()
    low, high = _widen(chart.across)
    axes.set_xlim(0.0 if any(_bars_of(chart)) else low, _end_of_labels(axes, chart, high))
    axes.set_ylim(*(reversed(_widen(chart.up)) if chart.up.names else _widen(chart.up)))
    if chart.up.names:
        axes.tick_params(axis="y", length=0)


def _bars_of(chart: spec.Chart) -> list[tuple[float, str]]:
    """Return the length of each bar, and the words behind it."""
    bars = [mark for mark in chart.marks if isinstance(mark, spec.Bars)]
    return [
        (length or 0.0, words)
        for bar in bars
        for length, words in zip(bar.lengths, bar.behind, strict=True)
    ]


def _end_of_labels(axes: "Axes", chart: spec.Chart, high: float) -> float:
    """Return the end of the axis where the words behind each bar fit on it."""
    figure: Any = axes.get_figure(root=True)
    points = 72 * axes.get_position().width * figure.get_figwidth()
    shares = [
        (length, min(MAX_LABEL, LETTER * (len(words) + 1) / points))
        for length, words in _bars_of(chart)
    ]
    return float(max([high, *(length / (1 - share) for length, share in shares)]))


def _widen(axis: spec.Axis) -> tuple[float, float]:
    """Return the ends of the axis with a margin beyond its values."""
    if axis.scale is spec.Scale.NAMES:
        return axis.low, axis.high
    if axis.scale is spec.Scale.PEOPLE:
        ratio = (axis.high / axis.low) ** MARGIN
        return axis.low / ratio, axis.high * ratio
    beyond = MARGIN * (axis.high - axis.low)
    return axis.low - beyond, axis.high + beyond


def _put_legend_beneath(axes: "Axes") -> None:
    """Put the legend below the label of the lower axis: the figure may contain other charts."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415 - an optional extra

    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure: Any = axes.get_figure(root=True)
        below = axes.transAxes + ScaledTranslation(0, -LEGEND_BELOW / 72, figure.dpi_scale_trans)
        place: dict[str, Any] = {
            "bbox_to_anchor": (0.5, 0.0),
            "bbox_transform": below,
            "borderaxespad": 0.0,
        }
        columns = _legend_columns(labels, figure.get_figwidth() / len(figure.axes))
        axes.legend(handles, labels, loc="upper center", ncols=columns, frameon=False, **place)


def _legend_columns(labels: Sequence[str], inches: float) -> int:
    """Return the number of columns of a legend that fit into a width."""
    return max(1, min(len(labels), int(72 * inches / (SWATCH + LETTER * max(map(len, labels))))))


def _bars(axes: "Axes", bars: spec.Bars) -> None:
    shown = [
        each
        for each in zip(bars.places, bars.lengths, bars.behind, strict=True)
        if each[1] is not None
    ]
    places, lengths, behind = zip(*shown, strict=True) if shown else ((), (), ())
    drawn = axes.barh(places, lengths, **_legend_entry(bars.words), **STYLES[bars.style])
    axes.bar_label(drawn, [wrap_plain(words, BEHIND_WIDTH) for words in behind], padding=4)


def _line(axes: "Axes", line: spec.Line) -> None:
    look = {**MARKERS[line.marker], **STYLES[line.style]}
    axes.plot(line.across, line.up, markevery=line.every, **_legend_entry(line.words), **look)


def _band(axes: "Axes", band: spec.Band) -> None:
    axes.fill_between(
        band.across, band.low, band.high, **_legend_entry(band.words), **STYLES[band.style]
    )


def _strokes(axes: "Axes", strokes: spec.Strokes) -> None:
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - an optional extra

    axes.add_collection(
        LineCollection(strokes.ends, **_legend_entry(strokes.words), **STYLES[strokes.style])
    )


def _cells(axes: "Axes", cells: spec.Cells) -> None:
    for x, y, shade, words in zip(cells.across, cells.up, cells.shades, cells.words, strict=True):
        axes.barh(y, 1.0, height=1.0, left=x - 0.5, color=BLUE, alpha=shade)
        axes.text(
            x,
            y,
            words,
            ha="center",
            va="center",
            color="white" if shade > DARK_SHADE else "black",
            fontsize=8,
        )


def _rule(axes: "Axes", rule: spec.Rule, chart: spec.Chart) -> None:
    """Draw a rule with its words at its upper end, or above its left end."""
    words = plain_label(rule.words)
    how: dict[str, Any] = {"textcoords": "offset points"}
    if rule.upright:
        axes.axvline(rule.at, **STYLES[rule.style])
        before = spec.position_on(chart.across, rule.at) > FAR and not chart.up.names
        how |= {
            "xycoords": ("data", "axes fraction"),
            "va": "top",
            "ha": "right" if before else "left",
        }
        place, away = (rule.at, 1.0), (-AWAY if before else AWAY, 0)
    else:
        axes.axhline(rule.at, **STYLES[rule.style])
        how |= {"xycoords": ("axes fraction", "data"), "va": "bottom"}
        place, away = (0.0, rule.at), (AWAY, 1)
    if words:
        axes.annotate(words, place, away, **how)


DRAW: Final[dict[type, Callable[..., None]]] = {
    spec.Bars: _bars,
    spec.Line: _line,
    spec.Band: _band,
    spec.Strokes: _strokes,
    spec.Cells: _cells,
}


def check_plot_file(file: str) -> None:
    """Refuse a file that is neither PNG nor SVG, or a missing chart library, before any counting."""
    if Path(file).suffix not in SUFFIXES:
        raise OutOfDomainError(
            f"--plot must be a PNG or SVG file, got '{file}'; name it like forecast.svg"
        )
    if not Path(file).absolute().parent.is_dir():
        raise OutOfDomainError(
            f"--plot must be in an existing folder, got '{file}'; make the folder first"
        )
    try:
        import matplotlib  # noqa: F401, ICN001, PLC0415 - an optional extra
    except ImportError:
        remedy = "install it with: pip install 'reid-sql[plot]'"
        raise ReidError(f"--plot needs the chart library matplotlib, got none; {remedy}") from None


def save(
    charts: spec.Chart | Sequence[spec.Chart], title: str, file: str, people: str = ""
) -> None:
    """Draw the charts into the file, under a title.

    `people` describes how people are counted, or warns that rows may not be people.
    """
    figure = draw(charts)
    figure.suptitle("\n".join(wrap_plain(each, TITLE_WIDTH) for each in (title, people) if each))
    figure.savefig(file, dpi=150)
