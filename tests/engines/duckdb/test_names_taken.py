"""Databases and schemas of the user's that have the names of ours: reid, reid_sql_functions."""

from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.errors import ReidError

PEOPLE = "SELECT i % 4 AS age, i % 2 AS sex FROM range(20) AS t(i)"
OWN = "SELECT database_name FROM duckdb_functions() WHERE NOT internal AND database_name = '{}'"


@pytest.mark.parametrize("name", ["reid", "REID", "reid_sql_functions"])
@pytest.mark.parametrize("way", ["opened", "attached", "in use"])
def test_a_file_of_that_name_is_asked_and_left_as_it_is(tmp_path: Path, name: str, way: str) -> None:
    path = tmp_path / f"{name}.db"
    with duckdb.connect(path if way == "opened" else ":memory:") as con:
        if way != "opened":
            con.execute(f"ATTACH '{path}' AS {name}")
        if way == "in use":
            con.execute(f"USE {name}")
        con.execute(f"CREATE TABLE {name}.main.people AS {PEOPLE}")
        reid_sql.register(con)
        assert con.execute(f"SELECT k FROM risk_summary({name}.main.people, ['age', 'sex'])").fetchall() == [
            (5,)
        ]
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
        with pytest.raises(ReidError, match="must leave one of the names reid and reid_sql_functions"):
            reid_sql.register(con)
        assert con.execute(OWN.format("reid_sql_functions")).fetchall() == []
        con.execute("DROP SCHEMA reid" if kind != "files" else "DETACH reid")
        reid_sql.register(con)
        con.execute(f"CREATE TABLE people AS {PEOPLE}")
        assert con.cursor().execute("SELECT k FROM reid.risk_summary(people, ['age', 'sex'])").fetchall() == [
            (5,)
        ]
