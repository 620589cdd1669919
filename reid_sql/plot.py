"""Draw the forecast with its band, estimates beside the truth, and the extreme risk as records go."""

from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, ReidError

KINDS: Final = (".png", ".svg")
BLUE: Final = "#1f6fb4"
DARK: Final = "#222222"
SHOWN: Final = "share of unique people: estimates, 95 % intervals, the truth as a line"
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
    title: str,
) -> None:
    """Draw the measured curve as a line, the forecast dashed in its 95 % band, an older method dotted."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
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
    axes.set_title(title, pad=22)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(file, dpi=150)
    plt.close(figure)


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
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_yticks(range(len(methods)), methods)
    panels[0][0].invert_yaxis()
    figure.suptitle(title)
    figure.savefig(file, dpi=150)
    plt.close(figure)


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


def draw_removals(file: str, paths: dict[str, list[dict[str, Any]]], title: str) -> None:
    """Draw by what share the whole table's risk falls with removals, one line an order, under the bound.

    Removals are of records.
    """
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    falls = {by: _falls(rows, "risk") for by, rows in paths.items()}
    for by, (removed, fall) in falls.items():
        axes.plot(removed, fall, label=by)
    removed, most = _falls(max(paths.values(), key=len), "bound")
    axes.plot(removed, most, color=DARK, linewidth=0.8, linestyle=":", label="no removal does more")
    axes.axhline(0, color=DARK, linewidth=0.8)
    shown = [value for _, fall in falls.values() for value in fall]
    axes.set(xlabel="records removed", ylabel="fall of the risk, as a share of it")
    axes.set_ylim(min(shown) - 0.05, min(1.0, 1.5 * max(shown) + 0.05))
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _falls(rows: list[dict[str, Any]], column: str) -> tuple[list[int], list[float]]:
    """Steps with a figure, and the fall from the risk of the whole table to it."""
    known = [row for row in rows if row[column] is not None]
    return [row["step"] for row in known], [1 - row[column] / rows[0]["risk"] for row in known]
