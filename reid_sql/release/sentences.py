"""What preparing found, in sentences: what is left out or blank, what is lost, how a target is predicted."""

from collections.abc import Iterator
from typing import Any, Final

from reid_sql.models.numerics.quantiles import percent
from reid_sql.models.release.loss import WORDS

Page = dict[str, Any]
NONE: Final = (
    "No form of the table was found that meets the policy: allow more suppression, a longer time, other "
    "hierarchies or a milder limit."
)


def sentences(table: Page) -> Iterator[str]:
    """Tell of a table's form, in the order in which it is made; of one without a form, what to change."""
    if table["losses"] is None:
        yield f"{NONE}{' None meets it.' if table['none_meets'] else ''}"
        return
    if table["blank_columns"]:
        yield _blank(table)
    yield _suppressed(table)
    yield _lost(table)
    if table["target"] is not None:
        yield _target(table["target"])


def steps(page: Page) -> list[str]:
    """Tell whoever decides what the release is, table by table: for the report on it."""
    return [
        f"{table['name']}: {'; '.join(_forms(table))}. {' '.join(sentences(table))}"
        for table in page["tables"]
    ]


def _forms(table: Page) -> list[str]:
    changed = [each["form"] for each in table["columns"] if each["level"]]
    return changed or ["every column as it is"]


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


def _target(told: Page) -> str:
    """How well the target is predicted before and after."""
    kept = told["information_kept"]
    if kept is None:
        return f"{told['column']}: nothing told of it before, so nothing is lost."
    before, after = told["original"], told["released"]
    errors = f"wrong in {percent(before['error'])} of the records before, {percent(after['error'])} after"
    by = f"by {', '.join(before['by'])} before, by {', '.join(after['by']) or 'nothing'} after"
    guess = f"{percent(told['expected_error'])} by its most frequent value"
    words = f"Target {told['column']}: {percent(kept)} of what was told of it is kept;"
    return f"{words} the best table is {errors} ({by}; {guess})."
