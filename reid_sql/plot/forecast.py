"""What becomes of the risk in larger populations: shares over people, in their 95 % intervals."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final, NoReturn

from reid_sql.errors import UnknownNameError
from reid_sql.plot.answers import Row, rows_of
from reid_sql.plot.style import (
    BAND,
    BLUE,
    DARK,
    TICKS,
    in_legend,
    in_shares,
    opened,
    over_people,
    sheet,
    unavailable,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "forecast"
FUNCTIONS: Final = "population_risk, pyc_forecast, pyc_extrapolate or copula_forecast"
SHARES: Final[Mapping[str, str]] = {
    "correctness": "matches that name the right person",
    "uniqueness": "people who are alone with their values",
    "below_k": "people in classes smaller than k",
    "k_violation": "people in classes smaller than k",
}
BESIDE: Final = (":", "-.")  # strokes of other methods
WIDE: Final = 30  # times a single population that the axis reaches to either side
CROWDED: Final = 4  # numbers of people below each of several panels
MARKED: Final = 12  # points up to which each has a mark


def forecast(
    answer: object,
    *,
    measured: object = None,
    beside: Mapping[str, object] | None = None,
    share: str | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw what is foretold of larger populations, in its 95 % interval.

    Of the answer of `population_risk`, `pyc_forecast`, `pyc_extrapolate` or `copula_forecast`: a panel for
    each share over the size of the population, on a logarithmic axis; with `share`, such as `'correctness'`,
    that one alone. `measured` is the answer of `correctness_curve`, a line up to the table; `beside` holds
    other forecasts by the names of their methods.

    >>> rows = [{"population": n, "uniqueness": 9 / n, "status": "ok"} for n in (10, 1000)]
    >>> forecast(rows).axes[0].lines[0].get_ydata().tolist()
    [0.9, 0.009]
    """
    rows = _foretold(answer)
    held = [name for name in SHARES if name in rows[0]]
    if share is not None and share not in held:
        _refuse(share, held)
    shown = [share] if share is not None else held[:1] if ax is not None else held
    curve = (
        [] if measured is None else rows_of(HERE, measured, "correctness_curve", ("n", "correctness"), "n")
    )
    others = {name: _foretold(other) for name, other in (beside or {}).items()}
    figure, panels = sheet(ax, (1.5 + 4.2 * len(shown), 4.2), len(shown))
    for axes, name in zip(panels, shown, strict=True):
        _before(axes, name, sorted(curve, key=lambda row: float(row["n"])))
        _ahead(axes, name, rows)
        _others(axes, name, others)
        _finished(axes, name, [row["population"] for row in rows] + [row["n"] for row in curve], len(shown))
    return figure


def _foretold(answer: object) -> list[Row]:
    rows = rows_of(HERE, answer, FUNCTIONS, ("population",), "population")
    return sorted(rows, key=lambda row: float(row["population"]))


def _refuse(share: str, held: Sequence[str]) -> NoReturn:
    from reid_sql.suggestion import suggestion  # noqa: PLC0415 - loads DuckDB

    rule = f"share must be a share of the answer, got '{share}'"
    raise UnknownNameError(f"{rule}; {suggestion(share, held, 'shares')}")


def _before(axes: "Axes", share: str, curve: Sequence[Row]) -> None:
    """Draw what was measured, as a line up to the table."""
    if curve and share in curve[0]:
        axes.plot([row["n"] for row in curve], [row[share] for row in curve], color=DARK, label="measured")
        axes.axvline(curve[-1]["n"], color=DARK, linewidth=0.8, linestyle=":")
        axes.annotate(" the table", (curve[-1]["n"], 1.0), xycoords=("data", "axes fraction"), va="top")


def _ahead(axes: "Axes", share: str, rows: Sequence[Row]) -> None:
    """Draw what is foretold, dashed in its band, or say why nothing is."""
    known = [row for row in rows if row[share] is not None]
    if not known:
        unavailable(axes, str(rows[0].get("status")))
        return
    ends = (f"{share}_low", f"{share}_high")
    within = [row for row in known if all(row.get(end) is not None for end in ends)]
    low, high = ([row[end] for row in within] for end in ends)
    people = [row["population"] for row in known]
    if len(within) > 1:
        axes.fill_between([row["population"] for row in within], low, high, label="95 % interval", **BAND)
    elif within:
        axes.vlines(within[0]["population"], low, high, color=BLUE, linewidth=2, label="95 % interval")
    mark = "o" if len(known) <= MARKED else ""
    values = [row[share] for row in known]
    axes.plot(people, values, color=BLUE, linestyle="--", marker=mark, markersize=4, label="forecast")


def _others(axes: "Axes", share: str, others: Mapping[str, Sequence[Row]]) -> None:
    for (name, rows), stroke in zip(others.items(), cycle(BESIDE)):
        told = [row for row in rows if row.get(share) is not None]
        places = [row["population"] for row in told]
        axes.plot(places, [row[share] for row in told], color=DARK, linestyle=stroke, label=in_legend(name))


def _finished(axes: "Axes", share: str, sizes: Sequence[float], panels: int) -> None:
    over_people(axes, "people in the population", sizes, TICKS if panels == 1 else CROWDED)
    if len(sizes) == 1:
        axes.set_xlim(sizes[0] / WIDE, sizes[0] * WIDE)
        axes.set_xticks(sizes)
    top = axes.get_ylim()[1]
    axes.set_ylim(0, min(1.0, top) if top > 0 else 1.0)
    axes.set_ylabel(f"share of {SHARES[share].split()[0]}")
    in_shares(axes, "y")
    opened(axes, SHARES[share].capitalize())
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
