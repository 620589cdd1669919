"""Pages of tables of aggregates: their cells, and what an audit finds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from reid_sql.models.tables.audit import NOT_AUDITED
from reid_sql.parameters import ColumnNames, Row, Rows
from reid_sql.sql.cells import DETERMINED
from reid_sql.terminal.console import (
    FigureTable,
    caution,
    figure_columns,
    heading,
    note,
    page,
    statuses,
    word_columns,
)

MAX_ROWS: Final = 60  # that a page shows
UNPROTECTED: Final = "unprotected"
COUNTS: Final = ("records", "people")
HIDDEN: Final = ("primary", "secondary", UNPROTECTED)
SHOWN: Final = (*COUNTS, "value_sum")
JUDGED: Final = ("unsafe", "status")
NOT_PUBLISHED: Final = (
    "Publish neither unsafe, status nor loss: they say more of a hidden cell than its figures."
)
CELLS_DETERMINED: Final = (
    "finer cells repeat that a category has one category of another column alone (determined)."
)
# statuses that words follow
HIDDEN_OR_MOVED: Final = ("primary", "secondary", "unprotected", "rounded", "beyond_base")
UNSAFE: Final = "unsafe"
HOW_COUNTED: Final = ("records_dropped", "nulls")  # columns of every answer
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
    "not_audited": "not audited",
    "protected": "protected",
}


def cells_page(rows: Rows, figures: Sequence[str]) -> RenderableType:
    """Show a line for each cell, what is hidden as such, and how many are unsafe or hidden."""
    dividing = [name for name in (rows[0] if rows else {}) if name not in {*figures, *HOW_COUNTED}]
    has_sums = any(row["value_sum"] is not None for row in rows)
    shown = SHOWN if has_sums else COUNTS
    columns = word_columns(*dividing)
    columns += figure_columns(*(name.replace("_", " ") for name in shown))
    determined = sum(DETERMINED in row["unsafe"] for row in rows)
    moved = _count_moved(rows)
    words = "".join(f", {count:,} {word.replace('_', ' ')}" for word, count in moved.items())
    return page(
        FigureTable(
            [*columns, *word_columns(*JUDGED)],
            (_cell_line(row, dividing, shown) for row in rows),
        ),
        "",
        heading(f"{sum(map(is_unsafe, rows)):,} of {len(rows):,} cells are unsafe{words}."),
        caution(f"{determined:,} {CELLS_DETERMINED}" * bool(determined)),
        note(NOT_PUBLISHED * bool(moved)),
    )


def _cell_line(row: Row, dividing: ColumnNames, shown: Sequence[str]) -> list[str]:
    """Write the categories of a cell, its figures or that they are hidden, and how it was judged."""
    line = []
    for name in dividing:
        category = "NULL" if row[name] is None else str(row[name])
        line.append("total" if name in row["total_over"] else category)
    hides = row["status"] in HIDDEN
    for name in shown:
        is_hidden = hides and row[name] is None
        line.append("hidden" if is_hidden else _format_figure(row[name]))
    return [*line, *(_format_figure(row[name]) for name in JUDGED)]


def _count_moved(rows: Rows) -> dict[str, int]:
    """Count the cells of each status by which a figure is hidden or is not the true one."""
    counts = Counter(row["status"] for row in rows)
    return {word: counts[word] for word in HIDDEN_OR_MOVED if counts[word]}


def is_unsafe(row: Row) -> bool:
    """Whether a cell breaks a rule by which it could not be published."""
    return bool({*row["unsafe"]} - {DETERMINED})


def describe_publication(rows: Rows, *, is_publishable: bool) -> list[str]:
    """Say what of a file of cells must not be published, or what its publishable columns cannot say.

    >>> cell = {"unsafe": ["few_people"], "status": "unsafe", "records": 3}
    >>> describe_publication([cell], is_publishable=False)
    ['1 cell is unsafe, and its figures are in this file: do not publish it, or add --suppress secondary.']
    """
    counts = Counter(row["status"] for row in rows)
    unsafe = sum(is_unsafe(row) and row["status"] == UNSAFE for row in rows)
    are = "cell is unsafe, and its" if unsafe == 1 else "cells are unsafe, and their"
    is_open = bool(_count_moved(rows)) and not is_publishable
    sentences = {
        f"{unsafe:,} {are} {REMEDY_UNSAFE}": unsafe,
        f"{counts[UNPROTECTED]:,} {CELLS_UNPROTECTED}": counts[UNPROTECTED],
        f"{counts[BEYOND_BASE]:,} {CELLS_BEYOND_BASE}": counts[BEYOND_BASE],
        NOT_PUBLISHED: is_open,
    }
    return [sentence for sentence, is_true in sentences.items() if is_true]


def _format_figure(value: Any) -> str:  # noqa: ANN401 - a figure, or a list of words
    match value:
        case None:
            return ""
        case list():
            return ", ".join(value).replace("_", " ")
        case float():
            return f"{value:,.6g}"
        case int():
            return f"{value:,}"
    return str(value)


def audited_cells_page(rows: Rows) -> RenderableType:
    """Show each cell with what an attacker computes, those that are revealed first."""
    columns = [*word_columns("cell"), *figure_columns("from", "to")]
    counts = Counter(row["finding"] for row in rows)
    words = ", ".join(
        f"{counts[word]:,} {label}" for word, label in FINDINGS.items() if counts[word]
    )
    more = len(rows) - MAX_ROWS
    cells = len(rows) - counts[NOT_AUDITED]
    return page(
        FigureTable(
            [*columns, *word_columns("finding", "revealed by")], map(_audited_line, rows[:MAX_ROWS])
        ),
        "",
        heading(f"Of {cells:,} cells{' and other columns' * (cells < len(rows))}: {words}."),
        *(caution(f"{status}.") for status in statuses(rows)),
        note(f"{more:,} more cells: --format csv" if more > 0 else ""),
    )


def _audited_line(row: Row) -> list[str]:
    """Write a cell, the interval that an attacker computes of it, and what reveals it."""
    is_sum = row["kind"] == "sum"
    interval = ("largest_low", "largest_high") if is_sum else ("low", "high")
    unknown = "" if row["finding"] == NOT_AUDITED else "any"
    ends = (unknown if row[end] is None else f"{row[end]:,.10g}" for end in interval)
    by = row["revealing_sum"] or (row["revealed_by"] if is_sum else None) or ""
    return [row["cell"], *ends, FINDINGS[row["finding"]], by]
