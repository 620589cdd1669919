"""Figures of releases, extreme risk, a fit of a model and audited tables; the pages that commands save."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reid_sql.charts.figures import Row, forecast, rows_of
from reid_sql.charts.renderer import (
    BAND,
    BLUE,
    DARK,
    HATCHED,
    MARKS,
    PALE,
    STROKES,
    blank_figure,
    figure_and_panels,
    label_in_percent,
    legend_label,
    list_names,
    plain_label,
    put_legend_beneath,
    set_title,
    wrap_plain,
    write_status,
)
from reid_sql.errors import NoRecordsError, OutOfDomainError, ReidError, WrongTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reid_sql.models.people.diagnostics import Check


RISKS: Final = {
    "uniqueness": "alone in their class",
    "records_at_risk": "at risk above the threshold",
    "average_risk": "matched rightly by their values",
    "correct_links": "matched rightly by an attack",
    "certain_links": "and the attacker can be sure",
}
COMPARISON_COLUMNS: Final = ("measure", "original", "released")
MIN_VISIBLE_FALL: Final = 1e-4  # a share that is there to be seen where nothing falls
MAX_LINEAR_RATIO: Final = 10  # of the least contribution to the greatest, on a linear axis
BINS: Final = 40  # of the risk over choices
RISK_COLUMNS: Final = ("risk", "risk_low", "risk_high", "threshold")
SUFFIXES: Final = (".png", ".svg")
TITLE_WIDTH: Final = 100  # characters of a line of it


def comparison(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the risk of an original next to that of its release.

    Of the answer of `compare`, shares of the people; an unknown share has no bar.
    """
    rows = rows_of("comparison", answer, "compare", COMPARISON_COLUMNS, "measure")
    figures = {row["measure"]: row for row in rows}
    names = [name for name in RISKS if name in figures]
    figure, (axes,) = figure_and_panels(ax, (7.5, 4.2))
    for side, shift, style in (
        ("original", -0.2, {"color": PALE, "edgecolor": DARK}),
        ("released", 0.2, HATCHED),
    ):
        shares = [figures[name][side] for name in names]
        at = [place + shift for place, share in enumerate(shares) if share is not None]
        known = [share for share in shares if share is not None]
        bars = axes.barh(at, known, height=0.38, label=side, **style)
        axes.bar_label(bars, [f"{100 * share:.3g} %" for share in known], padding=3)
    list_names(axes, [RISKS[name] for name in names])
    axes.set(xlim=(0, 1.15), xlabel="share of the people")
    label_in_percent(axes, "x")
    set_title(axes, "Risk, and right links of an attack")
    axes.legend(frameon=False, loc="lower right")
    return figure


def losses(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the share of each column's information that a release loses, where it is known.

    Of the answer of `compare_columns`.
    """
    rows = rows_of("losses", answer, "compare_columns", ("column_name", "information_loss"), "column_name")
    figure, (axes,) = figure_and_panels(ax, (6.5, 1.8 + 0.34 * len(rows)))
    lost = [row["information_loss"] or 0.0 for row in rows]
    bars = axes.barh(range(len(rows)), lost, color=PALE, edgecolor=DARK)
    axes.bar_label(bars, [_loss_label(row) for row in rows], padding=3)
    list_names(axes, [row["column_name"] for row in rows])
    axes.set(xlim=(0, 1.15), xlabel="share of the column's information that is lost")
    label_in_percent(axes, "x")
    set_title(axes, "Information lost by column")
    return figure


def _loss_label(row: Row) -> str:
    return "not known" if row["information_loss"] is None else f"{100 * row['information_loss']:.3g} %"


def choices(answer: object, risk: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw how many choices of columns have which risk, and the extreme risk with its interval.

    Of the answers of `qar_quasi_identifiers` and of `qar_risk`.
    """
    rows = rows_of("choices", answer, "qar_quasi_identifiers", ("risk",))
    extreme = rows_of("choices", risk, "qar_risk", RISK_COLUMNS)[0]
    figure, (axes,) = figure_and_panels(ax, (7, 4.5))
    axes.hist([row["risk"] for row in rows], bins=BINS, color=PALE, edgecolor=DARK, linewidth=0.5)
    if extreme["risk"] is not None:
        words = f"extreme risk: {100 * extreme['risk']:.1f} %"
        axes.axvline(extreme["risk"], color=BLUE, linewidth=2, label=words)
    if extreme["risk_low"] is not None:
        style = HATCHED | {"linewidth": 0, "alpha": 0.6}
        axes.axvspan(extreme["risk_low"], extreme["risk_high"], label="its 95 % interval", **style)
    if extreme["threshold"] is not None:
        axes.axvline(extreme["threshold"], color=DARK, linestyle=":", label="threshold of the fit")
    axes.set(xlabel="different combinations, as a share of the people", ylabel="choices of columns")
    axes.locator_params(axis="y", integer=True)
    axes.margins(y=0.05)
    label_in_percent(axes, "x")
    set_title(axes, "Risk of each choice of columns")
    if axes.get_legend_handles_labels()[0]:
        put_legend_beneath(axes, alone=ax is None)
    return figure


def contributions(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw by how much the extreme risk would fall without each record, those that add most first.

    Of the answer of `qar_contributions`.
    """
    rows = rows_of("contributions", answer, "qar_contributions", ("contribution",))
    ranked = sorted((row["contribution"] for row in rows if row["contribution"] is not None), reverse=True)
    figure, (axes,) = figure_and_panels(ax, (6.5, 4.5))
    if ranked:
        axes.plot(range(1, len(ranked) + 1), ranked, color=DARK, drawstyle="steps-mid")
    else:
        write_status(axes, str(rows[0].get("status")))
    axes.margins(y=0.1)
    axes.axhline(0, color=DARK, linewidth=0.8, linestyle=":")
    if ranked and 0 < MAX_LINEAR_RATIO * ranked[0] < -ranked[-1]:
        axes.set_yscale("symlog", linthresh=ranked[0])  # linear, the contributions above 0 would vanish
    axes.set(xlabel="people, those who add most first", ylabel="fall of the extreme risk without them")
    label_in_percent(axes, "y")
    set_title(axes, "What each person adds to the extreme risk")
    return figure


def elimination(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the fall of the extreme risk by removals, under the largest fall that is possible.

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
    figure, (axes,) = figure_and_panels(ax, (8, 4.5))
    falls = {by: _falls(rows, "risk") for by, rows in paths.items()}
    for (by, (removed, fall)), stroke, mark in zip(falls.items(), cycle(STROKES), cycle(MARKS)):
        every = max(1, len(removed) // 6)
        axes.plot(
            removed,
            fall,
            linestyle=stroke,
            marker=mark,
            markevery=every,
            markersize=4,
            label=legend_label(by),
        )
    shown = [value for _, fall in falls.values() for value in fall]
    low, most_of_all = min(shown, default=0.0), max(shown, default=0.0)
    high = min(1.0, most_of_all + 0.1 * (most_of_all - low) + MIN_VISIBLE_FALL)
    removed, most = _falls(max(paths.values(), key=len), "bound")
    if any(fall <= high for fall in most[1:]):
        axes.plot(removed, most, color=DARK, linewidth=0.8, linestyle=":", label="no removal does more")
    axes.axhline(0, color=DARK, linewidth=0.8)
    axes.set(xlabel="people removed", ylabel="fall of the extreme risk, as a share of it")
    axes.set_ylim(low - 0.1 * (high - low), high)
    label_in_percent(axes, "y")
    set_title(axes, "Effect of removing people, by the order that chooses them")
    put_legend_beneath(axes, alone=ax is None)
    return figure


def _step(row: Row) -> int:
    return int(row["step"])


def _falls(rows: Sequence[Row], column: str) -> tuple[list[int], list[float]]:
    """Steps with a figure, and the fall from the risk of the whole table to it."""
    known = [row for row in rows if row[column] is not None]
    return [row["step"] for row in known], [1 - row[column] / rows[0]["risk"] for row in known]


def model_check(checks: "Sequence[Check]", *, ax: "Axes | None" = None) -> "Figure":
    """Draw the table's share of people in small classes on what the model expects of such a table.

    A posterior predictive check, by `reid_sql.models.people.diagnostics`. Source: Rocher, Hendrickx & de
    Montjoye 2025, figure 1.
    """
    if not isinstance(checks, Sequence) or not all(hasattr(each, "expected") for each in checks):
        rule = f"model_check must be given the checks of a model, got {type(checks).__name__}"
        raise WrongTypeError(
            f"{rule}; pass the result of reid_sql.models.people.diagnostics.predictive_checks"
        )
    figure, (axes,) = figure_and_panels(ax, (6, 4.2))
    places = range(len(checks))
    low, high = [check.low for check in checks], [check.high for check in checks]
    axes.fill_between(places, low, high, label="95 % of tables that the model makes", **BAND)
    axes.plot(places, [check.expected for check in checks], color=BLUE, linestyle="--", label="expected")
    axes.plot(places, [check.observed for check in checks], "o", color=DARK, label="measured")
    axes.set_xticks(places, [f"{check.below:,}" for check in checks])
    axes.set(ylim=(0, 1.02), xlabel="in classes smaller than this many people")
    axes.set_ylabel("share of the table's people")
    label_in_percent(axes, "y")
    set_title(axes, "Does the model predict this table?")
    axes.legend(frameon=False)
    return figure


def forecast_page(
    measured: "Sequence[Row]", predicted: "Sequence[Row]", older: "Sequence[Row]", checks: "Sequence[Check]"
) -> "Figure":
    """Draw the measured and predicted curve, and the model's prediction of the table's class sizes."""
    figure = blank_figure((13, 4.8))
    left, right = figure.subplots(1, 2)
    beside = {"by an older method (Pitman–Yor)": older}
    forecast(predicted, measured=measured, beside=beside, share="correctness", ax=left)
    model_check(checks, ax=right)
    return figure


def extreme_page(
    estimates: "Sequence[Row]", risk: "Row", added: "Sequence[Row]", paths: "Mapping[str, Sequence[Row]]"
) -> "Figure":
    """Draw the risk of all choices of columns, each record's contribution and the effect of removals."""
    figure = blank_figure((12, 8.5))
    panels: dict[str, Any] = figure.subplot_mosaic("CA;RR" if added else "C;R")
    choices(estimates, [risk], ax=panels["C"])
    if added:
        contributions(added, ax=panels["A"])
    elimination(paths, ax=panels["R"])
    return figure


def comparison_page(figures: "Sequence[Row]", columns: "Sequence[Row]") -> "Figure":
    """Draw the risk of an original and its release, and the information that each column loses."""
    figure = blank_figure((13, 4.8))
    left, right = figure.subplots(1, 2)
    comparison(figures, ax=left)
    losses(columns, ax=right)
    return figure


def check_plot_file(file: str) -> None:
    """Refuse a file that is neither PNG nor SVG, or a missing chart library, before any counting."""
    if Path(file).suffix not in SUFFIXES:
        raise OutOfDomainError(f"--plot must be a PNG or SVG file, got '{file}'; name it like forecast.svg")
    if not Path(file).absolute().parent.is_dir():
        raise OutOfDomainError(f"--plot must be in an existing folder, got '{file}'; make the folder first")
    try:
        import matplotlib  # noqa: F401, ICN001, PLC0415 - an optional extra
    except ImportError:
        remedy = "install it with: pip install 'reid-sql[plot]'"
        raise ReidError(f"--plot needs the chart library matplotlib, got none; {remedy}") from None


def save(figure: "Figure", title: str, file: str, people: str = "") -> None:
    """Write the figure into the file, under its title.

    `people` says how people are counted, or that rows may not be people.
    """
    lines = [wrap_plain(each, TITLE_WIDTH) for each in (title, people) if each]
    figure.suptitle("\n".join(lines))
    figure.savefig(file, dpi=150)


# The figure of attacks on a synthetic table: what each has in excess of its control.

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
        (False, DARK, "the interval contains 0 or is below 0"),
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


# The figure of an audit of published tables: each hidden cell by the width of its interval.


AUDITED: Final = ("cell", "categories", "kind", "low", "high", "width", "finding")
WIDEST: Final = 10  # people; a wider interval has the same colour
MAX_CELLS: Final = 40 * 60  # that can still be read
COLUMNS: Final = 2  # of a table that a figure shows


def audited_cells(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the hidden cells of published tables, darker the narrower the interval that an attacker computes.

    Of the answer of `audit_tables` on tables of two columns, or of the first column by all others. A cell
    shows its interval; a cross marks one that is known exactly or known below k. Cells that are not hidden
    stay white.

    >>> row = {"cell": "a = x, b = y", "categories": ["x", "y"], "kind": "suppressed", "low": 2, "high": 2}
    >>> figure = audited_cells([row | {"width": 0, "finding": "recovered"}])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['2 ×']
    """
    rows = [
        row for row in rows_of("audited_cells", answer, "audit_tables", AUDITED) if row["kind"] != "published"
    ]
    if not rows:
        rule = "audited_cells must be given an answer with a hidden cell, got none"
        raise NoRecordsError(f"{rule}; there is nothing to draw")
    places = [(str(row["categories"][0]), ", ".join(map(str, row["categories"][1:]))) for row in rows]
    lines, columns = (list(dict.fromkeys(sorted(each[axis] for each in places))) for axis in range(COLUMNS))
    if len(lines) * len(columns) > MAX_CELLS:
        rule = f"audited_cells must be given at most {MAX_CELLS} cells, got {len(lines) * len(columns)}"
        raise OutOfDomainError(f"{rule}; draw a part of the answer")
    size = (max(6.5, 2.5 + 0.6 * len(columns)), max(2.5, 1.5 + 0.32 * len(lines)))
    figure, (axes,) = figure_and_panels(ax, size)
    widths = np.full((len(lines), len(columns)), np.nan)
    for row, (line, column) in zip(rows, places, strict=True):
        at = lines.index(line), columns.index(column)
        widths[at] = WIDEST if row["width"] is None else min(row["width"], WIDEST)
        ink = "white" if widths[at] < WIDEST / 2 else "black"
        axes.text(at[1], at[0], _interval(row), ha="center", va="center", color=ink, fontsize=8)
    axes.imshow(widths, cmap="Blues_r", vmin=0, vmax=1.3 * WIDEST, aspect="auto")
    axes.set_xticks(range(len(columns)), [plain_label(each) for each in columns], rotation=40, ha="right")
    axes.set_yticks(range(len(lines)), [plain_label(each) for each in lines])
    set_title(axes, "What an attacker computes of hidden cells")
    return figure


def _interval(row: Row) -> str:
    """The interval of a cell, with a cross where it is revealed."""
    low, high = row["low"], row["high"]
    shown = f"≥ {low}" if high is None else str(low) if low == high else f"{low}–{high}"
    return shown if row["finding"] == "protected" else f"{shown} ×"
