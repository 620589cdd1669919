"""What preparing found, on a terminal: each column's form, what is lost, whether less could be."""

from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table

from reid_sql.check.reports.verdict_page import verdict_page
from reid_sql.models.numerics.percent import percent
from reid_sql.models.release.loss import WORDS
from reid_sql.screen import ONE_ROW_ONE_PERSON, Text

Page = dict[str, Any]
NONE: Final = (
    "No form of the table was found that meets the policy: allow more suppression, a longer time, other "
    "ladders or a milder limit."
)


def release_page(page: Page, width: int) -> RenderableType:
    """Show each table's form, then the gate's verdict on the release."""
    parts: list[RenderableType] = [part for table in page["tables"] for part in _table(table)]
    report = page["report"]
    return Group(*parts, verdict_page(report, width) if report else Text(ONE_ROW_ONE_PERSON, style="dim"))


def _table(table: Page) -> list[RenderableType]:
    title = Text(
        f"{table['name']}: {table['forms_counted']:,} of {table['forms']:,} forms counted", style="bold"
    )
    if table["losses"] is None:
        proof = " None meets it." if table["none_meets"] else ""
        return [title, Text(f"{NONE}{proof}"), ""]
    shown = Table(header_style="bold")
    for name in ("column", "in the release"):
        shown.add_column(name)
    shown.add_column("loss", justify="right")
    for each in table["columns"]:
        words = each["form"].removeprefix(f"{each['column']} ")
        shown.add_row(Text(each["column"]), Text(words), percent(each["loss"] or 0.0))
    blank = [Text(_blank(table))] if table["blank_columns"] else []
    told = [Text(_suppressed(table)), Text(_lost(table)), *_target(table), *_left_out(table)]
    return [title, shown, *blank, *told, ""]


def _blank(table: Page) -> str:
    listed = "; ".join(", ".join(stage) for stage in table["blank_columns"])
    share = table["blank_share"]
    few = "few" if share is None else percent(share)
    return f"Records of rare combinations have blank values, '*': {few}, in one of {listed}."


def _suppressed(table: Page) -> str:
    cut, share = table["suppressed_below"], table["suppressed_share"]
    if share == 0 or (cut is None and not table["suppressed_for"]):
        return "No record is left out."
    few = "few, so that their number is not told" if share is None else percent(share)
    small = [] if cut is None else [f"that fewer than {cut} records have"]
    return f"Records of a combination {', or '.join([*small, *table['suppressed_for']])} are left out: {few}."


def _lost(table: Page) -> str:
    lost = percent(table["losses"][table["loss"]])
    words = f"Loss ({WORDS[table['loss']]}): {lost}"
    if table["optimal"]:
        before = " before values are blank" if table["blank_columns"] else ""
        return f"{words}, the least of all forms that meet the policy{before}."
    least = percent(table["least_possible_loss"])
    return f"{words}, the least found in the time; it is not shown that none loses less (at least {least})."


def _left_out(table: Page) -> list[RenderableType]:
    """The columns that no check looks at."""
    if not table["columns_left_out"]:
        return []
    listed = ", ".join(table["columns_left_out"])
    return [Text(f"Left out, as no check names them: {listed} (prepare.keep hands on others).", style="dim")]


def _target(table: Page) -> list[RenderableType]:
    """How well the target is predicted before and after."""
    told = table["target"]
    if told is None:
        return []
    kept = told["information_kept"]
    none = f"{told['column']}: nothing told of it before, so nothing is lost."
    before, after = told["original"], told["released"]
    errors = f"wrong in {percent(before['error'])} of the records before, {percent(after['error'])} after"
    by = f"by {', '.join(before['by'])} before, by {', '.join(after['by']) or 'nothing'} after"
    guess = f"{percent(told['expected_error'])} by its most frequent value"
    words = (
        f"Target {told['column']}: {'' if kept is None else percent(kept)} of what was told of it is kept; "
    )
    return [Text(none if kept is None else f"{words}the best table is {errors} ({by}; {guess}).")]
