"""Databases and schemas of the user's that have the names of ours: reid, reid_sql_functions."""

from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb.names import READS_QUOTES
from reid_sql.errors import ReidError
from tests.cells import each_cell

PEOPLE = "SELECT i % 4 AS age, i % 2 AS sex FROM range(20) AS t(i)"
OWN = "SELECT database_name FROM duckdb_functions() WHERE NOT internal AND database_name = '{}'"


@pytest.mark.first(cells=4)
@each_cell("name", ["reid", "REID", "reid_sql_functions"])
@each_cell("way", ["opened", "attached", "in use"])
def test_a_file_of_that_name_is_asked_and_left_as_it_is(
    tmp_path: Path, name: str, way: str
) -> None:
    path = tmp_path / f"{name}.db"
    with duckdb.connect(path if way == "opened" else ":memory:") as con:
        if way != "opened":
            con.execute(f"ATTACH '{path}' AS {name}")
        if way == "in use":
            con.execute(f"USE {name}")
        con.execute(f"CREATE TABLE {name}.main.people AS {PEOPLE}")
        reid_sql.register(con)
        assert con.execute(
            f"SELECT k FROM risk_summary({name}.main.people, ['age', 'sex'])"
        ).fetchall() == [(5,)]
        assert reid_sql.risk_summary(con, f"{name}.main.people", ["age"]).fetchall()[0][1] == 4
        other = "reid_sql_functions" if name.lower() == "reid" else "reid"
        asked = f"SELECT k FROM {other}.risk_summary({name}.main.people, ['age', 'sex'])"
        assert con.cursor().execute(asked).fetchall() == [(5,)]
        assert con.execute(OWN.format(name)).fetchall() == []


@pytest.mark.parametrize("kind", ["files", "schemas", "a file and a schema"])
def test_both_names_are_refused_before_anything_is_written(tmp_path: Path, kind: str) -> None:
    """ATTACH IF NOT EXISTS would take the user's database for ours, and fill it."""
    with duckdb.connect() as con:
        for name in ("reid", "reid_sql_functions"):
            if kind == "schemas" or (kind != "files" and name == "reid"):
                con.execute(f"CREATE SCHEMA {name}")
            else:
                con.execute(f"ATTACH '{tmp_path / name}.db' AS {name}")
        with pytest.raises(
            ReidError, match="must leave one of the names reid and reid_sql_functions"
        ):
            reid_sql.register(con)
        assert con.execute(OWN.format("reid_sql_functions")).fetchall() == []
        con.execute("DROP SCHEMA reid" if kind != "files" else "DETACH reid")
        reid_sql.register(con)
        con.execute(f"CREATE TABLE people AS {PEOPLE}")
        assert con.cursor().execute(
            "SELECT k FROM reid.risk_summary(people, ['age', 'sex'])"
        ).fetchall() == [(5,)]


ASKED = [
    "SELECT k FROM risk_summary(people, ['age', 'sex'])",
    "SELECT max(k) FROM (SELECT equivalence_class_size(age, sex) AS k FROM people)",
    "SELECT cell_risk(0.5, 2)",
]
# DuckDB before 2.0 has a place for what is called query
OURS = [
    *["query"] * READS_QUOTES,
    "reid_plan",
    "reid_refusal",
    "reid_database",
    "reid_body_pyc_fit",
]
CALLED = ["replace", "current_setting", "getvariable", "lower", "nullif", "error", "alias", "min"]
TABLES = ["query", "query_table", "duckdb_databases", "duckdb_schemas", "duckdb_functions"]


@each_cell("shape", ["(a)", "(a, b)", "()"])
@each_cell("name", OURS)
def test_a_macro_of_a_name_that_has_no_place_is_refused(name: str, shape: str) -> None:
    with duckdb.connect() as con:
        con.execute(f"CREATE MACRO {name}{shape} AS 7")
        with pytest.raises(
            ReidError, match=f"macros must leave query and .* free, got {name}; drop it"
        ):
            reid_sql.register(con)


def test_who_drops_such_a_macro_registers() -> None:
    """Some of ours are made when the first attempt fails."""
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE people AS {PEOPLE}; CREATE MACRO reid_plan(a) AS 7")
        for _ in range(2):
            with pytest.raises(ReidError, match="got reid_plan; drop it"):
                reid_sql.register(con)
        con.execute("DROP MACRO reid_plan")
        reid_sql.register(con)
        assert con.execute(ASKED[0]).fetchall() == [(5,)]


@pytest.mark.first(cells=4)
@each_cell("when", ["before", "after"])
@each_cell(
    "shape", ["(a) AS 7", "(a, b) AS 7", "() AS 7", "(a) AS TABLE SELECT 7", "() AS TABLE SELECT 7"]
)
def test_macros_of_names_that_are_called_change_no_answer(shape: str, when: str) -> None:
    answers = []
    names = {
        *(OURS if when == "after" else []),
        *(["query"] * (not READS_QUOTES)),
        *(TABLES if "TABLE" in shape else CALLED),
    }
    for made in (False, True):
        with duckdb.connect() as con:
            con.execute(f"CREATE TABLE people AS {PEOPLE}")
            if when == "after" or not made:
                reid_sql.register(con)
            for name in names if made else []:
                con.execute(f"CREATE MACRO {name}{shape}")
            if when == "before" and made:
                reid_sql.register(con)
            answers.append([con.execute(asked).fetchall() for asked in ASKED])
    assert answers[0] == answers[1]
