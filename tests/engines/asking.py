"""How every table function is asked about a table, and what somebody who counts record by record answers."""

import math
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import duckdb
import polars as pl
import pytest

from reid_sql.function import Function
from reid_sql.parameters import Choice, Columns, Number, Numbers, Table, Tables
from reid_sql.parameters.outputs import REQUIRED, Parameter
from tests.tables import Row, class_sizes, histogram, key, risk

FUNCTIONS: Final = (
    "equivalence_classes",
    "class_size_histogram",
    "risk_summary",
    "journalist_risk",
    "attribute_risk",
)
# refused where classes are listed
OWN_NAMES: Final = ("class_size", "records", "records_dropped", "nulls")
NULL_REPORT_COLUMNS: Final = (0, "value")  # no record dropped, NULL a value of its own

# What a test may have left, in the order in which it can go: kind, and where its names are.
LEFT: Final = {
    "VIEW": "database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal",
    "TABLE": "database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT internal",
    "SCHEMA": "database_name, schema_name FROM duckdb_schemas() WHERE NOT internal",
}


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
    """The question in SQL, unless asked otherwise with the table as population and single-column subsets."""
    tables = f"{table}, {table}" if function == "journalist_risk" else table
    if function == "attribute_risk":
        options = {"max_size": "1"} | options
    return (
        f"FROM {function}({tables}, "
        f"{columns}{''.join(f', {name} := {value}' for name, value in options.items())})"
    )


def counted(function: str, rows: list[Row], columns: Sequence[str]) -> list[Row]:
    """What a loop over the records answers, NULL a value of its own."""
    if function == "attribute_risk":
        width = len(columns)
        largest = (
            "ok"
            if width == 1
            else f"incomplete: sets of more than 1 of the {width} columns were not searched"
        )
        each = [
            _attribute(name, [row[place] for row in rows]) for place, name in enumerate(columns)
        ]
        return tidy([(*row, largest, *NULL_REPORT_COLUMNS) for row in each])
    sizes = class_sizes(rows, rows, "value")
    if function == "equivalence_classes":
        return tidy(
            [
                (*row, size, size, *NULL_REPORT_COLUMNS)
                for row, size in dict(zip(rows, sizes, strict=True)).items()
            ]
        )
    if function == "class_size_histogram":
        return tidy([(*line, None, *NULL_REPORT_COLUMNS) for line in histogram(rows, sizes)])
    covered = (0, "ok") if function == "journalist_risk" else ()
    return tidy([(*risk(rows, sizes, 0.2).values(), *covered, None, *NULL_REPORT_COLUMNS)])


def _attribute(name: str, values: list[Any]) -> Row:
    differs = [left != right for left, right in combinations(values, 2)]
    classes, records = len(set(values)), len(values)
    unique = sum(values.count(value) == 1 for value in values)
    return [name], classes / records, sum(differs) / len(differs), records, classes, unique


def tidy(rows: list[Row]) -> list[Row]:
    """The rows in one order, floats to 12 digits."""
    rounded = [
        tuple(round(cell, 12) if isinstance(cell, float) else cell for cell in row) for row in rows
    ]
    return sorted(rounded, key=repr)


def answer(con: duckdb.DuckDBPyConnection, sql: str, parameters: object = None) -> list[Row]:
    return tidy(con.execute(sql, parameters).fetchall())


def create(con: duckdb.DuckDBPyConnection, what: str, rows: list[Row], columns: list[str]) -> None:
    """Create what is said, such as "TABLE people", with the rows."""
    names = ", ".join(f"#{place} AS {quoted(name)}" for place, name in enumerate(columns, 1))
    con.execute(
        f"CREATE {what} AS SELECT {names} FROM (VALUES {', '.join(f'({spelled(row)})' for row in rows)})"
    )


def empty(con: duckdb.DuckDBPyConnection) -> None:
    """Drop and detach whatever a test has left in the connection that its module shares."""
    con.execute("USE memory.main")
    for kind, names in LEFT.items():
        for parts in con.execute(f"SELECT {names}").fetchall():
            con.execute(f"DROP {kind} {'.'.join(quoted(part) for part in parts)}")
    for (name,) in con.execute(
        "SELECT database_name FROM duckdb_databases() WHERE NOT internal"
    ).fetchall():
        if name not in {"memory", "reid"} and not name.startswith("reid_sql_functions"):
            con.execute(f"DETACH {quoted(name)}")


def spelled(row: Row) -> str:
    return ", ".join(
        "NULL" if cell is None else literal(cell) if isinstance(cell, str) else str(cell)
        for cell in row
    )


PEOPLE = pl.DataFrame(
    {
        "id": range(40),
        "age": [20 + number % 7 for number in range(40)],
        "sex": [None if number % 11 == 5 else "MF"[number % 2] for number in range(40)],
        "region": [f"r{number * number % 9}" for number in range(40)],
    }
)
PUBLISHED = pl.DataFrame(
    {"region": ["N", "N", "S", "S"], "sex": ["F", "M", "F", "M"], "records": [None, 12, None, 20]}
)
TOTALS = pl.DataFrame({"region": ["N", "S"], "records": [14, 23]})  # of the same people
ALWAYS = ("key", "remove")
BY_NAME: dict[str, Any] = {  # what a domain alone does not tell
    "sizes": [100.0, 1000.0],
    "correctness": [0.9, 0.5],
    "population": 1e6,
    "populations": [1e6],
    "on": "id",
    "right_qi": ["region"],
    "entity": "id",
    "household": "id",
    "sensitive": "id",
    "key": "id",
    "remove": 5,
    "sampling_fraction": 0.01,
    "values": ["20", "M", None],
    "scenario": '{"population": 1000, "groups": [{"columns": ["age"], "probability": 0.5}]}',
}


def argument(parameter: Parameter) -> Any:
    domain = parameter.domain
    if parameter.name in BY_NAME:
        return BY_NAME[parameter.name]
    if isinstance(domain, Columns):
        return ["age", "sex", "region"]
    if isinstance(domain, Number):
        return domain.low + 1
    return (
        domain.words[0]
        if isinstance(domain, Choice)
        else [2.0]
        if isinstance(domain, Numbers)
        else "region"
    )


def given(function: Function) -> dict[str, Any]:
    """Arguments for all that must be given, the key, and what a small table cannot be asked by default.

    Records are told by the key.
    """
    first = function.all_outputs[0].parameters
    asked = [p for p in first if p.default is REQUIRED or p.name in ALWAYS]
    few = {"samples": 2} if function.name == "validate_risk" else {}  # each fits every method anew
    return {p.name: argument(p) for p in asked if not isinstance(p.domain, Table | Tables)} | few


def same(left: Sequence[dict[str, Any]], right: Sequence[dict[str, Any]]) -> None:
    """Hold the rows the same in any order: counts equal, numbers to 9 digits, values as databases compare."""
    assert len(left) == len(right)
    assert [list(row) for row in left[:1]] == [list(row) for row in right[:1]]
    for one, other in zip(sorted(left, key=_order), sorted(right, key=_order), strict=True):
        for name, value in one.items():
            assert _cell(value) == (
                pytest.approx(other[name], rel=1e-9) if _number(other[name]) else _cell(other[name])
            ), name


def _order(row: dict[str, Any]) -> str:
    """A text to sort by, in which -0.0 is 0.0."""
    return repr(
        [f"{value + 0.0:.6g}" if _number(value) else _cell(value) for value in row.values()]
    )


def _number(value: Any) -> bool:
    return isinstance(value, float) and not math.isnan(value)


def _cell(value: Any) -> Any:
    return value + 0.0 if _number(value) else key(value)


def refusal(error: BaseException) -> str:
    """The sentence, without what an engine puts around it."""
    words = str(error).split("\n\nLINE", maxsplit=1)[0].split(" SQLSTATE", maxsplit=1)[0]
    return re.sub(r"^(?:\[[A-Z_]+\] |(?:[A-Z][A-Za-z]+ )+Error: )", "", words).strip()
