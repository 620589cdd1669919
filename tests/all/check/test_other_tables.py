"""Other tables of a database file are named by the report on one of them."""

import sqlite3
from pathlib import Path

import duckdb
import pytest

from reid_sql.check import gate

PEOPLE = [(age, sex) for age in (30, 40) for sex in "FM" for _ in range(10)]


def write(path: Path, *more: str) -> None:
    statements = ["CREATE TABLE people (age INTEGER, sex TEXT)", *more]
    insert = "INSERT INTO people VALUES (?, ?)"
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as con:
            for each in statements:
                con.execute(each)
            con.executemany(insert, PEOPLE)
        return
    with sqlite3.connect(path) as other:
        for each in statements:
            other.execute(each)
        other.executemany(insert, PEOPLE)


def sentences(path: Path) -> str:
    (path.parent / "policy.toml").write_text(
        f'[[tables]]\nfile = "{path.name}"\ntable = "people"\nquasi_identifiers = ["age", "sex"]\n'
        '[[tables.checks]]\nmeasure = "k"\nat_least = 5\n',
        encoding="utf-8",
    )
    [table] = gate.check(path.parent / "policy.toml")["tables"]
    return " ".join(table["released_columns"]["sentences"])


@pytest.mark.parametrize("ending", ["duckdb", "sqlite"])
def test_a_report_names_the_other_tables_of_its_file(tmp_path: Path, ending: str) -> None:
    alone, both = tmp_path / f"alone.{ending}", tmp_path / f"both.{ending}"
    write(alone)
    write(both, "CREATE TABLE raw_names (id INTEGER)")
    assert "other tables" not in sentences(alone)
    assert "other tables, whose columns are not among these: raw_names." in sentences(both)


def test_views_and_other_schemas_are_tables_of_the_file(tmp_path: Path) -> None:
    more = [
        "CREATE SCHEMA old",
        "CREATE TABLE old.people (id INTEGER)",
        "CREATE VIEW seen AS SELECT 1",
    ]
    write(tmp_path / "all.duckdb", *more)
    assert "not among these: seen, old.people." in sentences(tmp_path / "all.duckdb")
