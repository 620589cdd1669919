"""How a check takes its figure from a function's answer: the row, or what is counted of the rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reid_sql.models.classes.disclosure import NO_RECORDS, OK
from reid_sql.models.classes.identifying_sets import STATUS_NO_SET
from reid_sql.models.synthetic.audit import is_doubtful
from reid_sql.models.tables.audit import PROTECTED, RULE, STATUS_NOT_TIGHT

Row = Mapping[str, Any]
Pick = Callable[[Sequence[Row], Mapping[str, Any]], Row]
Cells = Callable[[Sequence[Row]], list[list[int]]]  # the people of each cell, in each division of them


def only_row(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
    """Take the only row."""
    return rows[0]


def row_of(column: str, parameter: str) -> Pick:
    """Take the row whose column has the word that the check gives."""

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:
        return next(row for row in rows if row[column] == parameters[parameter])

    return pick


def highest(column: str) -> Pick:
    """Take the row with the highest value; one without a value comes first, as it could be any."""

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
        return max(rows, key=lambda row: float("inf") if row[column] is None else row[column])

    return pick


def count_sets(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
    """Count the sets of columns that are listed; without an answer where not all were searched.

    Then the first of those that were found is named, which is one that an attacker may know.
    """
    status, first = rows[0]["status"], ", ".join(rows[0]["columns"])
    is_complete = status == OK or status.partition(":")[0] == STATUS_NO_SET.partition(":")[0]
    number = sum(bool(row["columns"]) for row in rows)
    return (
        {"sets": number, "status": OK}
        if is_complete
        else {"sets": None, "status": f"{status}, such as {first}"}
    )


def sum_of(column: str) -> Pick:
    """Add the values of the column over all rows; without a row the sum is 0."""

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
        return {column: sum(row[column] for row in rows)}

    return pick


def figure_of(name: str) -> Pick:
    """Take the figure of this name; none where little could be compared, as it would be too low."""

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
        row = next(row for row in rows if row["figure"] == name)
        is_known = row["status"] == OK
        return {"value": int(row["value"]) if is_known else None, "status": row["status"]}

    return pick


def count_rules(*rules: str) -> Pick:
    """Count the cells that break one of these rules; without an answer for a table without a record."""

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
        broken = sum(any(rule in row["unsafe"] for rule in rules) for row in rows)
        return {"cells": broken, "status": OK} if rows else {"cells": None, "status": NO_RECORDS}

    return pick


def count_cells(column: str, *words: str) -> Pick:
    """Count the audited cells with one of these words; without an answer where a bound is not proved.

    What the publisher's rule alone tells of a cell is no finding.
    """

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
        unproved = [STATUS_NOT_TIGHT for row in rows if row["status"] == STATUS_NOT_TIGHT]
        found = sum(row[column] in words and row["revealed_by"] != RULE for row in rows)
        return {"cells": None, "status": unproved[0]} if unproved else {"cells": found, "status": OK}

    return pick


def people_of_cells(rows: Sequence[Row]) -> list[list[int]]:
    """List the people of the cells of safe_table, apart for each set of totals."""
    found: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        found.setdefault(tuple(row["total_over"]), []).append(row["people"])
    return list(found.values())


def people_of_revealed(rows: Sequence[Row]) -> list[list[int]]:
    """List the least people of the audited cells that are revealed or published, at least one each."""
    revealed = (row for row in rows if row["finding"] != PROTECTED and row["revealed_by"] != RULE)
    return [[max(1, row["low"]) for row in revealed]]


def strongest(*attacks: str) -> Pick:
    """Take the attack of these that gives away most; none where one is unjudged or doubtful."""

    def pick(rows: Sequence[Row], parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - as every pick
        figures = [row for row in rows if row["attack"] in attacks]
        worst = max(figures, key=lambda row: float("inf") if row["high"] is None else row["high"])
        ends = {"excess_low": worst["low"], "excess_high": worst["high"]}
        if doubtful := [row["status"] for row in rows if is_doubtful(row["status"])]:
            return {**dict.fromkeys(("excess", *ends)), "status": doubtful[0]}
        return {**worst, **ends}

    return pick
