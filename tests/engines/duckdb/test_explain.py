"""What EXPLAIN shows of a call: the operators of the query that one would write by hand."""

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import reid_sql

CHECK = "must be"


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    reid_sql.register(made)
    made.execute("CREATE TABLE people AS FROM demo_people()")
    return made


def explained(con: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    """The operators of the plan, each before those that it reads from."""
    [(_, text)] = con.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()
    return [operator for root in json.loads(text) for operator in _operators(root)]


def _operators(operator: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield operator | {"name": operator["name"].strip()}  # DuckDB 1.5 writes a space behind some
    for child in operator["children"]:
        yield from _operators(child)


def names(operators: list[dict[str, Any]]) -> list[str]:
    return [operator["name"] for operator in operators]


@pytest.mark.parametrize("columns", ["age", "age, sex", "age, sex, postcode, education"])
def test_a_named_class_size_is_explained_as_the_window_by_hand(
    con: duckdb.DuckDBPyConnection, columns: str
) -> None:
    ours = explained(con, f"SELECT equivalence_class_size({columns}) AS k FROM people")
    by_hand = explained(con, f"SELECT count(*) OVER (PARTITION BY {columns}) AS k FROM people")
    assert names(ours) == names(by_hand)
    assert CHECK not in json.dumps(ours)
    assert ours[0]["extra_info"]["Projections"] == "k"


def test_a_class_size_that_selects_adds_nothing(con: duckdb.DuckDBPyConnection) -> None:
    tail = "AS k FROM people QUALIFY k < 5"
    ours = explained(con, f"SELECT age, equivalence_class_size(age, sex) {tail}")
    by_hand = explained(con, f"SELECT age, count(*) OVER (PARTITION BY age, sex) {tail}")
    reported = [
        operator["name"] for operator in ours if CHECK in json.dumps(operator["extra_info"])
    ]
    assert reported == []  # what is given is checked when the query is bound
    assert names(ours).count("SEQ_SCAN") == names(by_hand).count("SEQ_SCAN") == 2


def test_a_summary_reads_the_table_once_and_tells_its_checks_apart_from_it(
    con: duckdb.DuckDBPyConnection,
) -> None:
    plan = explained(con, "FROM risk_summary(people, ['age', 'sex'])")
    tables = [each["extra_info"]["Table"] for each in plan if each["name"] == "SEQ_SCAN"]
    assert [table.rpartition(".")[2] for table in tables] == ["people"]
    [check] = [each for each in plan if "reid_refusal" in json.dumps(each["extra_info"])]
    assert check["name"] == "FILTER"
    beneath = list(_operators(check))
    assert "COLUMN_DATA_SCAN" in names(beneath)  # the names of the columns, not the people
    assert "SEQ_SCAN" not in names(beneath)
