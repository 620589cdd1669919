"""The advice on a terminal: for each failing check what each change does to it, then what meets them all."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from reid_sql.check.reports.words import asked, counted, figure, limit
from reid_sql.terminal import Text

SHOWN: Final = 12  # changes for each check


def advice_page(page: Mapping[str, Any]) -> RenderableType:
    """Show the strongest changes for each failing check, and what meets all."""
    if not page["failing"]:
        return Panel(Text("Nothing to advise: every check is within its limit."), style="green")
    return Group(
        *(_check(each) for each in page["failing"]),
        *(_table(each) for each in page["tables"] if each["failing"]),
    )


def _check(each: Mapping[str, Any]) -> RenderableType:
    title = (
        f"{each['table']}: {asked(each)} {counted(each)} is {figure(each['groups'][0], each)}, "
        f"limit {limit(each)}"
    )
    why = [Text(f"  not judged: {each['groups'][0]['why']}")] if each["verdict"] == "not judged" else []
    if not each["changes"]:
        words = "  does not hang on the quasi-identifiers, so nothing was measured"
        return Group(Text(title, style="bold"), *(why or [Text(words, style="dim")]), "")
    table = Table(header_style="bold")
    table.add_column("measured with")
    table.add_column("figure", justify="right")
    table.add_column("")
    for row in each["changes"][:SHOWN]:
        met = row["verdict"] not in ("fail", "not judged")
        table.add_row(
            Text(row["change"]),
            Text(figure(row["figure"], each)),
            Text("meets the limit" if met else "", style="green"),
        )
    left = len(each["changes"]) - SHOWN
    return Group(
        Text(title, style="bold"),
        *why,
        table,
        Text(f"  and {left} more; --json shows all", style="dim") if left > 0 else "",
        "",
    )


def _table(each: Mapping[str, Any]) -> RenderableType:
    best = each["changes"][0] if each["changes"] else None
    if best is None:
        return Panel(
            Text(f"{each['name']}: no change that was measured meets any failing check; combine several."),
            style="red",
        )
    met, all_of = best["meets"], each["failing"]
    alike = [
        row["change"]
        for row in each["changes"]
        if row["meets"] == met and len(row["drop"]) == len(best["drop"])
    ][:5]
    words = (
        f"{each['name']}: {' | '.join(alike)} meets {'all' if met == all_of else met} "
        f"of {all_of} failing checks."
    )
    return Panel(Text(words), style="green" if met == all_of else "yellow")
