"""The release of each table in sentences, and as a page of the terminal."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType

from reid_sql.check.masked_tables import STATUS_WITHHELD
from reid_sql.check.terminal import verdict_page
from reid_sql.models.generalization.lattice import LOSS_LABELS
from reid_sql.models.numerics.quantiles import percent
from reid_sql.prepare.page import OTHER_NULLS, REFUSED, TIME_LIMIT, TOO_LARGE, Page
from reid_sql.prepare.usefulness import cross_table_words
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, FigureTable, Text

UNPROVED: Final = {
    OTHER_NULLS: "Less may be possible: the search takes NULL for a value, and the policy does not.",
    TOO_LARGE: (
        "{forms:,} transformations are too many to search all: columns became finer one by one, as long as "
        "the policy is met. Fewer quasi-identifiers or shorter hierarchies allow a proof."
    ),
}
OMITTED: Final = (
    "Left out of the release, as no check names them or the policy leaves them out: {} (prepare.keep lists "
    "columns to keep)."
)
NUMBERED: Final = (
    "In place of {}, the release has random numbers, one for each person, drawn when its query runs; no key "
    'leads back. Write prepare.keep = ["{}"] to release the identifier itself.'
)
NONE: Final = (
    "No transformation of the table was found that meets the policy. Allow more suppression, more time, "
    "other hierarchies or a less strict limit."
)
NONE_JUDGED: Final = (
    "No transformation could be judged: of each, the policy refuses a caution on the file."
)


def sentences(table: Page) -> Iterator[str]:
    """Describe a table's transformation in the order in which it is applied, or say what to change."""
    if table["losses"] is None:
        proof = " The search proved that none exists." if table["none_meets"] else ""
        is_judged = table["search_ended"] != REFUSED
        yield f"{NONE}{proof}{_limits(table)}" if is_judged else NONE_JUDGED
        return
    if table["blank_columns"]:
        listed = "; ".join(", ".join(stage) for stage in table["blank_columns"])
        share = table["blank_share"]
        few = "few" if share is None else percent(share)
        yield f"Records of rare combinations have blank values, '*': {few}, in one of {listed}."
    yield _suppressed(table)
    yield _lost(table)
    if table["recovered"] is not None:
        known = "as both ends of a range are values of its people, and by the query"
        yield f"A reader can recover about {percent(table['recovered'])} of the loss, {known} (downcoding)."
    if table["target"] is not None:
        yield _target(table["target"])
    for each in table["cross_tables"]:
        yield cross_table_words(each)
    yield from _column_sentences(table)


def _column_sentences(table: Page) -> Iterator[str]:
    """Name the columns that the release lacks, and what it has in place of people's identifier."""
    if table["columns_blank"]:
        yield f"Left out, as each record would show '*': {', '.join(table['columns_blank'])}."
    if table["columns_left_out"]:
        yield OMITTED.format(", ".join(table["columns_left_out"]))
    for name in table["columns_numbered"]:
        yield NUMBERED.format(name, name)


def steps(page: Page) -> list[str]:
    """Describe the release table by table, for the report on it."""
    return [
        f"{table['name']}: {'; '.join(_forms(table))}. {' '.join(sentences(table))}"
        for table in page["tables"]
    ]


def _limits(table: Page) -> str:
    """Name the limits of columns that every transformation had to keep to."""
    limited = [f"{each['column']} {each['limit']}" for each in table["columns"] if each["limit"]]
    return (
        f" The policy also limits columns: {'; '.join(limited)}. Relax one of these."
        if limited
        else ""
    )


def _forms(table: Page) -> list[str]:
    local = table["method"] == "local"
    unchanged = [f"{each['column']} as it is" for each in table["columns"]]
    changed = [
        each["form"]
        for each in table["columns"]
        if each["level"] or (local and each["form"] is not None and each["form"] not in unchanged)
    ]
    return changed or ["every column as it is"]


def _suppressed(table: Page) -> str:
    cut, share = table["suppressed_below"], table["suppressed_share"]
    if share == 0 or (cut is None and not table["suppressed_for"]):
        return "No record is left out."
    few = (
        "few records (their number is not shown)"
        if share is None
        else f"{percent(share)} of the records"
    )
    if table["entity"] is not None:
        return f"Left out: {few}, all those of people with a combination that fewer than {cut} people have."
    small = [] if cut is None else [f"that fewer than {cut} records have"]
    return f"Left out: {few}, of combinations {', or '.join([*small, *table['suppressed_for']])}."


def _lost(table: Page) -> str:
    minimized = table["losses"][table["loss"]]
    lost = STATUS_WITHHELD if minimized is None else percent(minimized)
    weighted = (
        ", weighted by column" if any(each["weight"] != 1 for each in table["columns"]) else ""
    )
    words = f"Loss ({LOSS_LABELS[table['loss']]}{weighted}): {lost}"
    if table["method"] == "local":
        return f"{words} by local recoding. {_global_loss(table)}"
    if table["optimal"]:
        before = " before values are blank" if table["blank_columns"] else ""
        return f"{words}, the least of all transformations that meet the policy{before}."
    if table["search_ended"] != TIME_LIMIT:
        return f"{words}. {UNPROVED[table['search_ended']].format(**table)}"
    forms = f"{table['forms_counted']:,} of {table['forms']:,} transformations"
    least = table["least_possible_loss"]  # None if the loss is withheld
    possible = f": a loss of {percent(least)} may be possible" if least else ""
    cut = f"The search was cut off at the time limit, after {forms}{possible}"
    return f"{words}. {cut}; raise prepare.time_limit to search all."


def _global_loss(table: Page) -> str:
    """Compare with global recoding."""
    if table["local_loss"] is None:
        return "The loss by global recoding is withheld, too."
    if table["global_loss"] is None:
        return "No transformation by global recoding was found that meets the policy."
    return (
        f"The best transformation found by global recoding loses {percent(table['global_loss'])}."
    )


def _target(target: Page) -> str:
    """Describe how well the target is predicted before and after."""
    share_kept = target["information_kept"]
    if share_kept is None:
        return (
            f"{target['column']}: the other columns did not predict it before, so nothing is lost."
        )
    before, after = target["original"], target["released"]
    errors = f"wrong in {percent(before['error'])} of the records before, {percent(after['error'])} after"
    by = f"by {', '.join(before['by'])} before, by {', '.join(after['by']) or 'nothing'} after"
    guess = f"{percent(target['expected_error'])} by its most frequent value"
    return f"Target {target['column']}: {percent(share_kept)} of the information about it is kept; the best table is {errors} ({by}; {guess})."


def release_page(page: Page, width: int) -> RenderableType:
    """Show each table's transformation, then the gate's verdict on the release."""
    parts: list[RenderableType] = [part for table in page["tables"] for part in _table_parts(table)]
    report = page["report"]
    if report:
        parts.append(verdict_page(report, width))
    elif any(table["entity"] is None for table in page["tables"]):
        parts.append(Text(ONE_ROW_ONE_PERSON, style="dim"))
    return Group(*parts)


def _table_parts(table: Page) -> list[RenderableType]:
    title = Text(
        f"{table['name']}: {table['forms_counted']:,} of {table['forms']:,} transformations evaluated",
        style="bold",
    )
    lines = [Text(each) for each in sentences(table)]
    cautions = "\n".join(table["cautions"]).splitlines()
    lines += [Text(each, style="yellow") for each in cautions]
    if table["losses"] is None:
        return [title, *lines, ""]
    shown = FigureTable(header_style="bold")
    for name in ("column", "in the release"):
        shown.add_column(name)
    shown.add_column("loss", justify="right")
    for each in table["columns"]:
        words = each["form"].removeprefix(f"{each['column']} ")
        shown.add_row(Text(each["column"]), Text(words), percent(each["loss"] or 0.0))
    return [title, shown, *lines, ""]
