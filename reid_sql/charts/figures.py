"""Figures of what the functions answer, and the reading of answers from any frame."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from reid_sql.charts.renderer import (
    BLUE,
    DARK,
    MARKS,
    RED,
    STROKES,
    TICKS,
    draw_chart,
    figure_and_panels,
    label_in_percent,
    legend_label,
    list_names,
    put_legend_beneath,
    set_title,
    wrap_plain,
)
from reid_sql.charts.risk_charts import (
    SHARES,
    class_sizes_chart,
    forecast_chart,
    frontier_chart,
    measured_columns,
    quasi_identifiers_chart,
    ranges,
)
from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError, WrongTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row: TypeAlias = Mapping[str, Any]
REPORT_KEYS: Final = ("name", "records", "records_dropped", "classes", "columns")
PREPARED_KEYS: Final = ("name", "k", "losses", "frontier")
FORECAST_FUNCTIONS: Final = "population_risk, pyc_forecast, pyc_extrapolate or copula_forecast"
UNICITY_COLUMNS: Final = ("points", "uniqueness", "uniqueness_low", "uniqueness_high")
TICKS_OF_SEVERAL: Final = 4  # numbers of people below each of several panels
VALIDATION_COLUMNS: Final = ("method", "fraction", "sample", "figure", "value", "low", "high", "truth")


def rows_of(
    chart: str, answer: object, function: str, columns: Sequence[str], key: str | None = None
) -> list[Row]:
    """Read the rows; refuse another function's answer, an empty one, and several groups.

    The frame is a relation of DuckDB, a frame of Polars, pandas or Arrow, or a list of rows by column name.
    `key` is a column whose values are unique within one group.
    """
    names, rows = read_frame(chart, answer, function)
    missing = [name for name in columns if name not in names]
    rule = f"{chart} must be given the answer of {function}"
    if missing:
        raise OutOfDomainError(f"{rule}, got a table without '{missing[0]}'; pass the answer of {function}")
    if not rows:
        raise NoRecordsError(f"{rule}, got no rows; ask {function} about a table with records")
    keys = [str(row[key]) for row in rows] if key else []
    if len(set(keys)) < len(keys):
        twice = next(value for value in keys if keys.count(value) > 1)
        raise OutOfDomainError(
            f"{rule} of one group, got {key} '{twice}' more than once; keep the rows of one group first"
        )
    return rows


def tables_of(chart: str, page: object, command: str, columns: Sequence[str]) -> list[Row]:
    """Return the tables of what a command prints as JSON: a whole page, or one of its tables."""
    listed = page.get("tables", [page]) if isinstance(page, Mapping) else []
    if not listed or not all(set(table) >= set(columns) for table in listed):
        rule = f"{chart} must be given what reid-sql {command} --json prints, got {type(page).__name__}"
        raise WrongTypeError(f"{rule} without tables that have {columns[-1]}; pass json.loads of it")
    return list(listed)


def read_frame(chart: str, answer: object, function: str) -> tuple[Sequence[str], list[Row]]:
    """Read the columns and rows of a frame; refuse what is none."""
    if isinstance(answer, Sequence) and all(isinstance(row, Mapping) for row in answer):
        return list(answer[0]) if answer else [], list(answer)
    frame = answer.collect() if hasattr(answer, "collect") and hasattr(answer, "lazy") else answer
    if not hasattr(frame, "__arrow_c_stream__"):
        rule = f"{chart} must be given the answer of {function}, got {type(answer).__name__}"
        raise WrongTypeError(f"{rule}; pass a relation of DuckDB or a frame of Polars, pandas or Arrow")
    import pyarrow as pa  # noqa: PLC0415 - help is shown without it

    table = pa.table(frame)
    return table.column_names, table.to_pylist()


def attribute_risk(answer: object, *, most: int = 20, ax: "Axes | None" = None) -> "Figure":
    """Draw how well each subset of the columns distinguishes people, the best first.

    Of the answer of `attribute_risk`, the `most` subsets with the highest distinction: a full mark at the
    share of distinct combinations, an open one at the share of pairs of people who differ.

    >>> rows = [{"columns": ["age"], "distinction": 0.1, "separation": 0.9, "status": "ok"}]
    >>> [line.get_xdata().tolist() for line in attribute_risk(rows).axes[0].lines]
    [[0.1], [0.9]]
    """
    rows = rows_of(
        "attribute_risk", answer, "attribute_risk", ("columns", "distinction", "separation"), "columns"
    )
    known = [row for row in rows if row["distinction"] is not None]
    shown = sorted(known, key=lambda row: -row["distinction"])[:most]
    figure, (axes,) = figure_and_panels(ax, (8, 2.2 + 0.3 * len(shown)))
    places = range(len(shown))
    distinction, separation = ([row[name] or 0.0 for row in shown] for name in ("distinction", "separation"))
    axes.hlines(places, distinction, separation, color=DARK, linewidth=0.8, linestyle=":")
    axes.plot(distinction, places, "o", color=BLUE, label="different combinations, as a share of the people")
    axes.plot(separation, places, "D", color=DARK, fillstyle="none", label="pairs of people who differ")
    list_names(axes, [", ".join(row["columns"]) for row in shown])
    axes.set(xlim=(-0.02, 1.02), xlabel="share")
    label_in_percent(axes, "x")
    set_title(axes, "Which columns distinguish people")
    put_legend_beneath(axes, alone=ax is None)
    return figure


def class_sizes(answer: object, *, below: int = 5, ax: "Axes | None" = None) -> "Figure":
    """Draw how many people share their values with how many others.

    Bars of the answer of `class_size_histogram`, one for each range of class sizes; those of classes smaller
    than `below` are hatched.

    >>> sizes = [{"class_size": 1, "classes": 2, "records": 2}, {"class_size": 8, "classes": 1, "records": 8}]
    >>> [float(bar.get_width()) for bar in class_sizes(sizes).axes[0].patches]
    [0.2, 0.8]
    """
    rows = rows_of(
        "class_sizes", answer, "class_size_histogram", ("class_size", "classes", "records"), "class_size"
    )
    chart = class_sizes_chart(ranges(rows, below), sum(row["records"] for row in rows), below)
    figure, (axes,) = figure_and_panels(ax, (7.5, 1.5 + 0.34 * len(chart.up.names)))
    draw_chart(axes, chart, alone=ax is None)
    return figure


def quasi_identifiers(page: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the average risk without each quasi-identifier, and the risk with all of them.

    Of what `reid-sql check --json` prints: the page, a panel for each of its tables that has two
    quasi-identifiers or more, or one of its tables. The shorter the bar, the more that column drives the
    risk.
    """
    tables = [
        table
        for table in tables_of("quasi_identifiers", page, "check", REPORT_KEYS)
        if measured_columns(table)
    ]
    if not tables:
        rule = "quasi_identifiers must be given a table whose columns were left out one by one, got none"
        raise NoRecordsError(f"{rule}; check two quasi-identifiers or more, with NULL as a value or dropped")
    charts = [quasi_identifiers_chart(table) for table in tables]
    most = max(len(chart.up.names) for chart in charts)
    figure, panels = figure_and_panels(ax, (1 + 6.5 * len(tables), 1.6 + 0.34 * most), len(tables))
    for axes, table, chart in zip(panels, tables, charts, strict=True):
        title = f"{table['name']}: {chart.title}" if len(tables) > 1 else chart.title
        draw_chart(axes, replace(chart, title=title))
    return figure


def frontier(page: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw risk against loss of the transformations that were evaluated to prepare a release.

    Of what `reid-sql prepare --json` prints: the page, a panel for each of its tables, or one of its tables.
    Each mark is a transformation that no other one improves on in both respects.
    """
    tables = tables_of("frontier", page, "prepare", PREPARED_KEYS)
    figure, panels = figure_and_panels(ax, (2 + 5 * len(tables), 4.5), len(tables))
    for axes, table in zip(panels, tables, strict=True):
        draw_chart(axes, frontier_chart(table))
    return figure


def forecast(
    answer: object,
    *,
    measured: object = None,
    beside: Mapping[str, object] | None = None,
    share: str | None = None,
    limit: float | None = None,
    k: int | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the predicted risk in larger populations, with 95 % intervals.

    Of the answer of `population_risk`, `pyc_forecast`, `pyc_extrapolate` or `copula_forecast`: a panel for
    each share over the size of the population, on a logarithmic axis; with `share`, such as `'correctness'`,
    only that one. `measured` is the answer of `correctness_curve`, a line up to the table; `beside` maps
    the names of other methods to their forecasts; `limit` is a share that must not be exceeded, a line.
    `k` is the class size that was passed for the forecast, for the title of its panel.

    >>> rows = [{"population": n, "uniqueness": 9 / n, "status": "ok"} for n in (10, 1000)]
    >>> forecast(rows).axes[0].lines[0].get_ydata().tolist()
    [0.9, 0.009]
    """
    rows = _forecast_rows(answer)
    keys = [name for name in SHARES if name in rows[0]]
    if share is not None and share not in keys:
        _refuse_share(share, keys)
    shown = [share] if share is not None else keys[:1] if ax is not None else keys
    if limit is not None:
        _check_limit(limit, shown)
    curve = _measured_rows(measured)
    others = {name: _forecast_rows(other) for name, other in (beside or {}).items()}
    figure, panels = figure_and_panels(ax, (1.5 + 4.2 * len(shown), 4.2), len(shown))
    ticks = TICKS if len(shown) == 1 else TICKS_OF_SEVERAL
    for axes, name in zip(panels, shown, strict=True):
        chart = forecast_chart(name, rows, measured=curve, beside=others, limit=limit)
        named = chart if k is None else replace(chart, title=chart.title.replace("than k", f"than {k:,}"))
        draw_chart(axes, named, ticks)
    return figure


def _forecast_rows(answer: object) -> list[Row]:
    rows = rows_of("forecast", answer, FORECAST_FUNCTIONS, ("population",), "population")
    return sorted(rows, key=lambda row: float(row["population"]))


def _measured_rows(curve: object) -> list[Row]:
    rows = [] if curve is None else rows_of("forecast", curve, "correctness_curve", ("n", "correctness"), "n")
    return sorted(rows, key=lambda row: float(row["n"]))


def _check_limit(limit: float, shown: Sequence[str]) -> None:
    if not 0 <= limit <= 1:
        rule = f"limit must be a share from 0 to 1, got {limit!r}"
        raise OutOfDomainError(f"{rule}; pass 0.05 for 5 %")
    if len(shown) > 1:
        rule = f"limit must be of one share, got {', '.join(shown)}"
        raise OutOfDomainError(f"{rule}; pass share, such as '{shown[0]}'")


def _refuse_share(share: str, keys: Sequence[str]) -> NoReturn:
    from reid_sql.errors import suggestion  # noqa: PLC0415 - loads DuckDB

    rule = f"share must be a share of the answer, got '{share}'"
    raise UnknownNameError(f"{rule}; {suggestion(share, keys, 'shares')}")


def methods(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw each method's estimate of the share of a population that is unique.

    Of the answer of `population_uniqueness`: a mark with its 95 % interval, if the method has one. The lowest
    estimate is at the top, and methods without an estimate are at the bottom.

    >>> rows = [{"method": "pitman", "uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.4}]
    >>> methods(rows).axes[0].lines[0].get_xdata().tolist()
    [0.2]
    """
    needed = ("method", "uniqueness", "uniqueness_low", "uniqueness_high")
    rows = rows_of("methods", answer, "population_uniqueness", needed, "method")
    rows = sorted(rows, key=lambda row: float("inf") if row["uniqueness"] is None else row["uniqueness"])
    figure, (axes,) = figure_and_panels(ax, (8, 1.8 + 0.34 * len(rows)))
    for place, row in enumerate(rows):
        if row["uniqueness"] is None:
            axes.text(0.0, place, wrap_plain(row["status"], 60), va="center", fontsize="small")
            continue
        if row["uniqueness_low"] is not None:
            axes.hlines(place, row["uniqueness_low"], row["uniqueness_high"], color=BLUE)
        axes.plot([row["uniqueness"]], [place], "o", color=DARK)
    list_names(axes, [row["method"] for row in rows])
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.set_xlabel("share of the population that is unique, with 95 % intervals")
    label_in_percent(axes, "x")
    set_title(axes, "Unique in the population, by method")
    return figure


def unicity(answers: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw how many people some of their rows single out, over how many rows an attacker knows.

    Of the answer of `unicity`, or of several by the name of their resolution, such as
    `{"place and day": …, "district and week": …}`: a line each. A stroke is the 95 % interval of a draw.

    >>> rows = [{"points": 2, "uniqueness": 0.5, "uniqueness_low": 0.5, "uniqueness_high": 0.5}]
    >>> unicity({"place and day": rows}).axes[0].lines[0].get_ydata().tolist()
    [0.5]
    """
    given = answers if isinstance(answers, Mapping) else {"people whom their known rows single out": answers}
    lines = {str(name): rows_of("unicity", each, "unicity", UNICITY_COLUMNS) for name, each in given.items()}
    known = {row["points"] for rows in lines.values() for row in rows}
    order = sorted(known, key=lambda points: float("inf") if points is None else float(points))
    figure, (axes,) = figure_and_panels(ax, (7.5, 4.2))
    for (name, rows), stroke, mark in zip(lines.items(), cycle(STROKES), cycle(MARKS), strict=False):
        across = [order.index(row["points"]) for row in rows]
        shares, low, high = ([row[column] for row in rows] for column in UNICITY_COLUMNS[1:])
        axes.vlines(across, low, high, color=BLUE)
        axes.plot(across, shares, linestyle=stroke, marker=mark, color=DARK, label=legend_label(name))
    axes.set_xticks(range(len(order)), ["all" if points is None else f"{points}" for points in order])
    axes.set(ylim=(-0.02, 1.02), xlabel="rows of a person that the attacker knows")
    label_in_percent(axes, "y")
    set_title(axes, "People whom a few of their rows single out")
    put_legend_beneath(axes, alone=ax is None)
    return figure


def validation(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw each method's estimates from samples of a table, with intervals, and the counted truth.

    Of the answer of `validate_risk`, the share of unique people; one panel for each sample size. The method
    with the least error is at the top. An interval that missed the truth is dashed, and its estimate a cross.
    """
    rows = rows_of("validation", answer, "validate_risk", VALIDATION_COLUMNS)
    fractions = sorted({row["fraction"] for row in rows}, reverse=True)
    if ax is not None and len(fractions) > 1:
        rule = f"ax must be given for samples of one size, got {len(fractions)} sizes"
        raise OutOfDomainError(f"{rule}; keep the rows of one fraction, or omit ax")
    methods = sorted(dict.fromkeys(row["method"] for row in rows), key=lambda name: _mean_error(rows, name))
    figure, panels = figure_and_panels(
        ax, (2.5 + 4.2 * len(fractions), 1.8 + 0.36 * len(methods)), len(fractions)
    )
    truth = next(row["truth"] for row in rows if row["truth"] is not None)
    for axes, fraction in zip(panels, fractions, strict=True):
        samples = [row for row in rows if row["sample"] and row["figure"] == "uniqueness"]
        _draw_estimates(
            axes,
            [row for row in samples if row["fraction"] == fraction and row["value"] is not None],
            methods,
        )
        axes.axvline(truth, color=DARK, linewidth=1.2, label="the truth")
        list_names(axes, methods if axes is panels[0] else [""] * len(methods))
        axes.set(xlim=(-0.01, 1.01), xlabel="share of unique people")
        label_in_percent(axes, "x")
        set_title(axes, f"Samples of {100 * fraction:g} % of the table")
    handles = {
        word: handle
        for axes in panels
        for handle, word in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    columns = 2 if len(fractions) == 1 else len(handles)  # one panel is too narrow for a line of all
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False)
    return figure


def _mean_error(rows: Sequence[Row], method: str) -> float:
    """Compute the mean absolute error of a method's estimates; infinite without an estimate."""
    own = [row for row in rows if row["method"] == method and row["sample"] and row["figure"] == "uniqueness"]
    errors = [abs(row["value"] - row["truth"]) for row in own if row["value"] is not None]
    return sum(errors) / len(errors) if errors else float("inf")


def _draw_estimates(axes: "Axes", rows: Sequence[Row], methods: Sequence[str]) -> None:
    """Draw each estimate on the line of its method, the samples one below the other."""
    most = max((row["sample"] for row in rows), default=1)
    for row in rows:
        line = methods.index(row["method"]) + 0.6 * (row["sample"] - (most + 1) / 2) / most
        within = row["low"] is not None and row["high"] is not None
        missed = within and not row["low"] <= row["truth"] <= row["high"]
        if within:
            style: dict[str, Any] = {"color": RED, "linestyle": "--"} if missed else {"color": BLUE}
            words = "95 % interval that missed it" if missed else "95 % interval that contains it"
            axes.hlines(line, row["low"], row["high"], linewidth=1, label=words, **style)
        mark, words = ("x", "its estimate") if missed else ("o", "estimate")
        axes.plot(row["value"], line, mark, markersize=4, color=DARK, label=words)
