"""The verdict on a terminal."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.sentences import (
    TableCautions,
    cautions_of_figures,
    checks_of,
    describe_check,
    describe_columns,
    describe_released_columns,
    explain_verdict,
    find_table_cautions,
    format_figure,
    format_limit,
    quotable_sentences,
    summarize_verdicts,
)
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, WIDE, Text

NARROW: Final = 110
STYLES: Final = {"pass": "green", "no worse": "yellow", "fail": "red", "not judged": "magenta"}


def facts_page(page: ReportPage) -> RenderableType:
    """Show what was counted of each table, and its cautions, without a verdict."""
    refuse_unmasked(page)
    lines = (
        line
        for each in page["tables"]
        for line in _table_lines(each, find_table_cautions(page, each["name"]))
    )
    single = (each for table in page["tables"] for each in cautions_of_figures(page, table["name"]))
    assumed = [Text(ONE_ROW_ONE_PERSON, style="dim")]
    return Group(
        *lines,
        *(Text(each, style="yellow") for each in single),
        *(Text(quote) for quote in quotable_sentences(page)),
        *(assumed if page["tables"][0]["entity"] is None else []),
    )


def verdict_page(page: ReportPage, width: int = WIDE) -> RenderableType:
    """Show every check with its figure and limit, then the verdict; in blocks where the terminal is narrow.

    The blocks are of lines.
    """
    refuse_unmasked(page)
    cautions = {each["name"]: find_table_cautions(page, each["name"]) for each in page["tables"]}
    checks = _check_lines(page, cautions) if width < NARROW else _checks_tables(page, cautions)
    return Group(
        Text(f"Policy: {page['policy']['name']}", style="bold"),
        *(line for each in page["tables"] for line in _table_lines(each, cautions[each["name"]])),
        *(
            Text(ONE_ROW_ONE_PERSON, style="dim")
            for _ in [0]
            if any(each["entity"] is None for each in page["tables"])
        ),
        *checks,
        *(Text(quote) for quote in quotable_sentences(page)),
        Panel(Text(summarize_verdicts(page)), style=STYLES[page["verdict"]]),
    )


def _table_lines(each: ReportPage, cautions: TableCautions) -> Iterator[RenderableType]:
    """Show the facts of a table, its cautions once, and the lines of the policy that resolve them."""
    is_known = each["records"] is None or each["records_dropped"] == 0
    dropped = "" if is_known else ", some dropped for a NULL"
    dropped = (
        f", {each['records_dropped']:,} dropped for a NULL" if each["records_dropped"] else dropped
    )
    named = ", ".join(each["quasi_identifiers"]) or "no quasi-identifiers"
    counted = "records" if each["entity"] is None else f"people, distinguished by {each['entity']}"
    number = "not counted" if each["records"] is None else f"{each['records']:,}"
    yield Text(f"{each['name']} by {named}, {counted}: {number}{dropped}", style="dim")
    yield from map(Text, describe_released_columns(each))
    if cautions.sentences:
        yield Text(f"Cautions on {each['name']}", style="yellow")
        yield from (Padding(Text(sentence), (0, 0, 0, 2)) for sentence in cautions.sentences)
    for words, lines in cautions.lines.items():
        yield Text(words)
        yield from (Padding(Text(line), (0, 0, 0, 4)) for line in lines)


def _checks_tables(
    page: ReportPage, cautions: Mapping[str, TableCautions]
) -> Iterator[RenderableType]:
    """Give the checks of each table of the policy below its name, however long it is."""
    for name in dict.fromkeys(check["table"] for check in page["checks"]):
        yield Text(name, style="bold")
        table = Table(header_style="bold")
        for column in ("verdict", "measure", "figure", "limit", ""):
            table.add_column(column, justify="right" if column in ("figure", "limit") else "left")
        for check in checks_of(page, name):
            explanation = explain_verdict(check, cautions[name].sentences)
            badge = Text(check["verdict"].upper(), style=f"bold {STYLES[check['verdict']]}")
            cells = (
                format_figure(explanation.group, check),
                format_limit(check),
                explanation.words,
            )
            lines = [Text(describe_check(check))]
            if describe_columns(check):
                lines.append(Text(describe_columns(check), style="dim"))
            table.add_row(badge, Group(*lines), *(Text(cell) for cell in cells))
        yield table


def _check_lines(
    page: ReportPage, cautions: Mapping[str, TableCautions]
) -> Iterator[RenderableType]:
    """Give a block of lines for each check."""
    for check in page["checks"]:
        explanation = explain_verdict(check, cautions[check["table"]].sentences)
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
