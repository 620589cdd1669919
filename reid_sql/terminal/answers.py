"""Pages of a profile and of tables of aggregates: columns, cells, and what an audit finds."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.columns.column_profile import SUGGESTIONS, kind_of_advice
from reid_sql.models.numerics.quantiles import percent
from reid_sql.sql.cells import DETERMINED
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, FigureTable, Text

CODES_COUNT: Final = "Missing-value codes count as values: make them NULL if they mean 'unknown'."


def describe_smallest_set(share: float, found: Sequence[Mapping[str, Any]]) -> str:
    """Name the smallest set of columns by which such a share is unique, or why none is named.

    >>> best = {"columns": ["age", "sex"], "share_unique": 0.12, "status": "ok"}
    >>> describe_smallest_set(0.05, [best, best])
    'Smallest set of columns that singles out 5 % of the records: age, sex (12.0 %); 1 other set is as small.'
    """
    best, asked = found[0], f"{100 * share:g} %"
    singled = f"singles out {asked} of the records:"
    status = "; ".join(re.sub(r"^[a-z_]+: ", "", each) for each in best["status"].split("; "))
    status = status.replace("at_least", asked)
    if not best["columns"]:
        is_none = best["status"].startswith("no_set:")
        return f"Smallest set of columns that {singled} {'none' if is_none else 'not searched'} ({status})."
    names = f"{', '.join(best['columns'])} ({percent(best['share_unique'])})"
    if best["status"] != OK:
        return f"A set of columns that {singled} {names}; {status}."
    others = len(found) - 1
    more = f"; {others:,} other set{'s are' if others > 1 else ' is'} as small" if others else ""
    return f"Smallest set of columns that {singled} {names}{more}."


def profile_page(rows: Sequence[dict[str, Any]], singling_out: Sequence[str]) -> RenderableType:
    """Show which columns together single records out, a line for each column, then what to do by kind."""
    title = Text(f"{rows[0]['records']:,} records, {len(rows)} columns", style="bold")
    sets = [Text(line) for line in singling_out]
    advice = [Text.assemble((names, "bold"), f": {text}") for names, text in advice_by_kind(rows)]
    codes = any(row["sentinels"] for row in rows)
    parts = [*advice, *([Text(CODES_COUNT)] if codes else []), Text(ONE_ROW_ONE_PERSON, style="dim")]
    return Group(title, *sets, "", columns_table(rows, {}), "", *parts)


def advice_by_kind(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Name the columns of each kind, and what to do with them."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        known = 1 - row["missing"] - sum(row["sentinel_records"]) / row["records"]
        kind = kind_of_advice(row["column_name"], row["looks_like"], known)
        kinds.setdefault(kind, []).append(row["column_name"])
    found = []
    for kind, names in kinds.items():
        advice, _, safer = SUGGESTIONS[kind]
        found.append((", ".join(names), f"{advice}{f'; {safer}' if safer else ''}."))
    return found


def columns_table(rows: Sequence[Mapping[str, Any]], roles: Mapping[str, str]) -> Table:
    """Show a line for each column; with what it is proposed as, where there are `roles`."""
    table = FigureTable(
        header_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        caption="unique: share of records that are the only one with their value",
        caption_justify="left",
    )
    for name in ("column", *(["proposed as"] if roles else []), "looks like"):
        table.add_column(name)
    for name in ("values", "unique", "NULL"):
        table.add_column(name, justify="right")
    table.add_column("missing-value codes")
    for row in rows:
        codes = zip(row["sentinels"], row["sentinel_records"], strict=True)
        cells = [
            row["column_name"],
            *([roles.get(row["column_name"], "")] if roles else []),
            row["looks_like"],
            f"{row['distinct_values']:,}",
            percent(row["uniqueness"]),
            percent(row["missing"]),
            ", ".join(f"'{code}' {records:,}" for code, records in codes),
        ]
        table.add_row(*map(Text, cells))
    return table


# Pages of tables of aggregates for a terminal: their cells, and what an audit finds.


MAX_ROWS: Final = 60  # that a page shows
SHOWN: Final = ("records", "people", "value_sum", "unsafe", "status")
NOT_PUBLISHED: Final = (
    "Publish neither unsafe, status nor loss: they say more of a hidden cell than its figures."
)
CELLS_DETERMINED: Final = (
    "finer cells repeat that a category has one category of another column alone (determined)."
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
        table.add_column(Text(name))
    for name in SHOWN:
        table.add_column(name.replace("_", " "), justify="left" if name in {"unsafe", "status"} else "right")
    for row in rows[:MAX_ROWS]:
        cells = ["total" if name in row["total_over"] else _shown_category(row[name]) for name in own]
        table.add_row(*map(Text, cells), *(Text(_shown_figure(row[name])) for name in SHOWN))
    counts = Counter(row["status"] for row in rows)
    unsafe = sum(bool({*row["unsafe"]} - {DETERMINED}) for row in rows)
    determined = sum(DETERMINED in row["unsafe"] for row in rows)
    hidden = {word: counts[word] for word in ("primary", "secondary", "unprotected") if counts[word]}
    words = "".join(f", {number:,} {word}" for word, number in hidden.items())
    more = [f"{len(rows) - MAX_ROWS:,} more cells: --format csv"] if len(rows) > MAX_ROWS else []
    return Group(
        table,
        "",
        Text(f"{unsafe:,} of {len(rows):,} cells are unsafe{words}.", style="bold"),
        *([Text(f"{determined:,} {CELLS_DETERMINED}", style="yellow")] if determined else []),
        *(Text(line, style="dim") for line in [*more, *([NOT_PUBLISHED] if hidden else [])]),
    )


def _shown_category(value: Any) -> str:  # noqa: ANN401 - of a column of any type
    return "NULL" if value is None else str(value)


def _shown_figure(value: Any) -> str:  # noqa: ANN401 - a figure, or a list of words
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
