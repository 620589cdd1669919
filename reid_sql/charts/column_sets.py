"""Figures of sets of columns: the share of unique people by number of columns, and the minimal sets."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from reid_sql.charts.figures import Row, read_frame, rows_of
from reid_sql.charts.renderer import (
    BAND,
    BLUE,
    DARK,
    figure_and_panels,
    label_in_percent,
    plain_label,
    put_legend_beneath,
    set_title,
)
from reid_sql.errors import NoRecordsError
from reid_sql.models.numerics.quantiles import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ATTRIBUTE_RISK: Final = ("columns", "records", "unique_records")
PROFILE: Final = ("kind", "attributes", "uniqueness_xi")
MINIMAL_SETS: Final = ("columns", "size", "share_unique", "unique_records", "classes")
TABLE_HEADER: Final = ("columns", "unique", "share", "classes")
ROW_HEIGHT: Final = 0.22  # inches


def uniqueness_by_size(answer: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the share of unique people against the number of columns that an attacker knows.

    Of the answer of `attribute_risk`: for each number of columns the set that singles out most, the median
    set, and the set that singles out fewest. Of the answer of `uniqueness_profile`, or of those for several
    people one after the other, the same of the mean ξ: the chance to be unique in the population (figure 3b
    of Rocher, Hendrickx & de Montjoye 2019).

    >>> rows = [{"columns": [name], "records": 4, "unique_records": n} for name, n in (("a", 1), ("b", 3))]
    >>> [line.get_ydata().tolist() for line in uniqueness_by_size(rows).axes[0].lines]
    [[0.75], [0.5], [0.25]]
    """
    shares, words = _shares(answer)
    by_size: dict[int, list[float]] = defaultdict(list)
    for columns, share in shares.items():
        by_size[len(columns)].append(share)
    sizes = sorted(by_size)
    figure, (axes,) = figure_and_panels(ax, (7.5, 4.5))
    looks = (
        (max, "o-", "most identifying set"),
        (median, "s--", "median set"),
        (min, "^:", "least identifying set"),
    )
    lines = [[summary(by_size[size]) for size in sizes] for summary, _, _ in looks]
    axes.fill_between(sizes, lines[-1], lines[0], **BAND)
    for line, (_, style, label) in zip(lines, looks, strict=True):
        axes.plot(sizes, line, style, color=BLUE if line is lines[0] else DARK, label=label)
    axes.set(xticks=sizes, ylim=(-0.02, 1.02), xlabel="known columns", ylabel=words)
    label_in_percent(axes, "y")
    set_title(axes, "How many columns single people out")
    put_legend_beneath(axes, alone=ax is None)
    return figure


def _shares(answer: object) -> tuple[dict[tuple[str, ...], float], str]:
    """The share of each set of columns, and what it is the share of."""
    names, read = read_frame("uniqueness_by_size", answer, "attribute_risk or uniqueness_profile")
    frame = read or answer  # a stream is read once
    if "uniqueness_xi" in names:
        rows = rows_of("uniqueness_by_size", frame, "uniqueness_profile", PROFILE)
        scores: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for row in rows:
            if row["kind"] == "known" and row["uniqueness_xi"] is not None:
                scores[tuple(row["attributes"])].append(row["uniqueness_xi"])
        return {columns: fmean(values) for columns, values in scores.items()}, "mean ξ"
    rows = rows_of("uniqueness_by_size", frame, "attribute_risk", ATTRIBUTE_RISK, "columns")
    known = {tuple(row["columns"]): row["unique_records"] / row["records"] for row in rows if row["records"]}
    return known, "share of unique people"


def minimal_sets(answer: object, *, most: int = 20, ax: "Axes | None" = None) -> "Figure":
    """Draw a table of the minimal sets of columns that single out a share of the people, the smallest first.

    Of the answer of `quasi_identifiers`: the `most` first sets with the people whom they single out, their
    share, and the distinct combinations of values.

    >>> row = {"columns": ["age", "sex"], "size": 2, "share_unique": 0.25, "unique_records": 1, "classes": 3}
    >>> table = minimal_sets([row]).axes[0].tables[0]
    >>> [table[1, column].get_text().get_text() for column in range(4)]
    ['age, sex', '1', '25.0 %', '3']
    """
    rows = [
        row for row in rows_of("minimal_sets", answer, "quasi_identifiers", MINIMAL_SETS) if row["columns"]
    ]
    if not rows:
        rule = "minimal_sets must be given an answer with a set of columns, got none that reaches the share"
        raise NoRecordsError(f"{rule}; pass a smaller at_least to quasi_identifiers")
    shown = rows[:most]
    figure, (axes,) = figure_and_panels(ax, (8, 1.2 + ROW_HEIGHT * len(shown)))
    axes.axis("off")
    table = axes.table(
        _cells(shown), colLabels=TABLE_HEADER, loc="upper center", cellLoc="right", edges="horizontal"
    )
    for line in range(len(shown) + 1):
        table[line, 0].set_text_props(ha="left")
    table.auto_set_column_width(list(range(len(TABLE_HEADER))))
    more = f" (the first {len(shown):,} of {len(rows):,})" if len(rows) > len(shown) else ""
    set_title(axes, f"Minimal sets of columns that single people out{more}")
    return figure


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    return [
        [
            ", ".join(map(plain_label, row["columns"])),
            f"{row['unique_records']:,}",
            percent(row["share_unique"]),
            f"{row['classes']:,}",
        ]
        for row in rows
    ]
