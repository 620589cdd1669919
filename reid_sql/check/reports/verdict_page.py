"""The verdict on a terminal: one line a check, what decided it, and the whole in one sentence."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from reid_sql.check.reports.words import asked, figure, limit, note, sentence
from reid_sql.screen import Text

STYLES: Final = {"pass": "green", "no worse": "yellow", "fail": "red", "not judged": "magenta"}


def verdict_page(page: Mapping[str, Any]) -> RenderableType:
    """Show every check with its figure and limit, then the verdict."""
    table = Table(header_style="bold")
    for column, side in (
        ("verdict", "left"),
        ("table", "left"),
        ("measure", "left"),
        ("figure", "right"),
        ("limit", "right"),
        ("", "left"),
    ):
        table.add_column(column, justify=side)  # type: ignore[arg-type]
    for check in page["checks"]:
        found = note(check)
        style = STYLES[check["verdict"]]
        cells = (check["table"], asked(check), figure(found.group), limit(check), found.words)
        table.add_row(Text(check["verdict"].upper(), style=f"bold {style}"), *(Text(cell) for cell in cells))
    return Group(
        Text(f"Policy: {page['policy']['name']}", style="bold"),
        *(Text(_table(each), style="dim") for each in page["tables"]),
        table,
        Panel(Text(sentence(page)), style=STYLES[page["verdict"]]),
    )


def _table(each: Mapping[str, Any]) -> str:
    dropped = f", {each['records_dropped']:,} dropped for a NULL" if each["records_dropped"] else ""
    named = ", ".join(each["quasi_identifiers"]) or "no quasi-identifiers"
    return f"{each['name']}: {each['records']:,} records{dropped} by {named}"
