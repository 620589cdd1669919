"""Pages of tables of aggregates for a terminal: their cells, and what an audit finds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from reid_sql.terminal.console import FigureTable

MAX_ROWS: Final = 60  # that a page shows
SHOWN: Final = ("records", "people", "value_sum", "unsafe", "status")
NOT_PUBLISHED: Final = (
    "Publish neither unsafe, status nor loss: they say more of a hidden cell than its figures."
)
FINDINGS: Final[Mapping[str, str]] = {
    "recovered": "known exactly",
    "below_k": "known to be below k",
    "published_below_k": "published below k",
    "protected": "protected",
}


def cells_page(rows: Sequence[dict[str, Any]], figures: Sequence[str]) -> RenderableType:
    """Show a line for each cell, and how many are unsafe or hidden."""
    own = [name for name in (rows[0] if rows else {}) if name not in {*figures, "records_dropped", "nulls"}]
    table = FigureTable(header_style="bold")
    for name in own:
        table.add_column(name)
    for name in SHOWN:
        table.add_column(name.replace("_", " "), justify="left" if name in {"unsafe", "status"} else "right")
    for row in rows[:MAX_ROWS]:
        cells = ["total" if name in row["total_over"] else _shown_category(row[name]) for name in own]
        table.add_row(*map(Text, cells), *(Text(_shown(row[name])) for name in SHOWN))
    counts = Counter(row["status"] for row in rows)
    unsafe = sum(bool(row["unsafe"]) for row in rows)
    hidden = {word: counts[word] for word in ("primary", "secondary", "unprotected") if counts[word]}
    words = "".join(f", {number:,} {word}" for word, number in hidden.items())
    more = [f"{len(rows) - MAX_ROWS:,} more cells: --format csv"] if len(rows) > MAX_ROWS else []
    return Group(
        table,
        "",
        Text(f"{unsafe:,} of {len(rows):,} cells are unsafe{words}.", style="bold"),
        *(Text(line, style="dim") for line in [*more, *([NOT_PUBLISHED] if hidden else [])]),
    )


def _shown_category(value: Any) -> str:  # noqa: ANN401 - of a column of any type
    return "NULL" if value is None else str(value)


def _shown(value: Any) -> str:  # noqa: ANN401 - a figure, or a list of words
    if isinstance(value, list):
        return ", ".join(value).replace("_", " ")
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def audit_page(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show each cell with what an attacker computes, those that are revealed first."""
    table = FigureTable(header_style="bold")
    for name, side in (("cell", "left"), ("from", "right"), ("to", "right"), ("finding", "left")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    table.add_column("revealed by")
    for row in rows[:MAX_ROWS]:
        high = "any" if row["high"] is None else f"{row['high']:,}"
        finding = FINDINGS[row["finding"]]
        table.add_row(*map(Text, (row["cell"], f"{row['low']:,}", high, finding, row["revealing_sum"] or "")))
    counts = Counter(row["finding"] for row in rows)
    words = ", ".join(f"{counts[word]:,} {label}" for word, label in FINDINGS.items() if counts[word])
    more = f"{len(rows) - MAX_ROWS:,} more cells: --format csv" if len(rows) > MAX_ROWS else ""
    statuses = dict.fromkeys(row["status"] for row in rows if row["status"] != "ok")
    return Group(
        table,
        "",
        Text(f"Of {len(rows):,} cells: {words}.", style="bold"),
        *(Text(f"{status}.", style="yellow") for status in statuses),
        *([Text(more, style="dim")] if more else []),
    )
