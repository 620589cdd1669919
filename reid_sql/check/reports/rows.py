"""The documents as rows, for CSV: the fields of the JSON, a row for each group of a check or each change."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reid_sql.check.reports.report import report_schema

Page = Mapping[str, Any]
WHOLE: Final = "check_verdict"  # beside the verdict of the group


def check_columns() -> list[str]:
    """Name the fields of a check, then those of a group of it, as the report's schema has them."""
    check = dict(report_schema()["$defs"]["check"]["properties"])
    group = check.pop("groups")["items"]["properties"]
    return [*_of_check(check), *group]


def check_rows(page: Page) -> list[Page]:
    """Give a row for each group of each check, in the order of the report."""
    return [{**_of_check(check), **group} for check in page["checks"] for group in check["groups"]]


def advice_columns() -> list[str]:
    """Name the fields of advice: those of a check and of its figure, between them the change."""
    columns = check_columns()
    place = columns.index("group")
    return [*columns[:place], "change", "drop", "coarsen", "meets", *columns[place:]]


def advice_rows(page: Page) -> list[Page]:
    """Give for each failing check a row without a change, then one for each change, the strongest first.

    `meets` is how many of its table's failing checks the change meets.
    """
    return [row for check in page["failing"] for row in _changes(check, _met(page, check["table"]))]


def _changes(check: Page, met: Mapping[str, int]) -> Iterator[Page]:
    told = _of_check(check)
    told.pop("changes")
    none: Page = {"change": None, "drop": [], "coarsen": None, "meets": None}
    yield {**told, **none, **check["groups"][0]}
    for change in check["changes"]:
        name = change["change"]
        beside = {part: change[part] for part in ("change", "drop", "coarsen")}
        yield {**told, WHOLE: change["verdict"], **beside, "meets": met.get(name, 0), **change["figure"]}


def _met(page: Page, table: str) -> dict[str, int]:
    """How many failing checks of the table each change meets; the page leaves out those that meet none."""
    return {
        change["change"]: change["meets"]
        for each in page["tables"]
        if each["name"] == table
        for change in each["changes"]
    }


def _of_check(check: Page) -> dict[str, Any]:
    """The fields of the check itself."""
    fields = {WHOLE if name == "verdict" else name: value for name, value in check.items()}
    fields.pop("groups", None)
    return fields
