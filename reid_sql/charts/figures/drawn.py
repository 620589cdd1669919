"""A described picture as matplotlib draws it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from reid_sql.charts.figures.style import (
    BAND,
    BLUE,
    DARK,
    HATCHED,
    PALE,
    RED,
    TICKS,
    beneath,
    in_legend,
    in_shares,
    listed,
    opened,
    over_people,
    plain,
    unavailable,
)
from reid_sql.charts.marks import Band, Bars, Dots, Line, Look, Picture, Rule, Scale
from reid_sql.charts.ticks import placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS: Final[Mapping[Look, Mapping[str, Any]]] = {
    Look.PLAIN: {"color": PALE, "edgecolor": DARK},
    Look.HATCHED: HATCHED | {"edgecolor": RED},
    Look.SOLID: {"color": DARK},
    Look.DASHED: {"color": BLUE, "linestyle": "--"},
    Look.DOTTED: {"color": DARK, "linestyle": ":"},
    Look.DASHES_AND_DOTS: {"color": DARK, "linestyle": "-."},
    Look.DOT: {"color": BLUE, "linestyle": "", "marker": "o"},
    Look.CROSS: {"color": DARK, "linestyle": "", "marker": "x"},
    Look.HERE: {"color": DARK, "linewidth": 1.0, "linestyle": (0, (1, 2))},
    Look.LIMIT: {"color": RED, "linewidth": 1.2},
}
BEHIND: Final = 0.018  # of the width, for a letter behind a bar
MARGIN: Final = 0.05  # beyond the values
AWAY: Final = 4  # points from a rule to its words
FAR: Final = 0.8  # of the width, from where words stand before a rule; behind bars there is room


def drawn(axes: "Axes", picture: Picture, ticks: int = TICKS, *, alone: bool = False) -> None:
    """Draw the picture on the axes; `ticks` are the numbers of people that have room beside each other.

    Bars leave no room for a legend: it stands beneath, outside the panel where that is `alone` in its figure.
    """
    for mark in picture.marks:
        if isinstance(mark, Rule):
            _rule(axes, mark, picture)
        else:
            DRAW[type(mark)](axes, mark)
    if picture.instead:
        unavailable(axes, picture.instead)
    _scaled(axes, picture, ticks)
    axes.set(xlabel=picture.across.words, ylabel=picture.up.words)
    opened(axes, plain(picture.title))
    if picture.up.names:
        beneath(axes, alone=alone)
    elif axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)


def _scaled(axes: "Axes", picture: Picture, ticks: int) -> None:
    """Give each axis its ends, its numbers or names, and room for the words behind bars."""
    across, up = picture.across, picture.up
    if across.scale is Scale.PEOPLE:
        over_people(axes, across.words, (across.low, across.high), ticks)
        ratio = (across.high / across.low) ** MARGIN
        axes.set_xlim(across.low / ratio, across.high * ratio)
    else:
        letters = [len(words) for mark in picture.marks if isinstance(mark, Bars) for words in mark.behind]
        axes.set_xlim(across.low, across.high * (1 + BEHIND * max(letters, default=0)))
        in_shares(axes, "x")
    if up.scale is Scale.NAMES:
        listed(axes, up.names)
    else:
        below = MARGIN * up.high if any(isinstance(mark, Dots) for mark in picture.marks) else 0.0
        axes.set_ylim(up.low - below, up.high)
        in_shares(axes, "y")


def _bars(axes: "Axes", bars: Bars) -> None:
    told = [each for each in zip(bars.places, bars.lengths, bars.behind, strict=True) if each[1] is not None]
    places, lengths, behind = zip(*told, strict=True) if told else ((), (), ())
    named: dict[str, Any] = {"label": in_legend(bars.words)} if bars.words else {}
    axes.bar_label(axes.barh(places, lengths, **named, **LOOKS[bars.look]), behind, padding=4)


def _line(axes: "Axes", line: Line) -> None:
    mark: dict[str, Any] = {"marker": "o", "markersize": 4} if line.marked else {}
    axes.plot(line.across, line.up, label=in_legend(line.words), **mark, **LOOKS[line.look])


def _dots(axes: "Axes", dots: Dots) -> None:
    axes.plot(dots.across, dots.up, markersize=5, label=in_legend(dots.words), **LOOKS[dots.look])


def _band(axes: "Axes", band: Band) -> None:
    if len(band.across) > 1:
        axes.fill_between(band.across, band.low, band.high, label=in_legend(band.words), **BAND)
    else:
        axes.vlines(band.across, band.low, band.high, color=BLUE, linewidth=2, label=in_legend(band.words))


def _rule(axes: "Axes", rule: Rule, picture: Picture) -> None:
    """A rule, with its words beside it: at its upper end, or above its left one."""
    words = plain(rule.words)
    how: dict[str, Any] = {"textcoords": "offset points"}
    if rule.upright:
        axes.axvline(rule.at, **LOOKS[rule.look])
        before = placed(picture.across, rule.at) > FAR and not picture.up.names
        how |= {"xycoords": ("data", "axes fraction"), "va": "top", "ha": "right" if before else "left"}
        axes.annotate(words, (rule.at, 1.0), (-AWAY if before else AWAY, 0), **how)
    else:
        axes.axhline(rule.at, **LOOKS[rule.look])
        how |= {"xycoords": ("axes fraction", "data"), "va": "bottom"}
        axes.annotate(words, (0.0, rule.at), (AWAY, 1), **how)


DRAW: Final[dict[type, Callable[..., None]]] = {
    Bars: _bars,
    Line: _line,
    Dots: _dots,
    Band: _band,
}
