"""The page of attacks on a synthetic table."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType

from reid_sql.models.numerics.quantiles import percent
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, FigureTable, Text

FIGURES: Final = ("original", "holdout", "baseline", "excess", "low", "high")
AREA: Final = "auc"


def audit_page(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show a line for each figure, then what the strongest attack comes to, and what could not be judged."""
    table = FigureTable(header_style="bold")
    table.add_column("attack")
    table.add_column("figure", style="dim")
    for name in FIGURES:
        table.add_column(name, justify="right")
    for row in rows:
        attack = row["attack"].replace("_", " ")
        name = attack if row["column_name"] is None else f"{attack}: {row['column_name']}"
        figure = row["figure"].replace("_", " ")
        table.add_row(Text(name), Text(figure), *(Text(_shown(row, each)) for each in FIGURES))
    statuses = {row["status"]: None for row in rows if row["status"] != "ok"}
    return Group(
        table,
        "",
        Text(in_words(rows), style="bold"),
        *(Text(f"{_attacks(rows, status)}: {status}.", style="yellow") for status in statuses),
        Text(ONE_ROW_ONE_PERSON, style="dim"),
    )


def in_words(rows: Sequence[dict[str, Any]]) -> str:
    """What the strongest attack on membership comes to, in one sentence.

    >>> row = {"attack": "strongest_membership", "figure": "nearest_record: auc", "excess": 0.1, "high": 0.3}
    >>> in_words([row | {"low": 0.05}])
    'The synthetic table tells who was used: nearest record: auc is 10.0 % above chance, at least 5.0 %.'
    >>> in_words([row | {"low": -0.01}])
    'No attack tells who was used better than chance; that does not prove that the table is safe.'
    """
    row = next(row for row in rows if row["attack"] == "strongest_membership")
    if row["excess"] is None:
        return "Whether attacks tell who was used is not known."
    if row["low"] <= 0:
        return "No attack tells who was used better than chance; that does not prove that the table is safe."
    figure = row["figure"].replace("_", " ")
    above = f"{percent(row['excess'])} above chance, at least {percent(row['low'])}"
    return f"The synthetic table tells who was used: {figure} is {above}."


def _attacks(rows: Sequence[dict[str, Any]], status: str) -> str:
    """The attacks of a status, each once; all of them in one word."""
    some = dict.fromkeys(row["attack"].replace("_", " ") for row in rows if row["status"] == status)
    return "all attacks" if all(row["status"] == status for row in rows) else ", ".join(some)


def _shown(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if value is None:
        return ""
    return f"{value:.3f}" if row["figure"].endswith(AREA) else percent(value)
