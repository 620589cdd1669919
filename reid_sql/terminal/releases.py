"""The page of two releases: every figure with its definition, then what an attacker can do with both."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType

from reid_sql.models.comparison.repeated_releases import STATUS_NO_KEY, STATUS_NO_SENSITIVE
from reid_sql.models.numerics.quantiles import percent
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, FigureTable, Text


def releases_page(rows: Sequence[Mapping[str, Any]], *, counts_people: bool) -> RenderableType:
    """Show the known figures, then how many people can be followed, then why the others are not known."""
    table = FigureTable(header_style="bold")
    table.add_column("figure")
    for name in ("value", "of", "share"):
        table.add_column(name, justify="right")
    table.add_column("definition", style="dim")
    for row in rows:
        if row["value"] is not None:
            table.add_row(*map(Text, _cells(row)))
    statuses = {row["status"]: None for row in rows if row["status"] != "ok"}
    return Group(
        table,
        "",
        Text(describe_followed(rows), style="bold"),
        *(Text(f"{_figures(rows, status)}: {status}.", style="yellow") for status in statuses),
        *([] if counts_people else [Text(ONE_ROW_ONE_PERSON, style="dim")]),
    )


def _cells(row: Mapping[str, Any]) -> list[str]:
    value = f"{row['value']:,.1f}".removesuffix(".0")
    total = "" if row["total"] is None else f"{row['total']:,}"
    share = "" if row["share"] is None else percent(row["share"])
    return [row["figure"].replace("_", " "), value, total, share, row["definition"]]


def _figures(rows: Sequence[Mapping[str, Any]], status: str) -> str:
    """The figures of a status: their number, where a parameter that all of them need is missing."""
    some = [row["figure"].replace("_", " ") for row in rows if row["status"] == status]
    return f"{len(some)} figures" if status in {STATUS_NO_KEY, STATUS_NO_SENSITIVE} else ", ".join(some)


def describe_followed(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many people can be followed, in one sentence.

    >>> followed = {"figure": "followed", "value": 20.0, "total": 80}
    >>> rows = [followed, {"figure": "followed_right", "value": 19.0}]
    >>> describe_followed(rows)
    '20 of 80 people can be followed from one release to the other; 19 of these links are right.'
    >>> describe_followed([row | {"value": None} for row in rows])
    'It is not known how many people can be followed from one release to the other.'
    """
    figures = {row["figure"]: row for row in rows}
    followed, right = figures["followed"], figures["followed_right"]["value"]
    if followed["value"] is None:
        return "It is not known how many people can be followed from one release to the other."
    links = "" if right is None else f"; {right:,.0f} of these links are right"
    people = f"{followed['value']:,.0f} of {followed['total']:,} people"
    return f"{people} can be followed from one release to the other{links}."
