"""How every table function is asked about a table, and what somebody who counts record by record answers."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import duckdb

from tests.tables import Row, class_sizes, histogram, risk

FUNCTIONS: Final = (
    "equivalence_classes",
    "class_size_histogram",
    "risk_summary",
    "journalist_risk",
    "attribute_risk",
)
OWN_NAMES: Final = ("class_size", "records", "records_dropped", "nulls")  # refused where classes are listed
HOW_NULLS: Final = (0, "value")  # no record dropped, NULL a value of its own


def quoted(name: str) -> str:
    """The name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def listed(names: Sequence[str]) -> str:
    """The names as an SQL list of strings."""
    return "[" + ", ".join(literal(name) for name in names) + "]"


def ask(function: str, table: str, columns: str, **options: str) -> str:
    """The question in SQL; the population is the table itself, and the subsets are single columns, unless asked otherwise."""
    tables = f"{table}, {table}" if function == "journalist_risk" else table
    if function == "attribute_risk":
        options = {"max_size": "1"} | options
    return f"FROM {function}({tables}, {columns}{''.join(f', {name} := {value}' for name, value in options.items())})"


def counted(function: str, rows: list[Row], columns: Sequence[str]) -> list[Row]:
    """What a loop over the records answers, NULL a value of its own."""
    if function == "attribute_risk":
        return tidy([_attribute(name, [row[place] for row in rows]) for place, name in enumerate(columns)])
    sizes = class_sizes(rows, rows, "value")
    if function == "equivalence_classes":
        return tidy(
            [(*row, size, size, *HOW_NULLS) for row, size in dict(zip(rows, sizes, strict=True)).items()]
        )
    if function == "class_size_histogram":
        return tidy([(*line, *HOW_NULLS) for line in histogram(rows, sizes)])
    covered = (0, "ok") if function == "journalist_risk" else ()
    return tidy([(*risk(rows, sizes, 0.2).values(), *covered, *HOW_NULLS)])


def _attribute(name: str, values: list[Any]) -> Row:
    differs = [left != right for left, right in combinations(values, 2)]
    classes, records = len(set(values)), len(values)
    return ([name], classes / records, sum(differs) / len(differs), records, classes, "ok", *HOW_NULLS)


def tidy(rows: list[Row]) -> list[Row]:
    """The rows in one order, floats to 12 digits."""
    rounded = [tuple(round(cell, 12) if isinstance(cell, float) else cell for cell in row) for row in rows]
    return sorted(rounded, key=repr)


def answer(con: duckdb.DuckDBPyConnection, sql: str, parameters: object = None) -> list[Row]:
    return tidy(con.execute(sql, parameters).fetchall())


def create(con: duckdb.DuckDBPyConnection, what: str, rows: list[Row], columns: list[str]) -> None:
    """Create what is said, such as "TABLE people", with the rows."""
    names = ", ".join(f"#{place} AS {quoted(name)}" for place, name in enumerate(columns, 1))
    con.execute(
        f"CREATE {what} AS SELECT {names} FROM (VALUES {', '.join(f'({spelled(row)})' for row in rows)})"
    )


def spelled(row: Row) -> str:
    return ", ".join(
        "NULL" if cell is None else literal(cell) if isinstance(cell, str) else str(cell) for cell in row
    )
