"""Pages of tables of aggregates: their cells, and what an audit finds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType

from reid_sql.sql.cells import DETERMINED
from reid_sql.terminal.console import FigureTable, Text

MAX_ROWS: Final = 60  # that a page shows
UNPROTECTED: Final = "unprotected"
COUNTS: Final = ("records", "people")
HIDDEN: Final = ("primary", "secondary", UNPROTECTED)
SHOWN: Final = ("records", "people", "value_sum", "unsafe", "status")
NOT_PUBLISHED: Final = (
    "Publish neither unsafe, status nor loss: they say more of a hidden cell than its figures."
)
CELLS_DETERMINED: Final = (
    "finer cells repeat that a category has one category of another column alone (determined)."
)
# statuses that words follow
HIDDEN_OR_MOVED: Final = ("primary", "secondary", "unprotected", "rounded", "beyond_base")
UNSAFE: Final = "unsafe"
BEYOND_BASE: Final = "beyond_base"
REMEDY_UNSAFE: Final = "figures are in this file: do not publish it, or add --suppress secondary."
CELLS_UNPROTECTED: Final = (
    "unsafe cells are unprotected: they follow from --published tables, or nothing is left to hide."
)
CELLS_BEYOND_BASE: Final = "counts are a base or more from their true values."
FINDINGS: Final[Mapping[str, str]] = {
    "recovered": "known exactly",
    "below_k": "known to be below k",
    "estimated": "estimated too closely",
    "published_below_k": "published below k",
    "protected": "protected",
}


def cells_page(rows: Sequence[dict[str, Any]], figures: Sequence[str]) -> RenderableType:
    """Show a line for each cell, what is hidden as such, and how many are unsafe or hidden."""
    own = [
        name
        for name in (rows[0] if rows else {})
        if name not in {*figures, "records_dropped", "nulls"}
    ]
    table = FigureTable(header_style="bold")
    for name in own:
        table.add_column(Text(name))
    for name in SHOWN:
        table.add_column(
            name.replace("_", " "), justify="left" if name in {"unsafe", "status"} else "right"
        )
    sums = ("value_sum",) if any(row["value_sum"] is not None for row in rows) else ()
    for row in rows:
        hides = (*COUNTS, *sums) if row["status"] in HIDDEN else ()
        cells = [
            "total" if name in row["total_over"] else _shown_category(row[name]) for name in own
        ]
        figures_shown = (
            "hidden" if name in hides and row[name] is None else _shown_figure(row[name])
            for name in SHOWN
        )
        table.add_row(*map(Text, cells), *map(Text, figures_shown))
    counts = Counter(row["status"] for row in rows)
    unsafe = sum(map(is_unsafe, rows))
    determined = sum(DETERMINED in row["unsafe"] for row in rows)
    hidden = {word: counts[word] for word in HIDDEN_OR_MOVED if counts[word]}
    words = "".join(f", {number:,} {word.replace('_', ' ')}" for word, number in hidden.items())
    return Group(
        table,
        "",
        Text(f"{unsafe:,} of {len(rows):,} cells are unsafe{words}.", style="bold"),
        *([Text(f"{determined:,} {CELLS_DETERMINED}", style="yellow")] if determined else []),
        *([Text(NOT_PUBLISHED, style="dim")] if hidden else []),
    )


def is_unsafe(row: Mapping[str, Any]) -> bool:
    """Whether a cell breaks a rule by which it could not be published."""
    return bool({*row["unsafe"]} - {DETERMINED})


def describe_publication(rows: Sequence[Mapping[str, Any]], *, is_publishable: bool) -> list[str]:
    """Say what of a file of cells must not be published, or what its publishable columns cannot say.

    >>> cell = {"unsafe": ["few_people"], "status": "unsafe", "records": 3}
    >>> describe_publication([cell], is_publishable=False)
    ['1 cell is unsafe, and its figures are in this file: do not publish it, or add --suppress secondary.']
    """
    counts = Counter(row["status"] for row in rows)
    shown = sum(is_unsafe(row) and row["status"] == UNSAFE for row in rows)
    sentences = []
    if shown:
        are = "cell is unsafe, and its" if shown == 1 else "cells are unsafe, and their"
        sentences.append(f"{shown:,} {are} {REMEDY_UNSAFE}")
    if counts[UNPROTECTED]:
        sentences.append(f"{counts[UNPROTECTED]:,} {CELLS_UNPROTECTED}")
    if counts[BEYOND_BASE]:
        sentences.append(f"{counts[BEYOND_BASE]:,} {CELLS_BEYOND_BASE}")
    is_open = any(counts[word] for word in HIDDEN_OR_MOVED) and not is_publishable
    return [*sentences, *([NOT_PUBLISHED] if is_open else [])]


def _shown_category(value: Any) -> str:  # noqa: ANN401 - of a column of any type
    return "NULL" if value is None else str(value)


def _shown_figure(value: Any) -> str:  # noqa: ANN401 - a figure, or a list of words
    if isinstance(value, list):
        return ", ".join(value).replace("_", " ")
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def audited_cells_page(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show each cell with what an attacker computes, those that are revealed first."""
    table = FigureTable(header_style="bold")
    for name, side in (("cell", "left"), ("from", "right"), ("to", "right"), ("finding", "left")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    table.add_column("revealed by")
    for row in rows[:MAX_ROWS]:
        low, high = (
            row[f"largest_{end}" if row["kind"] == "sum" else end] for end in ("low", "high")
        )
        ends = ("any" if each is None else f"{each:,.10g}" for each in (low, high))
        by = row["revealing_sum"] or (row["revealed_by"] if row["kind"] == "sum" else None) or ""
        table.add_row(*map(Text, (row["cell"], *ends, FINDINGS[row["finding"]], by)))
    counts = Counter(row["finding"] for row in rows)
    words = ", ".join(
        f"{counts[word]:,} {label}" for word, label in FINDINGS.items() if counts[word]
    )
    more = f"{len(rows) - MAX_ROWS:,} more cells: --format csv" if len(rows) > MAX_ROWS else ""
    statuses = dict.fromkeys(row["status"] for row in rows if row["status"] != "ok")
    return Group(
        table,
        "",
        Text(f"Of {len(rows):,} cells: {words}.", style="bold"),
        *(Text(f"{status}.", style="yellow") for status in statuses),
        *([Text(more, style="dim")] if more else []),
    )
