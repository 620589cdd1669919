"""What preparing found, on a terminal: each column's form, what is lost, whether less could be."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from reid_sql.check.terminal import verdict_page
from reid_sql.models.numerics.quantiles import percent
from reid_sql.release.sentences import sentences
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, Text

Page = dict[str, Any]


def release_page(page: Page, width: int) -> RenderableType:
    """Show each table's form, then the gate's verdict on the release."""
    parts: list[RenderableType] = [part for table in page["tables"] for part in _table(table)]
    report = page["report"]
    return Group(*parts, verdict_page(report, width) if report else Text(ONE_ROW_ONE_PERSON, style="dim"))


def _table(table: Page) -> list[RenderableType]:
    title = Text(
        f"{table['name']}: {table['forms_counted']:,} of {table['forms']:,} forms counted", style="bold"
    )
    told = [Text(each) for each in sentences(table)]
    if table["losses"] is None:
        return [title, *told, ""]
    shown = Table(header_style="bold")
    for name in ("column", "in the release"):
        shown.add_column(name)
    shown.add_column("loss", justify="right")
    for each in table["columns"]:
        words = each["form"].removeprefix(f"{each['column']} ")
        shown.add_row(Text(each["column"]), Text(words), percent(each["loss"] or 0.0))
    return [title, shown, *told, *_left_out(table), ""]


def _left_out(table: Page) -> list[RenderableType]:
    """The columns that no check looks at."""
    if not table["columns_left_out"]:
        return []
    listed = ", ".join(table["columns_left_out"])
    return [Text(f"Left out, as no check names them: {listed} (prepare.keep hands on others).", style="dim")]
