"""The verdict and the advice on a terminal."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.sentences import (
    describe_check,
    describe_columns,
    explain_verdict,
    format_figure,
    format_limit,
    quotable_sentences,
    summarize_verdicts,
)
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, WIDE, Text

NARROW: Final = 110
STYLES: Final = {"pass": "green", "no worse": "yellow", "fail": "red", "not judged": "magenta"}


def verdict_page(page: ReportPage, width: int = WIDE) -> RenderableType:
    """Show every check with its figure and limit, then the verdict; in blocks where the terminal is narrow.

    The blocks are of lines.
    """
    refuse_unmasked(page)
    checks = _check_lines(page) if width < NARROW else [_checks_table(page)]
    return Group(
        Text(f"Policy: {page['policy']['name']}", style="bold"),
        *(Text(_table_facts(each), style="dim") for each in page["tables"]),
        *(
            Text(ONE_ROW_ONE_PERSON, style="dim")
            for _ in [0]
            if any(each["entity"] is None for each in page["tables"])
        ),
        *checks,
        *(Text(quote) for quote in quotable_sentences(page)),
        Panel(Text(summarize_verdicts(page)), style=STYLES[page["verdict"]]),
    )


def _checks_table(page: ReportPage) -> Table:
    table = Table(header_style="bold")
    for column in ("verdict", "table", "measure", "figure", "limit", ""):
        table.add_column(column, justify="right" if column in ("figure", "limit") else "left")
    for check in page["checks"]:
        explanation = explain_verdict(check)
        badge = Text(check["verdict"].upper(), style=f"bold {STYLES[check['verdict']]}")
        cells = (format_figure(explanation.group, check), format_limit(check), explanation.words)
        table.add_row(badge, Text(check["table"]), _measure_cell(check), *(Text(cell) for cell in cells))
    return table


def _measure_cell(check: ReportPage) -> RenderableType:
    lines = [Text(describe_check(check))]
    if describe_columns(check):
        lines.append(Text(describe_columns(check), style="dim"))
    return Group(*lines)


def _check_lines(page: ReportPage) -> Iterator[RenderableType]:
    """Give a block of lines for each check."""
    for check in page["checks"]:
        explanation = explain_verdict(check)
        yield Text(
            f"{check['verdict'].upper()}  {check['table']}: {describe_check(check)}",
            style=f"bold {STYLES[check['verdict']]}",
        )
        lines = (
            describe_columns(check),
            f"{format_figure(explanation.group, check)}, limit {format_limit(check)}",
            explanation.words,
        )
        yield from (Padding(Text(line), (0, 0, 0, 4)) for line in lines if line)


def _table_facts(each: ReportPage) -> str:
    dropped = "" if each["records_dropped"] == 0 else ", some dropped for a NULL"
    dropped = f", {each['records_dropped']:,} dropped for a NULL" if each["records_dropped"] else dropped
    named = ", ".join(each["quasi_identifiers"]) or "no quasi-identifiers"
    counted = "records" if each["entity"] is None else f"people, distinguished by {each['entity']},"
    return f"{each['name']}: {each['records']:,} {counted}{dropped} by {named}"


MAX_CHANGES: Final = 12  # changes for each check


def advice_page(page: ReportPage) -> RenderableType:
    """Show the strongest changes for each failing check, and what meets all."""
    refuse_unmasked(page)
    cautions = (
        Text(f"{t['name']}: {each}", style="yellow") for t in page["tables"] for each in t["cautions"]
    )
    if not page["failing"]:
        words = "Nothing to advise: every check is within its limit."
        return Group(Panel(Text(words), style="green"), *cautions)
    return Group(
        *(_advice_for_check(each) for each in page["failing"]),
        *(_advice_for_table(each) for each in page["tables"] if each["failing"]),
        *cautions,
    )


def _advice_for_check(each: ReportPage) -> RenderableType:
    title = (
        f"{each['table']}: {describe_check(each)} {describe_columns(each)} is "
        f"{format_figure(each['groups'][0], each)}, limit {format_limit(each)}"
    )
    why = [Text(f"  not judged: {each['groups'][0]['why']}")] if each["verdict"] == "not judged" else []
    if not each["changes"]:
        words = "  The figure does not depend on the quasi-identifiers, so no change was measured."
        return Group(Text(title, style="bold"), *(why or [Text(words, style="dim")]), "")
    table = Table(header_style="bold")
    table.add_column("measured with")
    table.add_column("figure", justify="right")
    table.add_column("")
    for row in each["changes"][:MAX_CHANGES]:
        met = row["verdict"] not in ("fail", "not judged")
        table.add_row(
            Text(row["change"]),
            Text(format_figure(row["figure"], each)),
            Text("meets the limit" if met else "", style="green"),
        )
    left = len(each["changes"]) - MAX_CHANGES
    return Group(
        Text(title, style="bold"),
        *why,
        table,
        Text(f"  and {left} more; --json shows all", style="dim") if left > 0 else "",
        "",
    )


def _advice_for_table(each: ReportPage) -> RenderableType:
    best = each["changes"][0] if each["changes"] else None
    if best is None:
        words = "no measured change meets any failing check; reid-sql prepare tries combinations."
        return Panel(Text(f"{each['name']}: {words}"), style="red")
    met, all_of = best["meets"], each["failing"]
    alike = [
        row["change"]
        for row in each["changes"]
        if row["meets"] == met and len(row["drop"]) == len(best["drop"])
    ][:5]
    words = (
        f"{each['name']}: {', or '.join(alike)} meets {'all' if met == all_of else f'{met} of'} "
        f"{all_of} failing checks."
    )
    return Panel(Text(words), style="green" if met == all_of else "yellow")
