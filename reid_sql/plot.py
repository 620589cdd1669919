"""Draw forecasts, estimates beside the truth, releases, extreme risk; all can be read in black and white."""

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reid_sql.errors import OutOfDomainError, ReidError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reid_sql.models.people.diagnostics import Check

KINDS: Final = (".png", ".svg")
BLUE: Final = "#1f6fb4"
DARK: Final = "#222222"
SHOWN: Final = "share of unique people: estimates, 95 % intervals, the truth as a line"
BINS: Final = 40  # of the risk over choices
STROKES: Final = ("-", "--", "-.", (0, (8, 3)), (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)))  # not by colour alone
RED: Final = "#b3261e"  # an interval that missed the truth


def check_plot_file(file: str) -> None:
    """Refuse a file that is no PNG or SVG, or a missing chart library, before any counting."""
    if Path(file).suffix not in KINDS:
        raise OutOfDomainError(f"--plot must be a PNG or SVG file, got '{file}'; name it like forecast.svg")
    if not Path(file).absolute().parent.is_dir():
        raise OutOfDomainError(f"--plot must lie in an existing folder, got '{file}'; make the folder first")
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an optional extra
    except ImportError:
        remedy = "install it with: pip install 'reid-sql[plot]'"
        raise ReidError(f"--plot needs the chart library matplotlib, got none; {remedy}") from None
    mpl.use("agg")


def draw_forecast(
    file: str,
    measured: list[dict[str, Any]],
    forecast: list[dict[str, Any]],
    older: list[dict[str, Any]],
    checks: "Sequence[Check]",
    *,
    title: str,
) -> None:
    """Draw the curve measured and foretold, and whether the model foretells the table's own class sizes."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    figure, (axes, beside) = plt.subplots(1, 2, figsize=(13, 4.5), layout="constrained")
    curve_panel(axes, measured, forecast, older)
    checks_panel(beside, checks)
    _save(figure, title, file)


def _save(figure: Any, title: str, file: str) -> None:  # noqa: ANN401 - matplotlib's
    """Write the figure into the file, open at the top and the right, under its title."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def curve_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    measured: list[dict[str, Any]],
    forecast: list[dict[str, Any]],
    older: list[dict[str, Any]],
) -> None:
    """Draw the measured curve as a line, the forecast dashed in its 95 % band, an older method dotted."""
    people = [row["population"] for row in forecast]
    axes.plot(
        [row["n"] for row in measured], [row["correctness"] for row in measured], color=DARK, label="measured"
    )
    axes.plot(people, [row["correctness"] for row in forecast], color=BLUE, linestyle="--", label="people")
    axes.plot(people, [row["correctness"] for row in older], color=DARK, linestyle=":", label="Pitman–Yor")
    low, high = ([row[f"correctness_{end}"] for row in forecast] for end in ("low", "high"))
    axes.fill_between(people, low, high, color=BLUE, alpha=0.2, label="95 % interval of people")
    axes.axvline(measured[-1]["n"], color=DARK, linewidth=0.8, linestyle=":")
    axes.annotate("the table", (measured[-1]["n"], 1.02), ha="center", annotation_clip=False)
    axes.set(xscale="log", ylim=(0, 1), xlabel="people", ylabel="share of right matches")
    axes.set_title("Right matches in larger populations", pad=22)
    axes.legend(frameon=False)


def checks_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    checks: "Sequence[Check]",
) -> None:
    """Draw the table's share of people in small classes on what the model expects of such a table.

    A posterior predictive check. Source: Rocher, Hendrickx & de Montjoye 2025, figure 1.
    """
    places = range(len(checks))
    low, high = [check.low for check in checks], [check.high for check in checks]
    axes.fill_between(places, low, high, color=BLUE, alpha=0.2, label="95 % of tables that the model makes")
    axes.plot(places, [check.expected for check in checks], color=BLUE, linestyle="--", label="expected")
    axes.plot(places, [check.observed for check in checks], "o", color=DARK, label="measured")
    axes.set_xticks(places, [f"{check.below:,}" for check in checks])
    axes.set(ylim=(0, 1.02), xlabel="in classes smaller than this many people")
    axes.set(ylabel="share of the table's people")
    axes.set_title("Does the model foretell this table?", pad=22)
    axes.legend(frameon=False)


def draw_validation(file: str, rows: list[dict[str, Any]], title: str) -> None:
    """Draw what each method says of each sample, with its interval, beside the truth; a panel a fraction."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    told = [
        row for row in rows if row["sample"] and row["figure"] == "uniqueness" and row["value"] is not None
    ]
    fractions = sorted({row["fraction"] for row in rows}, reverse=True)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, panels = plt.subplots(
        1,
        len(fractions),
        sharey=True,
        squeeze=False,
        figsize=(4 + 4 * len(fractions), 5),
        layout="constrained",
    )
    for axes, fraction in zip(panels[0], fractions, strict=True):
        shown = [row for row in told if row["fraction"] == fraction]
        _draw_estimates(axes, shown, methods)
        axes.axvline(
            next(row["truth"] for row in rows if row["truth"] is not None), color=DARK, linewidth=0.8
        )
        axes.set(title=f"samples of {100 * fraction:g} %", xlim=(0, 1), xlabel=SHOWN)
    panels[0][0].set_yticks(range(len(methods)), methods)
    panels[0][0].invert_yaxis()
    _save(figure, title, file)


def _draw_estimates(
    axes: Any,  # noqa: ANN401 - matplotlib's
    rows: list[dict[str, Any]],
    methods: list[str],
) -> None:
    """Draw each estimate on the line of its method, the samples one below the other."""
    most = max((row["sample"] for row in rows), default=1)
    for row in rows:
        line = methods.index(row["method"]) + 0.6 * (row["sample"] - (most + 1) / 2) / most
        if row["low"] is not None and row["high"] is not None:
            held = row["low"] <= row["truth"] <= row["high"]
            axes.hlines(line, row["low"], row["high"], color=BLUE if held else RED, linewidth=1)
        axes.plot(row["value"], line, "o", markersize=3, color=DARK)


RISKS: Final = {
    "uniqueness": "unique",
    "records_at_risk": "at risk",
    "average_risk": "average risk",
    "correct_links": "right links",
    "certain_links": "right and certain",
}


def draw_comparison(
    file: str, figures: list[dict[str, Any]], columns: list[dict[str, Any]], title: str
) -> None:
    """Draw the risk of an original and of its release, and what each column no longer tells."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    figure, (axes, beside) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    risks_panel(axes, {row["measure"]: row for row in figures})
    losses_panel(beside, columns)
    for panel in (axes, beside):
        panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def risks_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    figures: dict[str, dict[str, Any]],
) -> None:
    """Draw shares of records of the original beside those of the release; what is not known has no bar."""
    places = range(len(RISKS))
    for side, shift, look in (
        ("original", -0.2, {"color": "#d0d0d0", "edgecolor": DARK}),
        ("released", 0.2, {"facecolor": "none", "edgecolor": BLUE, "hatch": "///"}),
    ):
        shares = [figures[name][side] for name in RISKS]
        at = [place + shift for place, share in zip(places, shares, strict=True) if share is not None]
        known = [share for share in shares if share is not None]
        bars = axes.barh(at, known, height=0.38, label=side, **look)
        axes.bar_label(bars, [f"{100 * share:.3g} %" for share in known], padding=3)
    axes.set_yticks(places, list(RISKS.values()))
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.15), xlabel="share of the records")
    axes.set_title("Risk, and right links of an attack")
    axes.legend(frameon=False, loc="lower right")


def losses_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    columns: list[dict[str, Any]],
) -> None:
    """Draw the share of each column's information that the release no longer tells, where it is known."""
    names = [row["column_name"] for row in columns]
    losses = [row["information_loss"] or 0.0 for row in columns]
    told = [
        "not known" if row["information_loss"] is None else f"{row['information_loss']:.1%}"
        for row in columns
    ]
    axes.bar_label(axes.barh(range(len(names)), losses, color="#d0d0d0", edgecolor=DARK), told, padding=3)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.15), xlabel="share of the information lost")
    axes.set_title("What each column no longer tells")


def draw_extreme_risk(
    file: str,
    risks: list[float],
    risk: dict[str, Any],
    contributions: list[float],
    paths: dict[str, list[dict[str, Any]]],
    *,
    title: str,
) -> None:
    """Draw the risk over choices with its extreme, what each record adds to it, and what removals do."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    panels = "CA;RR" if contributions else "C;R"  # of choices, of what records add, of removals
    figure, axes = plt.subplot_mosaic(panels, figsize=(11, 8), layout="constrained")
    choices_panel(axes["C"], risks, risk)
    if contributions:
        contributions_panel(axes["A"], contributions)
    removals_panel(axes["R"], paths)
    _save(figure, title, file)


def choices_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    risks: list[float],
    risk: dict[str, Any],
) -> None:
    """Draw how many choices of columns have which risk, and the extreme risk with its interval.

    The risks are those of qar_quasi_identifiers, the extreme one is qar_risk's.
    """
    axes.hist(risks, bins=BINS, color="#d0d0d0", edgecolor=DARK, linewidth=0.5)
    axes.axvline(risk["risk"], color=BLUE, linewidth=2, label=f"extreme risk: {100 * risk['risk']:.1f} %")
    if risk["risk_low"] is not None:
        band = {"facecolor": "none", "edgecolor": BLUE, "hatch": "///", "linewidth": 0, "alpha": 0.6}
        axes.axvspan(risk["risk_low"], risk["risk_high"], label="its 95 % interval", **band)
    axes.axvline(risk["threshold"], color=DARK, linestyle=":", label="the law is fitted beyond")
    axes.set(xlabel="risk: distinct values over records", ylabel="choices of columns")
    axes.set_title("Risk of each choice of columns")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.35)
    axes.legend(loc="upper center", framealpha=1)


def contributions_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    contributions: list[float],
) -> None:
    """Draw by how much the extreme risk would fall without each record, those that add most first."""
    ranked = sorted(contributions, reverse=True)
    axes.plot(range(1, len(ranked) + 1), ranked, color=DARK, drawstyle="steps-mid")
    axes.margins(y=0.1)
    axes.axhline(0, color=DARK, linewidth=0.8, linestyle=":")
    if ranked[0] > 0:
        axes.set_yscale("symlog", linthresh=ranked[0])  # some hold the risk down by far more
    axes.set(xlabel="records, those that add most first", ylabel="fall of the extreme risk without it")
    axes.set_title("What each record adds to the extreme risk")


def removals_panel(
    axes: Any,  # noqa: ANN401 - matplotlib's
    paths: dict[str, list[dict[str, Any]]],
) -> None:
    """Draw by what share the whole table's risk falls with removals, one line an order, under the bound.

    Removals are of records.
    """
    falls = {by: _falls(rows, "risk") for by, rows in paths.items()}
    for (by, (removed, fall)), stroke in zip(falls.items(), cycle(STROKES)):
        axes.plot(removed, fall, linestyle=stroke, label=by)
    removed, most = _falls(max(paths.values(), key=len), "bound")
    axes.plot(removed, most, color=DARK, linewidth=0.8, linestyle=":", label="no removal does more")
    axes.axhline(0, color=DARK, linewidth=0.8)
    shown = [value for _, fall in falls.values() for value in fall]
    axes.set(xlabel="records removed", ylabel="fall of the risk, as a share of it")
    axes.set_ylim(min(shown) - 0.05, min(1.0, 1.5 * max(shown) + 0.05))
    axes.set_title("What removing records does, by the order that chooses them")
    axes.legend(frameon=False, loc="upper left", ncols=4)


def _falls(rows: list[dict[str, Any]], column: str) -> tuple[list[int], list[float]]:
    """Steps with a figure, and the fall from the risk of the whole table to it."""
    known = [row for row in rows if row[column] is not None]
    return [row["step"] for row in known], [1 - row[column] / rows[0]["risk"] for row in known]
