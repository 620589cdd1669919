"""Without a clock: a query's calls of Python do not grow with its rows; a window has the plain one's plan."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.function import Answer, Function
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.matrices.engines import Sql
from tests.matrices.test_functions import question
from tests.outputs import outputs

SIZES: Final = (10_000, 100_000)
MAX_COLUMNS: Final = 64
# asked about published cells, and about saved models
NO_RECORDS: Final = ("audit_tables", "load_model")
LONG: Final = (  # tests/all asks these
    "audit_synthetic",
    "fit_people",
    "population_uniqueness",
    "profile",
    "qar_risk_contributions",
    "unicity",
    "validate_risk",
)
SCENARIO: Final = {
    "scenario": {"population": 10**6, "groups": [{"columns": ["age"], "probability": 0.5}]}
}
ENGINE_CALLS: Final = {
    "connect",
    "cursor",
    "execute",
    "extract_statements",
    "sql",
}  # side connections, parses
WAITS: Final = {
    "duckdb/registering.py:call",
    "duckdb/python.py:body_of",
    "duckdb/python.py:ask",
}  # by the clock


def one_of_each_reduction() -> dict[str, Function]:
    """The first output of each reduction that reads records, by its key."""
    chosen: dict[str, Function] = {}
    for output in outputs().values():
        if output.reduction and output.name not in NO_RECORDS:
            chosen.setdefault(output.reduction.name, output)
    return {output.key: output for output in chosen.values()}


def create_people(con: duckdb.DuckDBPyConnection) -> None:
    """Create tables of the same people, a few and ten times as many."""
    for size in SIZES:
        con.execute(f"""
            CREATE TABLE people_{size} AS SELECT i AS id, 20 + i % 7 AS age, 'r' || (i * i % 9) AS region,
              CASE WHEN i % 11 <> 5 THEN 'MF'[1 + i % 2] END AS sex FROM range({size}) AS r(i)""")


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        reid_sql.register(connection)
        create_people(connection)
        connection.execute(
            f"FROM fit_copula('region', people_{SIZES[0]}, ['age', 'sex', 'region'])"
        ).fetchall()
        columns = ", ".join(f"i % {2 + place % 5} AS c{place}" for place in range(MAX_COLUMNS))
        connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(3000) AS r(i)")
        yield connection


@contextmanager
def counting(calls: Counter[str]) -> Iterator[None]:
    """Count the calls of the engine's Python functions, and what Python asks of DuckDB.

    Those of the query's own thread: a body has a thread of its own, and no engine.
    """

    def count(frame: FrameType, event: str, called: Any) -> None:
        path, _, place = frame.f_code.co_filename.rpartition("/reid_sql/engines/")
        name = f"{place}:{frame.f_code.co_name}"
        if event == "call" and path and name not in WAITS and "jobs.py" not in place:
            calls[name] += 1
        elif event == "c_call" and called.__name__ in ENGINE_CALLS:
            calls[called.__name__] += 1

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def calls_of(
    con: duckdb.DuckDBPyConnection, sql: str, tables: list[str], size: int
) -> Counter[str]:
    for table in tables:
        con.execute(f'CREATE OR REPLACE TEMP VIEW "{table}" AS FROM people_{size}')
    calls: Counter[str] = Counter()
    with counting(calls):
        con.execute(f"CREATE OR REPLACE TEMP TABLE answer AS {sql}")
    return calls


def asked(output: Function) -> Mapping[str, Any]:
    given = question(Sql(), declared()[output.name]) | output.preset
    return {name: SCENARIO.get(name, value) for name, value in given.items()}


@pytest.mark.newest
@each_cell("name", [name for name in one_of_each_reduction() if name not in LONG])
def test_calls_and_parses_do_not_grow_with_the_rows(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    assert_calls_do_not_grow(con, one_of_each_reduction()[name])


def assert_calls_do_not_grow(con: duckdb.DuckDBPyConnection, output: Function) -> None:
    function, given = declared()[output.name], asked(output)
    tables = [name for name, value in given.items() if isinstance(value, pl.DataFrame)]
    sql = Sql().sql(function, given).replace('"row"', "id")
    if function.answer is Answer.WINDOW:  # a name alone would be no test of the parses
        sql = sql.replace('"age"', "age + 1")
    calls_of(con, sql, tables, SIZES[0])  # what is imported, and what is made once
    few, many = (calls_of(con, sql, tables, size) for size in SIZES)
    assert sum(few.values())
    assert many == few


def plan(con: duckdb.DuckDBPyConnection, count: str) -> str:
    return str(con.execute(f"EXPLAIN (FORMAT json) SELECT {count} AS k FROM wide").fetchall()[0][1])


def keys(node: Mapping[str, Any]) -> list[str]:
    """What each operator of a plan groups by."""
    groups = node["extra_info"].get("Groups", [])
    return sum(map(keys, node["children"]), [groups] if isinstance(groups, str) else list(groups))


@each_cell("number", range(1, 17))
def test_a_window_has_the_plan_of_the_plain_window(
    con: duckdb.DuckDBPyConnection, number: int
) -> None:
    columns = ", ".join(f"c{place}" for place in range(number))
    plain = f"count(*) OVER (PARTITION BY {columns})"
    assert plan(con, f"equivalence_class_size({columns})") == plan(con, plain)
    people = plan(con, f"equivalence_class_people(c{number}, {columns})")
    assert len(keys(json.loads(people)[0])) == number


@each_cell("number", [17, 24, 25, 33, 48, 49, 64])
def test_a_window_of_many_columns_has_a_quarter_more_keys_at_most(
    con: duckdb.DuckDBPyConnection, number: int
) -> None:
    columns = ", ".join(f"c{place}" for place in range(number))
    counted = keys(json.loads(plan(con, f"equivalence_class_size({columns})"))[0])
    assert number <= len(counted) <= number * 1.5
