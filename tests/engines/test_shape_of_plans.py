"""Without a clock: what a query scans, groups by, joins and materializes does not change with its rows."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.function import Function
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.duckdb.test_work_of_a_query import (
    SIZES,
    asked,
    create_people,
    one_of_each_reduction,
)
from tests.matrices.engines import Sql

FREE: Final = {"PROJECTION", "FILTER", "COLUMN_DATA_SCAN", "EMPTY_RESULT", "DUMMY_SCAN", "CTE_SCAN"}
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "entity": {"entity": "id"},
    "tolerance": {"tolerance": {"age": 1}},
}
OPERATORS: Final = {  # of what people ask first; the number of keys of each grouping
    "class_size_histogram": "scans 1, groups by 1 3, joins 0, windows 1, materialized 0",
    "equivalence_class_people": "scans 2, groups by 2, joins 1, windows 0, materialized 0",
    # DuckDB's own plan
    "equivalence_class_size": "scans 2, groups by 3, joins 1, windows 0, materialized 0",
    "equivalence_classes": "scans 1, groups by 3, joins 0, windows 1, materialized 0",
    "individual_risk": "scans 1, groups by 1 3, joins 0, windows 2, materialized 5",
    "join_risk": "scans 2, groups by 1 1 1 1 1 1 1 1 1 1 1 1 2 2 3 3 4 4 5 5 5, joins 8, windows 8, materialized 8",
    "journalist_risk": "scans 2, groups by 1 3 3, joins 1, windows 7, materialized 1",
    "l_diversity": "scans 1, groups by 1 2 3 4, joins 0, windows 2, materialized 3",
    "population_risk": "scans 1, groups by 1 1 1 1 2 2 2 2 2 2 3, joins 0, windows 3, materialized 6",
    "quasi_identifiers": "scans 1, groups by 1 1 2, joins 1, windows 3, materialized 6",
    "risk_summary": "scans 1, groups by 1 3, joins 0, windows 1, materialized 0",
    "risk_summary with entity": "scans 1, groups by 1 1 1 1 2 2 2 3 3 4, joins 4, windows 1, materialized 5",
    "risk_summary with tolerance": "scans 1, groups by 1 1 1 1 1 3 3 4, joins 3, windows 5, materialized 5",
    "t_closeness": "scans 1, groups by 1 1 2 2 3 3 3 4, joins 6, windows 2, materialized 11",
}
POLARS: Final = {  # the same of the plans that Polars itself executes
    "class_size_histogram": "scans 1, groups by 1 2, windows 0, joins 0",
    "equivalence_class_size": "scans 1, groups by , windows 1, joins 0",
    "equivalence_classes": "scans 1, groups by 2, windows 0, joins 0",
    "risk_summary": "scans 1, groups by 1 2, windows 0, joins 0",
}


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        reid_sql.register(connection)
        create_people(connection)
        yield connection


def operators(node: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Each operator of a plan that costs more than a pass over its input, and the number of its keys."""
    groups = node["extra_info"].get("Groups", [])
    if node["name"] not in FREE:
        yield node["name"], 1 if isinstance(groups, str) else len(groups)
    for child in node["children"]:
        yield from operators(child)


def plan(
    con: duckdb.DuckDBPyConnection, function: Function, size: int, option: str = ""
) -> list[tuple[str, int]]:
    given = {**asked(function), **OPTIONS.get(option, {})}
    for table in (name for name, value in given.items() if isinstance(value, pl.DataFrame)):
        con.execute(f'CREATE OR REPLACE TEMP VIEW "{table}" AS FROM people_{size}')
    sql = Sql().sql(function, given).replace('"row"', "id")
    return list(
        operators(json.loads(con.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()[0][1])[0])
    )


def describe(plan: list[tuple[str, int]]) -> str:
    names = Counter(name for name, _ in plan)
    keys = " ".join(map(str, sorted(number for name, number in plan if name.endswith("GROUP_BY"))))
    windows = names["WINDOW"] + names["STREAMING_WINDOW"]
    return (
        f"scans {names['SEQ_SCAN']}, groups by {keys}, joins {names['HASH_JOIN']}, windows {windows}, "
        f"materialized {names['CTE']}"
    )


@pytest.mark.newest
@each_cell("name", [*one_of_each_reduction()])
def test_a_query_scans_each_table_once_however_many_rows_it_has(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    function = one_of_each_reduction()[name]
    few, many = (plan(con, function, size) for size in SIZES)
    assert many == few
    tables = sum(isinstance(value, pl.DataFrame) for value in asked(function).values())
    # the classes are joined to the rows, in place of a window
    joined = name == "equivalence_class_people"
    assert Counter(name for name, _ in few)["SEQ_SCAN"] == tables + joined


@pytest.mark.newest
@each_cell("name", [*OPERATORS])
def test_the_first_functions_have_the_stored_operators_in_duckdb(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    function, _, option = name.partition(" with ")
    few, many = (plan(con, declared()[function], size, option) for size in SIZES)
    assert describe(few) == OPERATORS[name]
    assert many == few


@pytest.mark.newest
@pytest.mark.parametrize("name", [*POLARS])
def test_the_first_functions_have_the_stored_operators_in_polars(name: str) -> None:
    people = pl.LazyFrame({"age": range(30), "sex": ["m", "f"] * 15})
    if name == "equivalence_class_size":
        asked = people.select(rp.equivalence_class_size("age", "sex"))
    else:
        asked = getattr(rp, name)(people, ["age", "sex"])
    counting = asked.explain().split("\n  PLAN 1:")[0]  # then: the cautions
    keys = " ".join(
        sorted(str(len(by.split(","))) for by in re.findall(r"\] BY \[(.*)\]", counting))
    )
    windows, joins = counting.count(".over("), counting.count("JOIN")
    assert (
        f"scans {counting.count('DF [')}, groups by {keys}, windows {windows}, joins {joins}"
        == POLARS[name]
    )
