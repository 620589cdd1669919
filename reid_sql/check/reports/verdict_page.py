"""The verdict on a terminal: one line a check, what decided it, and the whole in one sentence."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from reid_sql.check.reports.words import asked, counted, figure, limit, note, quotable, sentence
from reid_sql.terminal import ONE_ROW_ONE_PERSON, WIDE, Text

NARROW: Final = 110
STYLES: Final = {"pass": "green", "no worse": "yellow", "fail": "red", "not judged": "magenta"}


def verdict_page(page: Mapping[str, Any], width: int = WIDE) -> RenderableType:
    """Show every check with its figure and limit, then the verdict; in blocks where the terminal is narrow.

    The blocks are of lines.
    """
    checks = _lines(page) if width < NARROW else [_table(page)]
    return Group(
        Text(f"Policy: {page['policy']['name']}", style="bold"),
        *(Text(_facts(each), style="dim") for each in page["tables"]),
        *(
            Text(ONE_ROW_ONE_PERSON, style="dim")
            for _ in [0]
            if any(each["entity"] is None for each in page["tables"])
        ),
        *checks,
        *(Text(told) for told in quotable(page)),
        Panel(Text(sentence(page)), style=STYLES[page["verdict"]]),
    )


def _table(page: Mapping[str, Any]) -> Table:
    table = Table(header_style="bold")
    for column in ("verdict", "table", "measure", "figure", "limit", ""):
        table.add_column(column, justify="right" if column in ("figure", "limit") else "left")
    for check in page["checks"]:
        found = note(check)
        badge = Text(check["verdict"].upper(), style=f"bold {STYLES[check['verdict']]}")
        cells = (figure(found.group, check), limit(check), found.words)
        table.add_row(badge, Text(check["table"]), _measure(check), *(Text(cell) for cell in cells))
    return table


def _measure(check: Mapping[str, Any]) -> RenderableType:
    told = [Text(asked(check))]
    if counted(check):
        told.append(Text(counted(check), style="dim"))
    return Group(*told)


def _lines(page: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Give a block of lines for each check."""
    for check in page["checks"]:
        found = note(check)
        yield Text(
            f"{check['verdict'].upper()}  {check['table']}: {asked(check)}",
            style=f"bold {STYLES[check['verdict']]}",
        )
        told = (counted(check), f"{figure(found.group, check)}, limit {limit(check)}", found.words)
        yield from (Padding(Text(line), (0, 0, 0, 4)) for line in told if line)


def _facts(each: Mapping[str, Any]) -> str:
    dropped = "" if each["records_dropped"] == 0 else ", some dropped for a NULL"
    dropped = f", {each['records_dropped']:,} dropped for a NULL" if each["records_dropped"] else dropped
    named = ", ".join(each["quasi_identifiers"]) or "no quasi-identifiers"
    counted = "records" if each["entity"] is None else f"people, told apart by {each['entity']},"
    return f"{each['name']}: {each['records']:,} {counted}{dropped} by {named}"
